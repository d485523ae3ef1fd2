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


#: Sizes of groups that PyTorch's packed weights of 4 bits take, and what their rows are a multiple of.
_GROUP_SIZES, _ROW_MULTIPLE = (32, 64, 128, 256), 16
#: In bf16 PyTorch 2.13's product with i8 reads and writes by the wrong sizes where rows are no multiple of this.
_WHOLE = 8


def scaled_matmul(torch: Any, x: Any, weight: Any, scale: Any, *, type: str, scales: str) -> Any:  # noqa: A002
    """PyTorch's products of floats with weights of i8, a scale a row, and of i4, in groups: neither has gradients."""
    rows, parts = weight.shape[0], scale.shape[-1] if scale.ndim else 0
    plain = scales == "float" and x.dtype != torch.float64 and not (x.requires_grad or scale.requires_grad)
    if plain and parts and 0 not in (*x.shape, *weight.shape):
        flat = x.reshape(-1, x.shape[-1])
        if type == "i8" and parts == 1 and (x.dtype != torch.bfloat16 or x.shape[-1] % _WHOLE == 0):
            codes = weight.contiguous().view(torch.int8)
            y = torch._weight_int8pack_mm(flat.contiguous(), codes, scale.reshape(rows).contiguous())  # noqa: SLF001
            return y.reshape(*x.shape[:-1], rows)
        if type == "i4" and rows % _ROW_MULTIPLE == 0 and x.shape[-1] // parts in _GROUP_SIZES:
            y = _of_four_bits(torch, flat.contiguous(), weight, scale)
            return y.reshape(*x.shape[:-1], rows)
    return load("scaled_matmul").torch(torch, x, weight, scale, type=type, scales=scales)  # type: ignore[misc]


def _of_four_bits(torch: Any, x: Any, weight: Any, scale: Any) -> Any:
    """Its codes are those of two's complement plus 8; each group has a scale and what is added to it, 0."""
    codes = torch.stack([weight % 16, weight // 16], dim=-1).flatten(-2).to(torch.int32) ^ 8
    packed = torch._convert_weight_to_int4pack_for_cpu(codes, 1)  # noqa: SLF001 - nor for these two
    pairs = torch.stack([scale.t(), torch.zeros_like(scale.t())], dim=-1).contiguous()
    return torch._weight_int4pack_mm_for_cpu(x, packed, x.shape[-1] // scale.shape[-1], pairs)  # noqa: SLF001


NATIVE: dict[str, Callable[..., Any]] = {"scaled_mm": scaled_mm, "scaled_matmul": scaled_matmul}
