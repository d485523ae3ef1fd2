"""eps on the other side of a root: 1 / (√q + eps) where 1 / √(q + eps) is asked for, or the other way round.

What is under the root need not be known. With eps = 0 an output is c + d / √q, with an endless one c, and the expected
output lies between them as far as eps is large beside q: that says what q is, for every element.
"""

from __future__ import annotations

import numpy as np

from opproof.harness.diagnose.wrong import Wrong
from opproof.vocabulary.modes import Mode

_ENDLESS = 1e300


def other_side(w: Wrong) -> str | None:
    """Of outputs; gradients have q in other places too."""
    eps = w.params.get("eps")
    if w.mode is not Mode.FORWARD or not isinstance(eps, float) or eps <= 0:
        return None
    bare, shift = (w.again(params={**w.params, "eps": value}) for value in (0.0, _ENDLESS))
    if bare is None or shift is None:
        return None
    share = np.divide(w.expected - shift, bare - shift, out=np.ones_like(bare), where=bare != shift)
    outside = np.sqrt(eps * share**2 / (1 - share**2))  # √q, if eps belongs under the root
    inside = eps * share / (1 - share)  # √q, if it belongs outside
    for root, factor, said in (
        (outside, outside / (outside + eps), "outside the root: 1 / (√q + eps) in place of 1 / √(q + eps)"),
        (inside, inside / np.sqrt(inside**2 + eps), "under the root: 1 / √(q + eps) in place of 1 / (√q + eps)"),
    ):
        known = np.isfinite(root) & (root > 0)
        if w.fits(np.where(known, shift + (bare - shift) * factor, w.expected)):
            return f"eps stands {said}"
    return None
