"""mul_mat_id_quantized: each token's vectors times the quantised matrices of the experts chosen for it.

Shapes: a (experts, m, bytes) uint8, each row k values in whole blocks of ggml's `type`; b (tokens, used, k) or
(tokens, 1, k), ids (tokens, used) integers in [0, experts); y (tokens, used, m) with y[t, u] = a[ids[t, u]] b[t, u],
b[t, 0] where its second axis is 1. The weights are what gguf decodes; a backend that also quantises b declares it
(compute "q8").
Gradient: db[t, u] = a[ids[t, u]]ᵀ g[t, u], summed over u where b was broadcast. None for a and ids.
Source: ggml.h, ggml_mul_mat_id with quantised experts; the gguf package for the blocks.
PyTorch: none. ONNX: none. ggml: ggml_mul_mat_id.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import unbroadcast
from opproof.reference_ops._quant import blocks, decode
from opproof.reference_ops._torch import widened

SIGNATURE = "(e,m,q*size),(t,u<9,q*block),(t,u) | (e,m,q*size),(t,1,q*block),(t,u<9)"
ANALYTIC = True
TRAITS = ("long sum", "indexed")
LIKE = "b"


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"a": blocks(params["type"], summed=True), "ids": range(shapes["a"][0])}


def forward(a: Array, b: Array, ids: Array, *, type: str) -> Array:
    weights = decode(a, type).astype(np.real(b).dtype)
    return np.matmul(weights[ids], b[..., None])[..., 0]  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, a: Array, b: Array, ids: Array, *, type: str) -> tuple[None, Array, None]:
    weights = decode(a, type).astype(g.dtype)
    return None, unbroadcast(np.matmul(g[:, :, None, :], weights[ids])[:, :, 0, :], b.shape), None


def torch(torch: Any, a: Any, b: Any, ids: Any, *, type: str) -> Any:
    (wide,) = widened(torch, b)
    weights = torch.from_numpy(decode(a.cpu().numpy(), type)).to(wide)
    return torch.einsum("tumk,tuk->tum", weights[ids], wide.expand(*ids.shape, wide.shape[-1])).to(b.dtype)
