"""opproof bench on real processes: what passes is timed, a lying clock and a wrong answer are not, C in C."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from _c_build import compiled, example, needs_cc
from _runs import opproof

from opproof.reports.bench import compare, page, record

CASE = "relu[x=300x300;f32]"
QUICK = ("--budget", 0.05, "--caches", "warm", "--mode", "forward")

HONEST = """
import numpy as np
def forward(op, inputs, params):
    return np.maximum(inputs[0], np.float32(0))
"""

LYING = """
import itertools, time
import opproof.backends.worker.timing as blocks
import numpy as np
real, ticks = time.perf_counter_ns, itertools.count()
blocks._now = lambda: real() // 20
def forward(op, inputs, params):
    for _ in range(20):
        y = np.maximum(inputs[0], np.float32(0))
    return y
"""

WRONG = HONEST.replace("np.float32(0))", "np.float32(0)) * np.float32(1.01)")
DYING = HONEST + "import os, sys\nif 'opproof.backends.worker.timing' in sys.modules:\n    os._exit(3)\n"


def backend(folder, name, source):
    path = folder / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def times(tmp_path_factory):
    """By backend, what a bench of four says; and its output."""
    folder = tmp_path_factory.mktemp("bench")
    sources = {"honest": HONEST, "lying": LYING, "wrong": WRONG, "dying": DYING}
    specs = [backend(folder, name, source) for name, source in sources.items()]
    call = [sys.executable, "-m", "opproof.harness", "bench", "--case", CASE, "--out", folder / "out", *QUICK]
    call += [a for s in specs for a in ("-b", s)]
    done = subprocess.run([str(c) for c in call], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = record.read(folder / "out")
    return folder, {Path(t.backend).stem: t for t in found.times}, done.stdout


def test_only_what_passes_is_timed(times):
    _, found, shown = times
    honest = found["honest"]
    assert honest.interval.low <= honest.interval.median <= honest.interval.high
    assert 1e-6 < honest.interval.median < 1
    assert (honest.bytes, honest.flops, honest.in_c) == (2 * 4 * 300 * 300, 2 * 300 * 300, False)  # a maximum, and + 0
    assert found["wrong"].interval is None
    assert found["wrong"].why.startswith("WRONG_VALUE")
    assert "not measured: " in shown
    assert "of roofline" in shown


def test_a_backend_that_changes_the_clock_is_found(times):
    assert "the clock in its process says" in times[1]["lying"].why


def test_one_that_dies_takes_nobody_with_it(times):
    assert times[1]["dying"].why == "its process died"
    assert times[1]["honest"].interval is not None


def test_page_and_comparison(times, tmp_path, capsys):
    folder, found, _ = times
    html = (folder / "out" / "bench.html").read_text("utf-8")
    assert "Roofline, caches warm" in html
    assert CASE in html
    assert "<script" not in html
    assert opproof(capsys, "compare", folder / "out", folder / "out")[0] == 0
    before = record.read(folder / "out")
    slow = record.Interval(*(2 * v for v in msgspec.structs.astuple(found["honest"].interval)[:3]), blocks=6)
    wide = msgspec.structs.replace(
        before,
        times=tuple(msgspec.structs.replace(t, interval=slow) if t.interval else t for t in before.times),
    )
    (tmp_path / "bench.json").write_bytes(msgspec.json.encode(wide))
    assert "other conditions" not in opproof(capsys, "compare", folder / "out", folder / "out")[1]
    status, out, _ = opproof(capsys, "compare", folder / "out" / "bench.json", tmp_path)
    apart = any(compare.is_slower(t, w) for t, w in zip(before.times, wide.times, strict=True) if t.interval)
    assert (status, "slower × 2 " in out) == (int(apart), apart)
    elsewhere = msgspec.structs.replace(wide, host={**before.host, "processor": "PDP-11"})
    (tmp_path / "bench.json").write_bytes(msgspec.json.encode(elsewhere))
    said = opproof(capsys, "compare", folder / "out", tmp_path)[1].splitlines()[0]
    assert said == f"The two were made under other conditions: processor {before.host['processor']} → PDP-11."
    (tmp_path / "bench.json").write_text("{", encoding="utf-8")
    status, _, err = opproof(capsys, "compare", folder / "out", tmp_path)
    assert (status, "is no bench" in err) == (2, True)
    assert page.render(before).count("<circle") >= 2


@needs_cc
def test_a_library_is_timed_in_c(tmp_path, capsys):
    made = example(tmp_path)
    for caches in ("warm", "cold"):
        args = ("-b", made, "--case", CASE, "--out", tmp_path / caches, "--budget", 0.05, "--caches", caches)
        status, out, err = opproof(capsys, "bench", *args, "--mode", "forward")
        assert status == 0, (out, err)
        (time,) = record.read(tmp_path / caches).times
        assert (time.in_c, time.caches) == (True, caches)
        assert time.interval is not None
    assert "(in C)" in out


@needs_cc
def test_a_library_on_a_device_is_not_timed(tmp_path, capsys):
    source = Path(__file__).parents[2].joinpath("device_library.c").read_text(encoding="utf-8")
    made = compiled(tmp_path, f'#define DEFECT ""\n#define NUMBERS 0\n{source}', "libdevice.so")
    status, out, _ = opproof(capsys, "bench", "-b", made, "--case", CASE, "--out", tmp_path / "out", *QUICK)
    assert status == 3
    assert "Unsupported: its tensors are to lie in the memory of a device: such a library is not timed" in out


def test_wrong_calls_are_one_sentence(tmp_path, capsys):
    status, _, err = opproof(capsys, "bench", "-b", "exec:cat", "--case", CASE)
    assert (status, "exec:cat cannot be timed" in err) == (2, True)
    (tmp_path / "bench.json").write_text("{}")
    status, _, err = opproof(capsys, "compare", tmp_path / "bench.json", tmp_path / "bench.json")
    assert (status, err.count("\n")) == (2, 1)
