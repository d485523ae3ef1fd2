"""matmul_quantized: a times the transposed matrix that quantised bytes stand for.

Shapes: a (..., m, k), b (n, bytes) uint8, each row k values in whole blocks of ggml's `type`; y (..., m, n).
The weights are what gguf decodes, in float64; a backend that also quantises a declares it (compute "q8").
Gradient: da = g b. None for b.
Source: ggml.h, ggml_mul_mat with a quantised first argument; the gguf package for the blocks.
PyTorch: none (torch.nn.functional.linear of the decoded weights). ONNX: MatMulNBits (of q4_0-like blocks).
ggml: ggml_mul_mat.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._quant import blocks, decode
from opproof.reference_ops._torch import widened

SIGNATURE = "(...,m,q*block),(n,q*size)"
ANALYTIC = True
TRAITS = ("long sum",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"b": blocks(params["type"], summed=True)}


def forward(a: Array, b: Array, *, type: str) -> Array:
    return np.matmul(a, decode(b, type).astype(np.real(a).dtype).T)  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, a: Array, b: Array, *, type: str) -> tuple[Array, None]:
    return np.matmul(g, decode(b, type).astype(g.dtype)), None


def torch(torch: Any, a: Any, b: Any, *, type: str) -> Any:
    (wide,) = widened(torch, a)
    weights = torch.from_numpy(decode(b.cpu().numpy(), type)).to(wide)
    return torch.nn.functional.linear(wide, weights).to(a.dtype)
