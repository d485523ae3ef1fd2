"""matmul_integer: the product of two matrices of 8-bit integers, each less its zero point, without rounding.

Shapes: a (..., m, k) and b (..., k, n) uint8, codes of `type` and of `b_type`: i8 (two's complement) or u8; batch axes
broadcast; a_zero_point 0d or none; b_zero_point 0d, (n,) or none; y (..., m, n) integers, of at least 32 bits.
Gradient: none, the inputs are integers.
Source: ONNX, MatMulInteger; Jacob et al., Quantization and Training of Neural Networks for Efficient
Integer-Arithmetic-Only Inference (2018), section 2.2.
PyTorch: torch._int_mm (of i8). ONNX: MatMulInteger. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops import _codes as codes
from opproof.reference_ops._integers import ZEROS, centred, integers, torch_centred

SIGNATURE = "(...,m,k),(...,k,n),()?,()?"
EXACT = ("forward",)
TRAITS = ("long sum",)


def domain(shapes: dict[str, tuple[int, ...]], *, type: str, b_type: str) -> dict[str, Any]:
    drawn = {"a": codes.weights(type), "b": codes.weights(b_type)}
    return {**drawn, "a_zero_point": ZEROS[type], "b_zero_point": ZEROS[b_type]}


def forward(
    a: Array, b: Array, a_zero_point: Array | None = None, b_zero_point: Array | None = None, *, type: str, b_type: str
) -> Array:
    return integers(np.matmul(centred(a, a_zero_point, type), centred(b, b_zero_point, b_type)))


def torch(
    torch: Any, a: Any, b: Any, a_zero_point: Any = None, b_zero_point: Any = None, *, type: str, b_type: str
) -> Any:
    left, right = torch_centred(torch, a, a_zero_point, type), torch_centred(torch, b, b_zero_point, b_type)
    return torch.matmul(left, right).to(torch.int64)
