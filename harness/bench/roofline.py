"""What this machine can: a copy that no cache holds, one that stays in a cache, and a product of matrices."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from opproof.reports.bench.record import Roofline

_LARGE, _SMALL, _SIDE = 2**26, 2**16, 1024  # elements, elements, rows


def roofline(repeats: int = 5) -> Roofline:
    """Measured now, the best of a few times each; takes about a second."""
    return Roofline(_copied(_LARGE // 4, repeats), _copied(_SMALL // 4, 50 * repeats), _multiplied(repeats))


def _copied(elements: int, repeats: int) -> float:
    source, target = np.ones(elements, np.float32), np.ones(elements, np.float32)
    return 2 * source.nbytes / _best(lambda: np.copyto(target, source), repeats)


def _multiplied(repeats: int) -> float:
    a = np.ones((_SIDE, _SIDE), np.float32)
    out = np.empty_like(a)
    return 2 * _SIDE**3 / _best(lambda: np.matmul(a, a, out=out), repeats)


def _best(call: Callable[[], object], repeats: int) -> float:
    spent = []
    for _ in range(repeats + 1):
        started = time.perf_counter()
        call()
        spent.append(time.perf_counter() - started)
    return max(min(spent[1:]), 1e-9)
