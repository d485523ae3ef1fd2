"""One tensor of two draws with other values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from opproof.harness.check.tensors import Tensor

#: Two draws, of which one is judged and the other lies in memory before.
Pair: TypeAlias = tuple[tuple[Tensor, ...], tuple[Tensor, ...]]


def of_both(pair: Pair, at: int, change: Callable[[Tensor], Tensor | None]) -> Pair | None:
    """The draws with the tensor at a place changed; None where it cannot be so in one of them."""
    a, b = pair
    asked, before = change(a[at]), change(b[at])
    if asked is None or before is None:
        return None
    return (*a[:at], asked, *a[at + 1 :]), (*b[:at], before, *b[at + 1 :])
