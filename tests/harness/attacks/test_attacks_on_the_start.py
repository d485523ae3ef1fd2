"""A backend that loads once, and hangs whenever it is to load again: every case that needs it anew would wait."""

import os
import subprocess
import sys

from opproof.core.verdicts import Verdict
from opproof.harness.run.hosts import native
from opproof.harness.run.record import make_early_record
from opproof.harness.run.session import slots
from opproof.harness.run.session.worker import Session
from opproof.harness.run.task import HostLimits, Task

BACKEND = """
import os, pathlib, time
been = pathlib.Path(__file__).with_name("been")
if been.exists():
    with been.open("a") as file:
        file.write("again\\n")
    time.sleep(1000)
been.touch()

def forward(op, inputs, params):
    os._exit(1)
"""


def test_starts_that_hang_are_not_repeated_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(native, "LOADING", 1.5)
    monkeypatch.setattr(slots, "_SLOW_START_SECONDS", 1.0)
    file = tmp_path / "backend.py"
    file.write_text(BACKEND, encoding="utf-8")
    at = Session(HostLimits(1, 10.0, 2**30))
    try:
        cases = [f"neg[x=5x{n};f32]" for n in range(1, 9)]
        found = [at.results([Task(str(file), case, "forward")])[-1] for case in cases]
    finally:
        at.close()
    assert {r.verdict for r in found} == {"CRASH"}
    assert (tmp_path / "been").read_text() == "again\n" * 3
    assert found[-1].message.endswith("no answer within 1.5 s. It is not tried again.")


def test_a_wrong_shape_by_a_backend_that_does_not_load_any_more(tmp_path, monkeypatch):
    """Its gradient is not asked for, which its process is asked about: it costs the record, not the run."""
    at = Session(HostLimits(1, 10.0, 2**30))
    monkeypatch.setattr(at, "_records", lambda task: [make_early_record(task, Verdict.WRONG_SHAPE, "")])
    tasks = [Task(str(tmp_path / "gone.py"), "neg[x=5x3;f32]", mode) for mode in ("forward", "gradient")]
    assert [r.verdict for r in at.results(tasks)] == [Verdict.WRONG_SHAPE, Verdict.CRASH]


#: Writes a module of Python's into the current folder, whose import by a judge is written down; and is wrong.
PLANTS = """
import pathlib
TEXT = "import pathlib; pathlib.Path('imported').touch()\\n" + "raise ImportError('not mine')\\n"
for name in ("logging", "argparse", "selectors", "socket"):
    pathlib.Path(name + ".py").write_text(TEXT)

def forward(op, inputs, params):
    return 0 * inputs[0]
"""
RIGHT = """
import numpy as np

def forward(op, inputs, params):
    return np.negative(inputs[0])
"""


def test_modules_in_the_current_folder_are_nobodys_but_the_backends(tmp_path):
    """Neither judges nor hosts take them for Python's: not those of this run, and not those of the next."""
    (tmp_path / "plants.py").write_text(PLANTS, encoding="utf-8")
    (tmp_path / "right.py").write_text(RIGHT, encoding="utf-8")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONSAFEPATH"}
    command = [sys.executable, "-P", "-m", "opproof.harness", "run", "-b", "./plants.py", "-b", "./right.py"]
    for _ in range(2):
        done = subprocess.run(
            [*command, "--case", "neg[x=3x33;f32]", "--mode", "forward", "-j", "1", "--quiet", "--out", "out"],
            cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 1, done.stderr
        assert "plants.py fails 1 of 1 record" in done.stdout
        assert "right.py passes 1 of 1 record" in done.stdout
    assert (tmp_path / "logging.py").exists()
    assert not (tmp_path / "imported").exists()


def test_what_is_asked_before_a_call_has_the_time_of_a_call(tmp_path):
    """supports() had two minutes, whatever --timeout said."""
    file = tmp_path / "backend.py"
    file.write_text("import time\ndef supports(*_): time.sleep(1000)\ndef forward(*_): return None\n", encoding="utf-8")
    at = Session(HostLimits(1, 1.5, 2**30))
    try:
        (found,) = at.results([Task(str(file), "neg[x=3x33;f32]", "forward")])
    finally:
        at.close()
    assert found.verdict == "TIMEOUT"
    said = "no answer within 1.5 s (its inputs take 396 bytes; --timeout SECONDS raises the limit)"
    assert found.message == said
