"""rope_set_rows: a cache with the rows at the indices replaced by the rows of x, turned as by rope.

Shapes: cache (rows, heads, d), x (tokens, heads, d), positions (tokens,) integers, indices (tokens,) integers in
[0, rows), none twice; y as cache with y[indices[t]] = rope(x)[t]. n_dims, mode, freq_base as those of rope.
Gradient: dcache = g but zero in replaced rows; dx = g of the rows that its tokens stand in, turned back.
None for positions and indices.
Source: Su et al., RoFormer (2021), equation 15; llama.cpp, whose backends fuse ggml_rope and ggml_set_rows.
PyTorch: none. ONNX: none. ggml: none (ggml_rope_ext and ggml_set_rows).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops import rope, set_rows
from opproof.reference_ops._index import Distinct
from opproof.reference_ops._rope import USUAL

SIGNATURE = "(r,h,2*p<257),(t,h,2*p),(t),(t); n_dims=2*p"
ANALYTIC = True
TRAITS = ("indexed",)
IN_PLACE = ("cache",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {
        "positions": range(131072 if params.get("freq_base", 0) >= 1e5 else 200),
        "indices": Distinct(shapes["cache"][0]),
    }


def _params(n_dims: int, mode: str, freq_base: float) -> dict[str, Any]:
    return {**USUAL, "n_dims": n_dims, "mode": mode, "freq_base": freq_base}


def _flat(x: Array) -> Array:
    return np.reshape(x, (x.shape[0], x.shape[1] * x.shape[2]))


def forward(
    cache: Array,
    x: Array,
    positions: Array,
    indices: Array,
    *,
    n_dims: int,
    mode: str = "norm",
    freq_base: float = 10000.0,
) -> Array:
    turned = rope.forward(x[None], positions, **_params(n_dims, mode, freq_base))[0]
    return np.reshape(set_rows.forward(_flat(cache), _flat(turned), indices), cache.shape)


def vjp(
    g: Array,
    y: Array,
    cache: Array,
    x: Array,
    positions: Array,
    indices: Array,
    *,
    n_dims: int,
    mode: str = "norm",
    freq_base: float = 10000.0,
) -> tuple[Array, Array, None, None]:
    dcache, dturned, _ = set_rows.vjp(_flat(g), y, _flat(cache), _flat(x), indices)
    back = np.reshape(dturned, x.shape)[None]
    dx = rope.vjp(back, y, x[None], positions, **_params(n_dims, mode, freq_base))[0]
    return np.reshape(dcache, cache.shape), dx[0], None, None


def torch(
    torch: Any,
    cache: Any,
    x: Any,
    positions: Any,
    indices: Any,
    *,
    n_dims: int,
    mode: str = "norm",
    freq_base: float = 10000.0,
) -> Any:
    turned = rope.torch(torch, x[None], positions, **_params(n_dims, mode, freq_base))[0]
    return cache.index_copy(0, indices, turned)
