"""outer_product_quantized: the transpose of a times the matrix that quantised bytes stand for.

Shapes: a (..., k, m), b (k, bytes) uint8, each row n values in whole blocks of ggml's `type`; y (..., m, n).
The matrix is what gguf decodes, in float64.
Gradient: da = b gᵀ. None for b.
Source: ggml.h, ggml_out_prod with a quantised first argument; the gguf package for the blocks.
PyTorch: none (a product with the decoded matrix). ONNX: none. ggml: ggml_out_prod (b first).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._quant import blocks, decode
from opproof.reference_ops._torch import widened

SIGNATURE = "(...,k,m),(k,q*size)"
ANALYTIC = True
TRAITS = ("long sum",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"b": blocks(params["type"], summed=True)}


def forward(a: Array, b: Array, *, type: str) -> Array:
    return np.matmul(np.swapaxes(a, -1, -2), decode(b, type).astype(np.real(a).dtype))  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, a: Array, b: Array, *, type: str) -> tuple[Array, None]:
    return np.matmul(decode(b, type).astype(g.dtype), np.swapaxes(g, -1, -2)), None


def torch(torch: Any, a: Any, b: Any, *, type: str) -> Any:
    (wide,) = widened(torch, a)
    matrix = torch.from_numpy(decode(b.cpu().numpy(), type)).to(wide)
    return (wide.mT @ matrix).to(a.dtype)
