"""PyTorch's own products of codes of 8 bits, where its CPU build has them; elsewhere codes are decoded first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opproof.reference_ops import load


def scaled_mm(torch: Any, a: Any, b: Any, scale_a: Any, scale_b: Any, *, type: str) -> Any:  # noqa: A002 - the operator's
    """torch._scaled_mm of fp8 and torch._int_mm of int8: neither has gradients, float64, or scales of two kinds."""
    alike = scale_a.ndim == scale_b.ndim and 0 not in (*a.shape, *b.shape)
    plain = alike and scale_a.dtype != torch.float64 and not (scale_a.requires_grad or scale_b.requires_grad)
    left, right = scale_a.to(torch.float32), scale_b.to(torch.float32)
    if left.ndim:
        left, right = left.unsqueeze(-1), right.unsqueeze(0)
    if plain and type == "f8e4m3":
        rows, columns = (v.contiguous().view(torch.float8_e4m3fn) for v in (a, b))
        left, right = left.contiguous(), right.contiguous()
        product = torch._scaled_mm  # noqa: SLF001 - PyTorch has no public name for it
        return product(rows, columns.t(), left, right, out_dtype=scale_a.dtype)
    if plain and type == "i8":
        sums = torch._int_mm(  # noqa: SLF001 - nor for this
            *(v.contiguous().view(torch.int8) for v in (a, b.t()))
        )
        return (sums.to(torch.float32) * left * right).to(scale_a.dtype)
    return load("scaled_mm").torch(torch, a, b, scale_a, scale_b, type=type)  # type: ignore[misc]


NATIVE: dict[str, Callable[..., Any]] = {"scaled_mm": scaled_mm}
