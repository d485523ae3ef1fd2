"""Small cases are handed to a judge together: none is lost, held up or there twice for that."""

import pytest

from opproof.harness.run.cache.store import CacheLocation, CacheStore
from opproof.harness.run.scheduler import MAX_BATCH_CASES, SECONDS, Batches, Pool
from opproof.harness.run.task import HostLimits, Task

CASES = [(Task("numpy", f"neg[x=2x{n};f32]", "forward"),) for n in range(1, 401)]


def judged(left, each):
    """All bundles in turn, where a case takes `each` seconds and a judge stops after SECONDS."""
    sizes, order = [], []
    while left:
        some = left.take()
        sizes.append(len(some))
        done = next((n for n in range(1, len(some)) if n * each >= SECONDS), len(some))
        left.judged(some, done, done * each)
        order += some[:done]
    return sizes, order


@pytest.mark.parametrize("jobs", [1, 4])
@pytest.mark.parametrize("each", [1e-9, 0.002, 0.03, 1.0])
def test_every_case_once_in_its_order(jobs, each):
    sizes, order = judged(Batches(CASES, jobs), each)
    assert order == CASES
    assert max(sizes) <= MAX_BATCH_CASES
    assert all(size * each <= SECONDS for size in sizes[20:] if size > 1)
    assert sizes[-1] == 1  # so that judges end together


def test_small_ones_go_together_and_slow_ones_alone():
    left = Batches(CASES, 1)
    assert len(left.take()) == 1  # nobody knows yet
    for _ in range(8):
        left.judged((), 0, 0.001)
    assert len(left.take()) == MAX_BATCH_CASES
    left.judged(CASES[:3], 3, 60.0)
    assert len(left.take()) == 1


def test_what_a_judge_does_not_come_to_is_next():
    left = Batches(CASES[4:], 1)
    left.judged(CASES[:4], 1, 2.0)
    assert len(left) == len(CASES) - 1
    assert left.take() == (CASES[1],)


TWICE = '''"""twice: two times x."""

import os
import signal
import time
from pathlib import Path

STANDARD = ["x=5x7;f32"]
FOLDER = Path(__file__).parent


def forward(x):
    n = x.shape[-1]
    with (FOLDER / f"begun-{n}").open("ab") as begun:
        begun.write(b"x")
        first = begun.tell() == 1
    if n == 40 or (n == 30 and first):
        os.kill(os.getpid(), signal.SIGKILL)
    if n == 50:
        time.sleep(3)
    return 2 * x
'''

BACKEND = """
def forward(op, inputs, params):
    return 2 * inputs[0]
"""


@pytest.fixture
def tasks(tmp_path):
    """Sixty cases of an operator, whose reference kills the judge at some, and takes its time at another."""
    (tmp_path / "backend.py").write_text(BACKEND, encoding="utf-8")
    folder = tmp_path / "ops"
    folder.mkdir()
    (folder / "twice.py").write_text(TWICE, encoding="utf-8")

    def made(*lengths):
        backend, ops = str(tmp_path / "backend.py"), (str(folder.resolve()),)
        return [Task(backend, f"twice[x=2x{n};f32]", "forward", ops=ops) for n in lengths]

    return made


@pytest.mark.parametrize("jobs", [1, 2])
def test_judges_are_killed_in_the_middle(tasks, tmp_path, jobs):
    """What kills its judge once passes the second time, what always does is told of it, and nobody else."""
    wanted = tasks(*range(1, 50))
    with Pool(HostLimits(jobs, 60.0, 2 << 30)) as pool:
        records = list(pool.run(wanted))
    assert sorted(r.case for r in records) == sorted(t.case for t in wanted)
    bad = {r.case: str(r.verdict) for r in records if str(r.verdict) != "PASS"}
    assert bad == {"twice[x=2x40;f32]": "HARNESS_ERROR"}
    assert [r.message for r in records if r.case in bad] == [
        "the judge's process was killed while it was at this case, twice"
    ]
    begun = {n: (tmp_path / "ops" / f"begun-{n}").stat().st_size for n in (30, 40)}
    assert begun[40] in (2, 3)


def test_a_slow_case_does_not_hold_up_the_others(tasks):
    """But for those of its bundle; and what its judge did not come to is not left out."""
    wanted = tasks(*range(41, 141))
    with Pool(HostLimits(2, 60.0, 2 << 30)) as pool:
        came = [r.case for r in pool.run(wanted)]
    assert sorted(came) == sorted(t.case for t in wanted)
    assert len(came) - came.index("twice[x=2x50;f32]") <= MAX_BATCH_CASES + 1


def test_what_is_kept_outlives_the_judges(tmp_path):
    """They are killed at the end, and have written what was drawn by then."""
    at = CacheLocation(tmp_path / "cache", b"k" * 32)
    with Pool(HostLimits(1, 60.0, 2 << 30), at) as pool:
        records = list(pool.run([task for case in CASES[:40] for task in case]))
    assert {str(r.verdict) for r in records} == {"PASS"}
    assert CacheStore(at).info().entries == 40
