"""Mutants of many operators, an operator at a time, in one process or several."""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Iterator, Sequence
from functools import partial

from opproof.harness.prove.mutation.trials import JUDGED, Fate, fates
from opproof.reference_ops import load


def of_op(name: str, level: str, dtypes: Sequence[str] = JUDGED, declared: str | None = None) -> list[Fate]:
    """What becomes of every mutant of one operator."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mutants compute nonsense, and NumPy says so
        return list(fates(load(name), level, dtypes, declared=declared))


def all_fates(
    names: Sequence[str], level: str, jobs: int, dtypes: Sequence[str] = JUDGED, declared: str | None = None
) -> Iterator[list[Fate]]:
    """The fates of each operator in turn."""
    work = partial(of_op, level=level, dtypes=dtypes, declared=declared)
    if jobs == 1:
        yield from map(work, names)
        return
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(work, names)
