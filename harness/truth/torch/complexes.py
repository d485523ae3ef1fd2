"""Complex numbers under noise: a part rounds by itself, of a product by what its two terms amount to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opproof.harness.truth.torch.arithmetic import Arithmetic

#: What either part goes through alone, where at most one operand is complex, or both are added.
_BY_PART = frozenset(("add", "sub", "rsub", "mul", "div", "true_divide"))


def rounded(noise: Arithmetic, name: str, args: Sequence[Any], y: Any) -> Any:
    """`y`, complex, rounded as the result of `name`."""
    if noise.exact or noise.scattered or not y.numel():
        return noise.rounded(y)
    whole = [v for v in args[:2] if isinstance(v, complex) or (hasattr(v, "is_complex") and v.is_complex())]
    if name in _BY_PART and (name in ("add", "sub", "rsub") or (len(whole) == 1 and args[0] is whole[0])):
        return noise.torch.complex(noise.rounded(y.real), noise.rounded(y.imag))
    if name != "mul" or not all(hasattr(v, "shape") for v in args[:2]):
        return noise.rounded(y)
    a, b = (v if v.is_complex() else v.to(y.dtype) for v in args[:2])
    delta = noise.amplitudes.interior if noise.amplitudes is not None else 0.0
    parts = []
    for part, one, other in (
        (y.real, a.real * b.real, a.imag * b.imag),
        (y.imag, a.real * b.imag, a.imag * b.real),
    ):
        size = (one.square() + other.square()).sqrt()
        parts.append(noise.rounded(part + noise.drawn(part) * size * delta))
    return noise.torch.complex(*parts)
