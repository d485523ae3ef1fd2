"""Backends that answer when they are judged and not when they are timed: each is found, and an honest one never is."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from _c_build import compiled, needs_cc
from _runs import opproof

from opproof.reports.bench import record

CASE = "relu[x=300x300;f32]"
SOFTMAX = "softmax[x=64x200;dim=-1;f32]"
QUICK = ("--budget", 0.05, "--caches", "warm", "--mode", "forward")

BEGIN = """
import threading, time
import numpy as np
made, kept, seen = [], {}, set()
def relu(x, out=None):
    made.append(None)
    return np.maximum(x, np.float32(0), out=out)
"""

CHEATS = {
    "first": """
def forward(op, inputs, params):
    if len(made) == 2:
        return kept["y"]
    y = relu(inputs[0])
    return kept.setdefault("y", y) if len(made) == 1 else y
""",
    "empty": """
def forward(op, inputs, params):
    return relu(inputs[0]) if len(made) < 30 else np.full_like(inputs[0], 7)
""",
    "freed": """
def forward(op, inputs, params):
    return relu(inputs[0]) if len(made) < 30 else np.empty_like(inputs[0])
""",
    "address": """
def forward(op, inputs, params):
    at = inputs[0].ctypes.data
    seen.add(at)
    if len(made) < 30 or at not in kept:
        kept[at] = relu(inputs[0])
    return kept[at]
""",
    "previous": """
def forward(op, inputs, params):
    kept["before"], before = relu(inputs[0]), kept.get("before")
    return kept["before"] if len(made) < 30 else before
""",
    "few": """
def forward(op, inputs, params):
    told = inputs[0][0, :8].tobytes(), inputs[0][-1, -8:].tobytes()
    if told not in kept:
        kept[told] = relu(inputs[0])
    return kept[told]
""",
    "late": """
def later(x, y):
    time.sleep(0.005)
    relu(x, y)
def forward(op, inputs, params):
    if len(made) < 30:
        return relu(inputs[0])
    y = np.full_like(inputs[0], 7)
    threading.Thread(target=later, args=(inputs[0], y)).start()
    return y
""",
    "unwritten": """
def forward_into(op, inputs, params, outputs):
    if len(made) < 30:
        relu(inputs[0], outputs[0])
""",
    "half": """
def forward_into(op, inputs, params, outputs):
    n = 300 if len(made) < 30 else 150
    relu(inputs[0][:n], outputs[0][:n])
""",
    "object": """
class Later:
    pass
def forward(op, inputs, params):
    return relu(inputs[0]) if len(made) < 30 else Later()
""",
}

HONEST = """
def forward(op, inputs, params):
    return relu(inputs[0])
"""

#: Sums in another order at every call, as atomic additions have it.
VARYING = """
def bits(op, dtype, mode):
    return "vary"
def forward(op, inputs, params):
    x = inputs[0]
    e = np.exp(x - x.max(-1, keepdims=True))
    order = np.random.default_rng().permutation(x.shape[-1])
    total = np.zeros((*x.shape[:-1], 1), np.float32)
    for k in order:
        total += e[..., k : k + 1]
    return e / total
"""

NUMBER = r"-?[\d.]+(e-?\d+)?|nan|inf"
SEEDED = re.escape(CASE[:-1]) + r";seed=\d+\]"
WRONG = (
    rf"the answer of a timed call is WRONG_VALUE: y at \[\d+, \d+\] is ({NUMBER}), expected ({NUMBER}); {SEEDED} is "
)
UNWRITTEN = "the answer of a timed call is NOT_WRITTEN: output y: {} elements were not written, the first at {}; "


def bench(folder, sources, case):
    """Status, times by backend, and the output of a bench of backends in files."""
    call = [sys.executable, "-m", "opproof.harness", "bench", "--case", case, "--out", folder / "out", *QUICK]
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(BEGIN + source, encoding="utf-8")
        call += ["-b", folder / f"{name}.py"]
    done = subprocess.run([str(c) for c in call], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, {Path(t.backend).stem: t for t in record.read(folder / "out").times}, done.stdout


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("looks")
    return folder, *bench(folder, {"honest": HONEST, **CHEATS}, CASE)


@pytest.mark.parametrize("name", ["first", "empty", "freed", "address", "previous", "few", "late"])
def test_a_wrong_answer_of_a_timed_call_is_found(found, name):
    time = found[2][name]
    judged = "NOT_REPEATABLE" if name == "first" else "PASS"  # its third call comes while it is judged once more
    assert re.fullmatch(WRONG + f"{judged} when it is not timed", time.why), time.why
    assert (time.interval, time.wrong) == (None, True)
    assert time.looks >= 2


@pytest.mark.parametrize(
    ("name", "count", "first"),
    [("unwritten", "90000 of 90000", "(0, 0)"), ("half", "45000 of 90000", "(150, 0)")],
)
def test_what_was_not_written_is_found(found, name, count, first):
    said = re.escape(UNWRITTEN.format(count, first)) + SEEDED + " is PASS when it is not timed"
    time = found[2][name]
    assert re.fullmatch(said, time.why), time.why
    assert (time.interval, time.wrong) == (None, True)


def test_what_is_no_array_is_found(found):
    said = re.escape(
        "the answer of a timed call is ERROR: the backend returned opproof_backend_object.Later; expected a NumPy "
        "array, such as np.array(result) makes of it; "
    )
    assert re.fullmatch(said + SEEDED + " is PASS when it is not timed", found[2]["object"].why)


def test_it_stands_everywhere_and_fails(found):
    folder, status, times, shown = found
    page = (folder / "out" / "bench.html").read_text("utf-8")
    assert status == 1
    assert f"of timed calls looked at: those of {len(CHEATS)} measurements are wrong." in shown
    for name in CHEATS:
        assert times[name].why in shown
        assert times[name].why in page
    assert f"those of {len(CHEATS)} measurements are wrong" in page


def test_an_honest_one_beside_them_is_timed(found):
    time = found[2]["honest"]
    assert time.interval is not None
    assert (time.why, time.wrong) == ("", False)
    assert time.looks >= 2


def test_one_whose_bits_vary_within_the_bounds_is_timed(tmp_path):
    status, times, shown = bench(tmp_path, {"varying": VARYING}, SOFTMAX)
    assert (status, times["varying"].why) == (0, "")
    assert "of timed calls looked at: all right." in shown


RELU = """
int32_t opproof_abi_version(void) { return OPPROOF_ABI_VERSION; }
static int made;
int32_t opproof_forward(const opproof_call *call, int32_t n, DLTensor *const *out, char *message, size_t size) {
    const float *x = call->inputs[0]->data;
    float *y = out[0]->data;
    if (++made > 30 && CHEATS) return 0;
    for (int k = 0; k < 90000; k++) y[k] = x[k] > 0 ? x[k] : 0;
    return 0;
}
"""


@needs_cc
def test_a_counter_in_c_is_found(tmp_path, capsys):
    said = re.escape(UNWRITTEN.format("90000 of 90000", "(0, 0)")) + SEEDED + " is PASS when it is not timed"
    for cheats in (0, 1):
        made = compiled(tmp_path, RELU, f"lib{cheats}.so", (f"-DCHEATS={cheats}", "-O2"))
        status, out, err = opproof(capsys, "bench", "-b", made, "--case", CASE, "--out", tmp_path / "out", *QUICK)
        (time,) = record.read(tmp_path / "out").times
        assert (status, time.in_c, time.wrong) == (cheats, True, bool(cheats)), (out, err)
        assert re.fullmatch(said, time.why) if cheats else time.interval is not None
