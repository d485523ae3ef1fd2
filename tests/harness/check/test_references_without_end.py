"""A reference that follows numbers, those of a tree, goes round and round where they are changed: it is given up."""

import threading
import time

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness import clock  # noqa: E402
from opproof.harness.check.call.reference import WATCHING, DeadlineExceeded, deadline  # noqa: E402

PARENTS = (-1, 0, 0, 1, 1, 3, 2, 4)


def depths(x, parents):
    """Each row times how deep its node lies: parents of a ring have no depth."""
    up, depth = parents.tolist(), []
    for leaf in range(len(up)):
        node = leaf
        depth.append(1)
        while up[node] >= 0:
            node, depth[-1] = up[node], depth[-1] + 1
    return x * torch.tensor(depth, dtype=x.dtype)[:, None]


def as_matrix(x, parents):
    """The same by the powers of the matrix of parents, which end whatever it holds."""
    step = (parents[:, None] == torch.arange(len(parents))).to(torch.float64)
    power, total = torch.eye(len(parents), dtype=torch.float64), torch.zeros(len(parents), dtype=torch.float64)
    for _ in range(len(parents)):
        total, power = total + power.sum(1), power @ step
    return x * total.to(x.dtype)[:, None]


def judged(candidate):
    inputs = [torch.randn(8, 6, generator=torch.Generator().manual_seed(0)), torch.tensor(PARENTS)]
    return opproof.check(candidate, like=depths, inputs=inputs, dtype="f32", seconds=8.0, raises=False)


def test_it_is_given_up_and_all_else_is_judged():
    report = judged(as_matrix)
    assert report.ok
    assert {"as given", "wide values", "ties", "transposed"} <= {report.variants[r.case] for r in report.results}


def test_what_is_wrong_elsewhere_is_found():
    report = judged(lambda x, parents: as_matrix(x, parents).clamp(max=9.0))
    assert {report.variants[r.case] for rs in report.failures.values() for r in rs} >= {"wide values"}


def test_a_loop_ends_that_catches_every_exception():
    def endless():
        with deadline(0.2):
            while True:
                try:
                    time.sleep(0.001)
                except Exception:
                    time.sleep(0.001)

    begun = time.monotonic()
    with pytest.raises(DeadlineExceeded, match=r"it did not end within 0\.2 s"):
        endless()
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("seconds", [0.002, 0.004])
def test_what_ends_about_then_leaves_nothing_behind(seconds):
    """Whether it was in time or not: nothing of it strikes later, and no timer stays."""
    ended = []
    for _ in range(100):
        try:
            with deadline(seconds):
                worked(0.003)
            ended.append(True)
        except DeadlineExceeded:
            ended.append(False)
        sum(range(2000))
    assert len(ended) == 100
    for waiting in [t for t in threading.enumerate() if t.name == WATCHING]:
        waiting.join(5)
        assert not waiting.is_alive()


def worked(seconds):
    """Keep a processor busy."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        sum(range(50))


def test_what_waits_for_a_processor_has_its_time(monkeypatch):
    """Seconds in which others have the processor are not the call's: here it sleeps as if in a queue."""
    begun = time.monotonic()
    monkeypatch.setattr(clock, "_measure_queued", lambda _: time.monotonic() - begun)
    with deadline(0.3):
        time.sleep(0.6)
        worked(0.02)
    monkeypatch.undo()
    with pytest.raises(DeadlineExceeded), deadline(0.3):
        worked(10)


def test_in_another_thread_and_without_a_limit():
    met = []

    def loop():
        try:
            with deadline(0.1):
                while True:
                    sum(range(100))
        except DeadlineExceeded as error:
            met.append(str(error))

    thread = threading.Thread(target=loop)
    thread.start()
    thread.join(10)
    with deadline(float("inf")):
        assert met == ["it did not end within 0.1 s"]
