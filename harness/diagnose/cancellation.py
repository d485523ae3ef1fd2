"""Digits lost in a difference of near numbers, and what stands under a root with eps, or outside it.

N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, section 1.7; T. F. Chan, G. H. Golub, R. J. LeVeque:
*Algorithms for computing the sample variance: analysis and recommendations*. The American Statistician 37, 1983.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import Mode
from opproof.harness.diagnose.where import log2_of_subsets
from opproof.harness.diagnose.wrong import MIN_EVIDENCE_BITS, WrongTensor
from opproof.harness.judge.bound import C
from opproof.reference_ops import Trait

#: Bits of the wrong elements' being the smallest, and how much larger than theirs the errors of others may be.
_MIN_RANK_BITS = 4.0
_MAX_ERROR_RATIO = 4.0


def find_lost_digits(w: WrongTensor) -> str | None:
    """Errors of one size, small beside 1 and large beside what is expected: of the smallest elements, or multiples.

    So log(1 + x) errs for log1p(x): a number near 1 is rounded to a unit of its last place, and what is left has that.
    """
    beside = _measure_beside_one(w)
    if beside is None or any(_is_far(one) for one in w.others):
        return None
    u, error, size = beside
    wrong, telling = w.failing[_is_finite(w)], size > C * u
    large = np.log2(size / (C * u), where=telling, out=np.zeros(size.shape))[wrong].sum() >= MIN_EVIDENCE_BITS
    ranked = large and _of_one_size(error[telling], size[telling], wrong[telling])
    return (
        _describe_loss(w, error, u)
        if ranked or _multiples(w.got[_is_finite(w)], u / 2, DTYPES[w.dtype].u, wrong)
        else None
    )


def _is_far(w: WrongTensor) -> bool:
    """Whether numbers are wrong by more than a few units of 1, which has another reason: it may be that here too."""
    return bool(w.failing.any() and _is_finite(w)[w.failing].all() and _measure_beside_one(w) is None)


def suggest_lost_digits(w: WrongTensor) -> str | None:
    """What is wrong is so small that nothing more can be told: of another record of the operator it may be known."""
    beside = _measure_beside_one(w)
    return None if beside is None else _describe_loss(w, beside[1], beside[0])


def _describe_loss(w: WrongTensor, error: Array, u: float) -> str:
    size = f"at most {error.max() / u:.2g} × the unit roundoff"
    return f"{w.what} has errors of one size, however small it is ({size}): as where 1 is added and taken away again"


def _measure_beside_one(w: WrongTensor) -> tuple[float, Array, Array] | None:
    """Unit roundoff, errors and what is expected where no error has more than a few units of 1; None elsewhere.

    In 16 bits that of float32: what is stored in 16 bits between operations has another diagnosis.
    """
    finite = _is_finite(w)
    if w.expected.dtype.kind != "f" or not finite[w.failing].all():
        return None
    kind = DTYPES[w.dtype]
    u, stored = (DTYPES["f32"].u, kind.u) if kind.narrow else (kind.u, C * kind.u)
    error, size = np.abs(w.got - w.expected)[finite], np.abs(w.expected)[finite]
    return (u, error, size) if (error <= C * u + stored * size).all() else None


def _is_finite(w: WrongTensor) -> NDArray[np.bool_]:
    return np.asarray(np.isfinite(w.got) & np.isfinite(w.expected))


def _of_one_size(error: Array, size: Array, wrong: NDArray[np.bool_]) -> bool:
    """Whether the wrong elements are the smallest, with errors like the others'; errors in proportion are not so."""
    n, k, smallest = size.size, int(wrong.sum()), int((size <= size[wrong].max()).sum())
    like = (error / (1 + size))[~wrong].max(initial=0) <= _MAX_ERROR_RATIO * error[wrong].max()
    ranked = log2_of_subsets(n, k) - log2_of_subsets(smallest, k) >= _MIN_RANK_BITS
    return bool(like and ranked and not _in_proportion(error[wrong], size[wrong]))


def _in_proportion(error: Array, size: Array) -> bool:
    """Whether the smaller half has the smaller errors, where it is much smaller."""
    order, half = np.argsort(size), size.size // 2
    if not half:
        return False
    small, large = order[:half], order[half:]
    sizes, errors = (np.median(v[large]) / max(np.median(v[small]), 1e-300) for v in (size, error))
    return bool(sizes > _MAX_ERROR_RATIO and errors > np.sqrt(sizes))


def _multiples(got: Array, of: float, u: float, wrong: NDArray[np.bool_]) -> bool:
    """Whether every element is a multiple of a number, where the dtype has many that are none."""
    if (np.fmod(got, of) != 0).any():
        return False
    spacing = 2 * u * np.exp2(np.frexp(got[wrong])[1] - 1.0)
    return bool(np.log2(np.maximum(of / spacing, 1)[got[wrong] != 0]).sum() >= MIN_EVIDENCE_BITS)


#: Squares of means over variances of what is far from 0, and of what is not.
_MIN_FAR_RATIO = 1e3
_MIN_OFF_RATIO = 16.0
_MAX_NEAR_RATIO = 4.0
#: Errors of the whole, in roundoffs of the square of the mean over the variance, where a variance is such a difference.
_SQUARE_ERRORS = (2.0**-7, 64.0)


def find_cancelled_squares(w: WrongTensor) -> str | None:
    """Of a variance, or what is divided by a deviation: errors as large as the square of a mean over a variance.

    Of an operator that takes a statistic, or of a function that is right where numbers are about 0, and wrong where
    they are far from it alone. Sums are those of float32 where the dtype has 16 bits.
    """
    forward = [v for v in (w, *w.others) if v.mode is Mode.FORWARD and v.which == w.which]
    far, wrong = _measure_offset(w), [v for v in forward if v.failing.any()]
    near = [v for v in forward if not v.failing.any() and _measure_offset(v) <= _MAX_NEAR_RATIO]
    if w.mode is not Mode.FORWARD or far < _MIN_FAR_RATIO or not (near or Trait.STATISTIC in w.op.traits):
        return None
    if any(_measure_offset(v) < _MIN_OFF_RATIO for v in wrong):
        return None
    kind, size = DTYPES[w.dtype], np.abs(w.expected)
    u, stored = (DTYPES["f32"].u, 2 * kind.u) if kind.narrow else (kind.u, 0.0)
    error = np.maximum(np.abs(w.got - w.expected) - stored * size, 0)
    least, most = (share * u * far * np.sqrt(np.mean(np.square(size))) for share in _SQUARE_ERRORS)
    if not least <= np.sqrt(np.mean(np.square(error))) <= most:
        return None
    return (
        f"{w.what} is wrong where numbers are far from 0 beside their spread, by what rounding makes of x²: as where a "
        "variance is the difference of E[x²] and E[x]²"
    )


def _measure_offset(w: WrongTensor) -> float:
    """The square of the mean over the variance, of the first input that has one: of all, or of the middle row."""
    x = next((x for x in w.inputs if x is not None and x.dtype.kind == "f" and x.size > 1 and np.ptp(x) > 0), None)
    if x is None or not np.isfinite(x).all():
        return 0.0
    rows = x.reshape(-1, x.shape[-1])
    spreads = rows.var(-1)
    by_row = np.square(rows.mean(-1))[spreads > 0] / spreads[spreads > 0]
    return max(float(np.mean(x) ** 2 / np.var(x)), float(np.median(by_row)) if by_row.size else 0.0)


_ENDLESS_EPS = 1e300


def find_eps_outside_root(w: WrongTensor) -> str | None:
    """Of outputs; gradients have q in other places too.

    With eps = 0 an output is c + d / √q, with an endless one c, and the expected output lies between them as far as eps
    is large beside q: that says what q is, for every element.
    """
    ends = _evaluate_eps_ends(w)
    if ends is None:
        return None
    (bare, shift), eps = ends, w.params["eps"]
    share = _share(w, bare, shift)
    outside = _compute_root(share, eps)  # √q, if eps belongs under the root
    inside = eps * share / (1 - share)  # √q, if it belongs outside
    for root, factor, said in (
        (outside, outside / (outside + eps), "outside the root: 1 / (√q + eps) in place of 1 / √(q + eps)"),
        (inside, inside / np.sqrt(inside**2 + eps), "under the root: 1 / √(q + eps) in place of 1 / (√q + eps)"),
    ):
        known = np.isfinite(root) & (root > 0)
        if w.fits(np.where(known, shift + (bare - shift) * factor, w.expected)):
            return f"eps stands {said}"
    return None


def of_samples(w: WrongTensor) -> str | None:
    """A variance that is divided by n - 1 where it is one of all n."""
    ends, x = _evaluate_eps_ends(w), w.inputs[0]
    if ends is None or x is None or Trait.STATISTIC not in w.op.traits:
        return None
    (bare, shift), eps = ends, w.params["eps"]
    root = _compute_root(_share(w, bare, shift), eps)
    for n in _list_sizes(x.shape, w.params):
        factor = root / np.sqrt(root**2 * (n / (n - 1)) + eps)
        if w.fits(np.where(np.isfinite(factor), shift + (bare - shift) * factor, w.expected)):
            return f"the variance is divided by n - 1, as of samples, not by n = {n}"
    return None


def _evaluate_eps_ends(w: WrongTensor) -> tuple[Array, Array] | None:
    """The output with no eps, and with an endless one; None where there is no eps, or no output."""
    eps = w.params.get("eps")
    if w.mode is not Mode.FORWARD or not isinstance(eps, float) or eps <= 0:
        return None
    bare, shift = (w.again(params={**w.params, "eps": value}) for value in (0.0, _ENDLESS_EPS))
    return None if bare is None or shift is None else (bare, shift)


def _share(w: WrongTensor, bare: Array, shift: Array) -> Array:
    """How near to the output with no eps the expected one is."""
    return np.asarray(np.divide(w.expected - shift, bare - shift, out=np.ones_like(bare), where=bare != shift))


def _compute_root(share: Array, eps: float) -> Array:
    """√q, where eps stands under the root."""
    return np.asarray(np.sqrt(eps * share**2 / (1 - share**2)))


def _list_sizes(shape: tuple[int, ...], params: Mapping[str, Any]) -> list[int]:
    """How many elements a statistic may be of: of an axis, of the last ones, of a group, of a channel."""
    number = params.get("num_groups", 1)
    last = [math.prod(shape[k:]) for k in range(len(shape))]
    channel = [math.prod(shape) // shape[1]] if len(shape) > 1 and shape[1] else []
    group = [math.prod(shape[1:]) // number] if isinstance(number, int) and number else []
    return sorted({n for n in (*shape, *last, *channel, *group) if n > 1})
