"""qlinear_matmul: the product of two quantised matrices, quantised again: summed in integers, rounded once.

Shapes: a (..., m, k) and b (..., k, n) uint8, codes of `type` and of `b_type`: i8 (two's complement) or u8; batch axes
broadcast; a_scale, a_zero_point, y_scale, y_zero_point 0d; b_scale and b_zero_point 0d or (n,); y (..., m, n) uint8,
codes of `type`: the nearest to (a - a_zero_point) (b - b_zero_point) a_scale b_scale / y_scale, ties to even, plus
y_zero_point, what is too large saturated.
Gradient: none, codes have none.
Source: ONNX, QLinearMatMul; Jacob et al., Quantization and Training of Neural Networks for Efficient
Integer-Arithmetic-Only Inference (2018), section 2.2.
PyTorch: torch.ops.quantized.linear (of u8 with i8). ONNX: QLinearMatMul. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops import _codes as codes
from opproof.reference_ops._integers import (
    RESULTS,
    ZEROS,
    centred,
    requantized,
    result_scales,
    scales,
    torch_centred,
    torch_requantized,
)

SIGNATURE = "(...,m,k),(),(),(...,k,n),(),(),(),()"
EXACT = ("forward",)
TRAITS = ("long sum",)


def domain(shapes: dict[str, tuple[int, ...]], *, type: str, b_type: str) -> dict[str, Any]:
    terms = shapes["a"][-1]
    drawn: dict[str, Any] = {"a": codes.weights(type), "b": codes.weights(b_type)}
    drawn |= {"a_scale": scales(terms, fine=True), "b_scale": scales(terms, fine=False)}
    zeros = {"a_zero_point": ZEROS[type], "b_zero_point": ZEROS[b_type], "y_zero_point": RESULTS[type]}
    return {**drawn, **zeros, "y_scale": result_scales(type, b_type, terms=terms)}


def forward(
    a: Array, a_scale: Array, a_zero_point: Array, b: Array, b_scale: Array, b_zero_point: Array, y_scale: Array,
    y_zero_point: Array, *, type: str, b_type: str,
) -> Array:  # fmt: skip
    sums = np.matmul(centred(a, a_zero_point, type), centred(b, b_zero_point, b_type))
    return requantized(sums, a_scale * b_scale / y_scale, y_zero_point, type)


def torch(
    torch: Any, a: Any, a_scale: Any, a_zero_point: Any, b: Any, b_scale: Any, b_zero_point: Any, y_scale: Any,
    y_zero_point: Any, *, type: str, b_type: str,
) -> Any:  # fmt: skip
    left, right = torch_centred(torch, a, a_zero_point, type), torch_centred(torch, b, b_zero_point, b_type)
    scale = a_scale.to(torch.float64) * b_scale.to(torch.float64) / y_scale.to(torch.float64)
    return torch_requantized(torch, torch.matmul(left, right), scale, y_zero_point, type)
