"""The main job on honest backends: nothing unexpected fails, nothing is without evidence."""

from __future__ import annotations

from collections import Counter

import pytest

from opproof.harness.ledger.chosen import built_in
from opproof.harness.ledger.known import mark
from opproof.harness.run.limits import Limits
from opproof.harness.run.plan import Selection, cases, tasks
from opproof.harness.run.pool import Pool
from opproof.harness.run.status import status


def run(backend, **selection):
    selected = Selection(**selection)
    known = built_in(backend)
    with Pool(Limits(jobs=1, timeout=120.0, memory=4 * 2**30)) as pool:
        results = [mark(r, known) for r in pool.run(tasks([backend], cases(selected), selected))]
    unexpected = [f"{r.verdict} {r.case} {r.mode}: {r.message} {r.worst}" for r in results if status([r]) == 1]
    assert not unexpected, "\n".join(unexpected[:10])
    return results


def test_numpy_passes_everything_with_evidence():
    results = run("numpy", dtypes=("f32",))
    verdicts = Counter(r.verdict for r in results)
    assert set(verdicts) == {"PASS"}, [r.case for r in results if r.verdict != "PASS"][:10]
    assert max(r.units for r in results if r.units is not None) < 8


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "f64"])
def test_torch_fails_nothing_unexpected(dtype):
    pytest.importorskip("torch")
    results = run("torch", dtypes=(dtype,))
    assert sum(r.verdict == "PASS" for r in results) > (5000 if dtype != "f64" else 300)


def test_another_seed_passes_too():
    pytest.importorskip("torch")
    run("torch", level="smoke", seed=7)
