"""Digits lost in a difference: errors of one size, however small the result is.

log(1 + x) for log1p(x), 0.5 + 0.5 tanh(x / 2) for a sigmoid, 1 - erf(x) for erfc: a number near 1 is rounded to a unit
of its last place, and what is left once 1 is taken away has the error of it. N. J. Higham, *Accuracy and Stability of
Numerical Algorithms*, section 1.7.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.harness.diagnose.where import log2_choose
from opproof.harness.diagnose.wrong import BITS, Wrong
from opproof.harness.judge.bound import C

#: Bits of the wrong elements' being the smallest, and how much larger than theirs the errors of others may be.
_RANKED, _LIKE = 4.0, 4.0


def lost(w: Wrong) -> str | None:
    """Errors of one size, small beside 1 and large beside what is expected: of the smallest elements, or multiples."""
    beside = _small_beside_one(w)
    if beside is None or any(_is_far(one) for one in w.others):
        return None
    u, error, size = beside
    wrong, telling = w.failing[_finite(w)], size > C * u
    large = np.log2(size / (C * u), where=telling, out=np.zeros(size.shape))[wrong].sum() >= BITS
    ranked = large and _of_one_size(error[telling], size[telling], wrong[telling])
    return _said(w, error, u) if ranked or _multiples(w.got[_finite(w)], u / 2, DTYPES[w.dtype].u, wrong) else None


def _is_far(w: Wrong) -> bool:
    """Whether numbers are wrong by more than a few units of 1, which has another reason: it may be that here too."""
    return bool(w.failing.any() and _finite(w)[w.failing].all() and _small_beside_one(w) is None)


def perhaps(w: Wrong) -> str | None:
    """What is wrong is so small that nothing more can be told: of another record of the operator it may be known."""
    beside = _small_beside_one(w)
    return None if beside is None else _said(w, beside[1], beside[0])


def _said(w: Wrong, error: Array, u: float) -> str:
    size = f"at most {error.max() / u:.2g} × the unit roundoff"
    return f"{w.what} has errors of one size, however small it is ({size}): as where 1 is added and taken away again"


def _small_beside_one(w: Wrong) -> tuple[float, Array, Array] | None:
    """Unit roundoff, errors and what is expected where no error has more than a few units of 1; None elsewhere.

    In 16 bits that of float32: what is stored in 16 bits between operations has another diagnosis.
    """
    finite = _finite(w)
    if w.expected.dtype.kind != "f" or not finite[w.failing].all():
        return None
    kind = DTYPES[w.dtype]
    u, stored = (DTYPES["f32"].u, kind.u) if kind.narrow else (kind.u, C * kind.u)
    error, size = np.abs(w.got - w.expected)[finite], np.abs(w.expected)[finite]
    return (u, error, size) if (error <= C * u + stored * size).all() else None


def _finite(w: Wrong) -> NDArray[np.bool_]:
    return np.asarray(np.isfinite(w.got) & np.isfinite(w.expected))


def _of_one_size(error: Array, size: Array, wrong: NDArray[np.bool_]) -> bool:
    """Whether the wrong elements are the smallest, with errors like the others'; errors in proportion are not so."""
    n, k, smallest = size.size, int(wrong.sum()), int((size <= size[wrong].max()).sum())
    like = (error / (1 + size))[~wrong].max(initial=0) <= _LIKE * error[wrong].max()
    ranked = log2_choose(n, k) - log2_choose(smallest, k) >= _RANKED
    return bool(like and ranked and not _in_proportion(error[wrong], size[wrong]))


def _in_proportion(error: Array, size: Array) -> bool:
    """Whether the smaller half has the smaller errors, where it is much smaller."""
    order, half = np.argsort(size), size.size // 2
    if not half:
        return False
    small, large = order[:half], order[half:]
    sizes, errors = (np.median(v[large]) / max(np.median(v[small]), 1e-300) for v in (size, error))
    return bool(sizes > _LIKE and errors > np.sqrt(sizes))


def _multiples(got: Array, of: float, u: float, wrong: NDArray[np.bool_]) -> bool:
    """Whether every element is a multiple of a number, where the dtype has many that are none."""
    if (np.fmod(got, of) != 0).any():
        return False
    spacing = 2 * u * np.exp2(np.frexp(got[wrong])[1] - 1.0)
    return bool(np.log2(np.maximum(of / spacing, 1)[got[wrong] != 0]).sum() >= BITS)
