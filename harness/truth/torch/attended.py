"""Attention's backward by its output: sum(g o) stands where the formula has sum(dP P), with o as it was stored.

For shares P of a softmax and o = P v the two are one number, and a fused backward pass has o saved, rounded to the
dtype of the output: in 16 bits that is more than anything in between rounds. So they are where a column of the shares,
the first or the last, is of no key: an attention sink has a share, and no value.
Source: Dao et al., FlashAttention (2022), appendix B.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

#: By so much less than the largest, a score has no share.
_NO_SHARE = 100.0


@dataclass
class Products:
    """What the exact evaluation has met: shares of softmax, and the products that they and their gradients came in."""

    outputs: Sequence[Any] = ()  # of the reference, those that are stored in 16 bits
    shares: list[tuple[Any, Any]] = field(default_factory=list)  # and the largest score of each row
    weighed: list[tuple[Any, Any]] = field(default_factory=list)  # P and P v
    pulled: list[tuple[Any, Any]] = field(default_factory=list)  # a product as large as some P, and its first factor

    def met(self, a: Any, y: Any) -> None:
        """Note y = a b, if it may be of use."""
        from torch.utils._python_dispatch import _disable_current_modes

        with _disable_current_modes():
            if any(_holds(p, a) for p, _ in self.shares):
                self.weighed.append((a.detach(), y.detach()))
            elif any(p.numel() == y.numel() for p, _ in self.weighed):
                self.pulled.append((y.detach(), a.detach()))

    def largest(self, y: Any) -> Any:
        """The largest score in each row of the shares `y`, in size; None: they are no result that was met."""
        from torch.utils._python_dispatch import _disable_current_modes

        with _disable_current_modes():
            return next((most for p, most in reversed(self.shares) if p.shape == y.shape and _same(p, y)), None)

    def rounding(self, g: Any, y: Any) -> Any:
        """By how many roundoffs of o sum(g o) is off in each row of the shares `y`, whose gradient is `g`; None: no o.

        Shape of y, with 1 in place of the last axis.
        """
        from torch.utils._python_dispatch import _disable_current_modes

        with _disable_current_modes():
            return self._rounding(g, y)

    def _rounding(self, g: Any, y: Any) -> Any:
        o = next((o for p, o in reversed(self.weighed) if _holds(y, p)), None)
        incoming = next((a for product, a in reversed(self.pulled) if _holds(g, product)), None)
        if o is None or incoming is None or o.shape != incoming.shape or not any(_stored(o, y) for y in self.outputs):
            return None
        return (incoming * o).square().sum(-1).sqrt().reshape(*y.shape[:-1], 1)


def largest_score(x: Any, dim: int) -> Any:
    """The size of the largest score of each row, of those that have a share: e^-100 is none, nor is a mask's -1e9."""
    from torch.utils._python_dispatch import _disable_current_modes

    with _disable_current_modes():
        plain = x.detach().nan_to_num(0.0, 0.0, float("-inf"))
        if not plain.numel() or not plain.dim():
            return plain.abs()
        seen = plain >= plain.amax(dim, keepdim=True) - _NO_SHARE
        return plain.masked_fill(~seen | plain.isinf(), 0.0).abs().amax(dim, keepdim=True)


def _same(a: Any, b: Any) -> bool:
    return a.numel() == b.numel() and bool((a.detach().reshape(-1) == b.detach().reshape(-1)).all())


def _holds(rows: Any, part: Any) -> bool:
    """Whether `part` has the elements of `rows`, all or those of the first columns, or the last."""
    if rows.numel() == part.numel():
        return _same(rows, part)
    count = part.shape[-1] if part.dim() else 0
    if not count or not rows.numel() or not rows.dim() or rows.numel() // rows.shape[-1] * count != part.numel():
        return False
    columns = rows.reshape(-1, rows.shape[-1])
    return _same(columns[:, :count], part) or _same(columns[:, -count:], part)


def _stored(o: Any, output: Any) -> bool:
    """Whether the output holds the elements of `o`, in any order: heads come side by side in it."""
    return o.numel() == output.numel() and _same(*(v.detach().reshape(-1).sort().values for v in (o, output)))
