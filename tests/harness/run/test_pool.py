"""The end of a pool, whatever its judges are at, and the order of its records."""

import multiprocessing
import threading
import time
from concurrent import futures
from types import SimpleNamespace

import pytest

from opproof.harness.run import scheduler
from opproof.harness.run.scheduler import Pool
from opproof.harness.run.task import HostLimits, Task

SLOW = """
import time

def forward(op, inputs, params):
    time.sleep(30 if inputs[0].shape == (2, 9) else 0)
    return -inputs[0]
"""


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, None])
@pytest.mark.parametrize("jobs", [1, 2])
def test_nothing_of_it_outlives_it(tmp_path, jobs, interruption):
    """Neither a judge nor a thread that looks after judges: at exit the interpreter would wake it, or wait for it."""
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    tasks = [Task(str(tmp_path / "slow.py"), f"neg[x=2x{n};f32]", "forward") for n in range(3, 15)]
    before = set(threading.enumerate())
    try:
        with Pool(HostLimits(jobs, 60.0, 2 << 30)) as judges:
            records = judges.run(tasks)
            assert str(next(records).verdict) == "PASS"
            began = time.monotonic()
            if interruption is not None:
                raise interruption
    except KeyboardInterrupt:
        pass
    assert set(threading.enumerate()) <= before
    assert not [p for p in multiprocessing.active_children() if p.is_alive()]
    assert time.monotonic() - began < 20


def test_records_come_in_the_order_in_which_a_judge_made_them(tmp_path, monkeypatch):
    """Also where several bundles have ended when it is looked: one that blames an earlier task replaces its record."""

    def wait(pending, *_, **__):
        futures.wait(pending)
        return SimpleNamespace(done=list(reversed(list(pending))))

    monkeypatch.setattr(scheduler, "wait", wait)
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    tasks = [Task(str(tmp_path / "slow.py"), f"neg[x=2x{n};f32]", "forward") for n in range(3, 9)]
    with Pool(HostLimits(1, 60.0, 2 << 30)) as judges:
        assert [record.case for record in judges.run(tasks)] == [task.case for task in tasks]
