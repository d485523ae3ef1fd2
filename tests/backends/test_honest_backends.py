"""The main job on honest backends: nothing unexpected fails, nothing is without evidence."""

from __future__ import annotations

import pytest
from _deep import few

from opproof.cases import Case
from opproof.harness.known_failures.findings import read_built_in
from opproof.harness.known_failures.known import mark
from opproof.harness.run.finish import status_of
from opproof.harness.run.plan import Selection, make_tasks, select_cases, with_known
from opproof.harness.run.scheduler import Pool
from opproof.harness.run.task import HostLimits


def run(*backends, **selection):
    """Records by backend."""
    selected = Selection(**selection)
    known = [entry for backend in backends for entry in read_built_in(backend)]
    with Pool(HostLimits(jobs=1, timeout=120.0, memory=4 * 2**30)) as pool:
        planned = with_known(make_tasks(backends, select_cases(selected), selected), known)
        results = [mark(r, known) for r in pool.run(planned)]
    unexpected = [f"{r.verdict} {r.case} {r.mode}: {r.message} {r.worst}" for r in results if status_of([r]) == 1]
    assert not unexpected, "\n".join(unexpected[:10])
    return {backend: [r for r in results if r.backend == backend] for backend in backends}


def count_passes(results, dtype):
    return sum(r.verdict == "PASS" for r in results if Case.parse(r.case).dtype == dtype)


@pytest.mark.parametrize(("shard", "least"), few([("1/64", 250), ("1/8", 2000)]))
def test_float32_of_both(shard, least):
    """In one run, for which what is expected is worked out once: numpy passes everything, torch what it is known to.

    Some of the cases, for which two cores have time; all of them are what `opproof run` is for.
    """
    pytest.importorskip("torch")
    results = run("numpy", "torch", dtypes=("f32",), shard=shard)
    others = [r for r in results["numpy"] if r.verdict != "PASS"]
    # Of a drawn case one mode may be no evidence.
    assert {r.verdict for r in others} <= {"VACUOUS"}, [r.case for r in others]
    assert len(others) < len(results["numpy"]) / 500
    # Of all numbers one is near the bound; and scores of 10^9 are judged by noise of its real size, not by units.
    drawn = [r for r in results["numpy"] if "fill=every" not in r.case and "fill=farther" not in r.case]
    assert max(r.units for r in drawn if r.units is not None) < 8
    assert count_passes(results["torch"], "f32") > least


@pytest.mark.parametrize(("shard", "least"), few([("5/96", 220), ("1/12", 1800), ("5/12", 1800)]))
def test_torch_fails_nothing_unexpected(shard, least):
    """In the other floats, which share one run: a process that has PyTorch is seconds."""
    pytest.importorskip("torch")
    dtypes = ("f16", "bf16", "f64")
    results = run("torch", dtypes=dtypes, shard=shard)
    passes = {dtype: count_passes(results["torch"], dtype) for dtype in dtypes}
    assert min(passes["f16"], passes["bf16"], 3 * passes["f64"]) > least, passes


@pytest.mark.parametrize("shard", few(["1/4", ""]))
def test_another_seed_passes_too(shard):
    pytest.importorskip("torch")
    run("torch", level="smoke", seed=7, shard=shard)
