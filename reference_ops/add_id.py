"""add_id: to each token's vectors, the vectors of the experts chosen for it (mixture of experts).

Shapes: a (tokens, used, n), b (experts, n), ids (tokens, used) integers in [0, experts); y as a with
y[t, u] = a[t, u] + b[ids[t, u]].
Gradient: da = g; db[e] = the sum of g[t, u] over all (t, u) that chose e, zero where none did. None for ids.
Source: ggml.h, ggml_add_id.
PyTorch: none. ONNX: none. ggml: ggml_add_id.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(t,u,n),(e,n),(t,u)"
ANALYTIC = True
MULTILINEAR = True
TRIVIAL = {"vjp": ("copy",)}  # da alone, where only that is asked for
TRAITS = ("long sum", "indexed")
IN_PLACE = ("a",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"ids": range(shapes["b"][0])}


def forward(a: Array, b: Array, ids: Array) -> Array:
    return a + b[ids]


def vjp(g: Array, y: Array, a: Array, b: Array, ids: Array) -> tuple[Array, Array, None]:
    db = np.zeros_like(b, dtype=g.dtype)
    np.add.at(db, ids, g)
    return g, db, None


def torch(torch: Any, a: Any, b: Any, ids: Any) -> Any:
    return a + torch.nn.functional.embedding(ids, b)
