"""mul_mat_id: each token's vectors times the matrices of the experts chosen for it (mixture of experts).

Shapes: a (experts, m, k), b (tokens, used, k) or (tokens, 1, k), ids (tokens, used) integers in [0, experts);
y (tokens, used, m) with y[t, u] = a[ids[t, u]] b[t, u], b[t, 0] where its second axis is 1.
Gradient: da[e] = the sum of g[t, u] b[t, u]ᵀ over all (t, u) that chose e, zero where none did; db[t, u] =
a[ids[t, u]]ᵀ g[t, u], summed over u where b was broadcast. None for ids.
Source: Shazeer et al., Outrageously Large Neural Networks (2017), equation 1, without the gate.
PyTorch: none. ONNX: none. ggml: ggml_mul_mat_id.
"""

import math
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import unbroadcast

SIGNATURE = "(e,m,k),(t,u<9,k),(t,u) | (e,m,k),(t,1,k),(t,u<9)"
ANALYTIC = True
MULTILINEAR = True
TRAITS = ("long sum", "indexed", "multiplies")
LIKE = "b"


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"ids": range(shapes["a"][0])}


def forward(a: Array, b: Array, ids: Array) -> Array:
    return np.matmul(a[ids], b[..., None])[..., 0]  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, a: Array, b: Array, ids: Array) -> tuple[Array, Array, None]:
    experts, m, k = a.shape
    slots = math.prod(ids.shape)
    chosen = np.reshape(ids[..., None] == np.arange(experts), (slots, experts, 1))
    per_expert = np.reshape(np.where(chosen, np.reshape(g, (slots, 1, m)), 0), (slots, experts * m))
    vectors = np.reshape(np.broadcast_to(b, (*ids.shape, k)), (slots, k))
    da = np.reshape(np.matmul(np.swapaxes(per_expert, 0, 1), vectors), a.shape)
    db = np.matmul(g[:, :, None, :], a[ids])[:, :, 0, :]
    return da, unbroadcast(db, b.shape), None


def torch(torch: Any, a: Any, b: Any, ids: Any) -> Any:
    return torch.einsum("tumk,tuk->tum", a[ids], b.expand(*ids.shape, b.shape[-1]))
