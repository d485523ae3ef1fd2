"""scaled_mm: the product of two matrices of codes, each with a scale for the whole or for every row.

Shapes: a (m, k) and b (n, k) uint8, codes of `type`: f8e4m3, f8e5m2, i8 or u8; scale_a 0d or (m,), scale_b 0d or (n,)
floats; y (m, n) = (scale_a · a) (scale_b · b)ᵀ, in the dtype of the scales.
Gradient: dscale_a = the sums of (g b) · a over what shares a scale, g multiplied by scale_b first; dscale_b likewise.
None for codes.
Source: Micikevicius et al., FP8 Formats for Deep Learning (2022), section 3; Jacob et al., Quantization and Training of
Neural Networks for Efficient Integer-Arithmetic-Only Inference (2018), section 2.2.
PyTorch: torch._scaled_mm (of fp8). ONNX: MatMulInteger, then Mul. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops import _codes as codes
from opproof.reference_ops._arrays import unbroadcast
from opproof.reference_ops._torch import widened

SIGNATURE = "(m,k),(n,k),(),() | (m,k),(n,k),(m),(n)"
BEYOND = True
ANALYTIC = True
TRAITS = ("long sum",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    drawn = codes.weights(params["type"])
    return {"a": drawn, "b": drawn, "scale_a": (0.0, np.inf), "scale_b": (0.0, np.inf)}


def _values(data: Array, like: Array, type: str) -> Array:
    return codes.decode(data, type).astype(np.real(like).dtype)


def _column(scale: Array) -> Array:
    return scale[:, None] if scale.ndim else scale


def forward(a: Array, b: Array, scale_a: Array, scale_b: Array, *, type: str) -> Array:
    rows, columns = (_values(data, scale, type) * _column(scale) for data, scale in ((a, scale_a), (b, scale_b)))
    return np.matmul(rows, np.swapaxes(columns, 0, 1))  # type: ignore[no-any-return]


def vjp(
    g: Array, y: Array, a: Array, b: Array, scale_a: Array, scale_b: Array, *, type: str
) -> tuple[None, None, Array, Array]:
    rows, columns = _values(a, g, type), _values(b, g, type)
    of_a = np.matmul(g * scale_b, columns) * rows
    of_b = np.matmul(np.swapaxes(g * _column(scale_a), 0, 1), rows) * columns
    sums = ((of_a, scale_a), (of_b, scale_b))
    da, db = (np.reshape(unbroadcast(of, _column(scale).shape), scale.shape) for of, scale in sums)
    return None, None, da, db


def torch(torch: Any, a: Any, b: Any, scale_a: Any, scale_b: Any, *, type: str) -> Any:
    left, right = widened(torch, scale_a, scale_b)
    rows, columns = (codes.torch_values(torch, v, type).to(left) for v in (a, b))
    left, right = (v.unsqueeze(-1) if v.ndim else v for v in (left, right))
    return torch.nn.functional.linear(rows * left, columns * right).to(scale_a.dtype)
