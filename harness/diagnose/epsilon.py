"""What is under a root: eps on the other side of it, 1 / (√q + eps) for 1 / √(q + eps), or a variance of samples.

What is under the root need not be known. With eps = 0 an output is c + d / √q, with an endless one c, and the expected
output lies between them as far as eps is large beside q: that says what q is, for every element.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.core.verdicts import Mode
from opproof.harness.diagnose.wrong import Wrong
from opproof.reference_ops import Trait

_ENDLESS = 1e300


def other_side(w: Wrong) -> str | None:
    """Of outputs; gradients have q in other places too."""
    ends = _ends(w)
    if ends is None:
        return None
    (bare, shift), eps = ends, w.params["eps"]
    share = _share(w, bare, shift)
    outside = _root(share, eps)  # √q, if eps belongs under the root
    inside = eps * share / (1 - share)  # √q, if it belongs outside
    for root, factor, said in (
        (outside, outside / (outside + eps), "outside the root: 1 / (√q + eps) in place of 1 / √(q + eps)"),
        (inside, inside / np.sqrt(inside**2 + eps), "under the root: 1 / √(q + eps) in place of 1 / (√q + eps)"),
    ):
        known = np.isfinite(root) & (root > 0)
        if w.fits(np.where(known, shift + (bare - shift) * factor, w.expected)):
            return f"eps stands {said}"
    return None


def of_samples(w: Wrong) -> str | None:
    """A variance that is divided by n - 1 where it is one of all n."""
    ends, x = _ends(w), w.inputs[0]
    if ends is None or x is None or Trait.STATISTIC not in w.op.traits:
        return None
    (bare, shift), eps = ends, w.params["eps"]
    root = _root(_share(w, bare, shift), eps)
    for n in _sizes(x.shape, w.params):
        factor = root / np.sqrt(root**2 * (n / (n - 1)) + eps)
        if w.fits(np.where(np.isfinite(factor), shift + (bare - shift) * factor, w.expected)):
            return f"the variance is divided by n - 1, as of samples, not by n = {n}"
    return None


def _ends(w: Wrong) -> tuple[Array, Array] | None:
    """The output with no eps, and with an endless one; None where there is no eps, or no output."""
    eps = w.params.get("eps")
    if w.mode is not Mode.FORWARD or not isinstance(eps, float) or eps <= 0:
        return None
    bare, shift = (w.again(params={**w.params, "eps": value}) for value in (0.0, _ENDLESS))
    return None if bare is None or shift is None else (bare, shift)


def _share(w: Wrong, bare: Array, shift: Array) -> Array:
    """How near to the output with no eps the expected one is."""
    return np.asarray(np.divide(w.expected - shift, bare - shift, out=np.ones_like(bare), where=bare != shift))


def _root(share: Array, eps: float) -> Array:
    """√q, where eps stands under the root."""
    return np.asarray(np.sqrt(eps * share**2 / (1 - share**2)))


def _sizes(shape: tuple[int, ...], params: Mapping[str, Any]) -> list[int]:
    """How many elements a statistic may be of: of an axis, of the last ones, of a group, of a channel."""
    number = params.get("num_groups", 1)
    last = [math.prod(shape[k:]) for k in range(len(shape))]
    channel = [math.prod(shape) // shape[1]] if len(shape) > 1 and shape[1] else []
    group = [math.prod(shape[1:]) // number] if isinstance(number, int) and number else []
    return sorted({n for n in (*shape, *last, *channel, *group) if n > 1})
