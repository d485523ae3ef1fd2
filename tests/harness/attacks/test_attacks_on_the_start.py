"""A backend that loads once, and hangs whenever it is to load again: every case that needs it anew would wait."""

from opproof.harness.run import desk
from opproof.harness.run.desk import Desk
from opproof.harness.run.hosts import placed
from opproof.harness.run.limits import Limits
from opproof.harness.run.record import settled
from opproof.harness.run.task import Task
from opproof.vocabulary.verdicts import Verdict

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
    monkeypatch.setattr(placed, "LOADING", 1.5)
    monkeypatch.setattr(desk, "_LONG", 1.0)
    file = tmp_path / "backend.py"
    file.write_text(BACKEND, encoding="utf-8")
    at = Desk(Limits(1, 10.0, 2**30))
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
    at = Desk(Limits(1, 10.0, 2**30))
    monkeypatch.setattr(at, "_records", lambda task: [settled(task, Verdict.WRONG_SHAPE, "")])
    tasks = [Task(str(tmp_path / "gone.py"), "neg[x=5x3;f32]", mode) for mode in ("forward", "gradient")]
    assert [r.verdict for r in at.results(tasks)] == [Verdict.WRONG_SHAPE, Verdict.CRASH]
