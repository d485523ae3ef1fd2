"""attention_quantized: softmax(scale q kᵀ) v of keys and values in a quantised cache.

Shapes: query (n, heads, q, e); key (n, groups, k, bytes) and value (n, groups, k, bytes) uint8, rows of e and f
values in whole blocks of ggml's `type`; keep (integers, 0 leaves the score out) broadcasts to (n, heads, q, k);
y (n, heads, q, f). heads is a multiple of groups, head h reads group h // (heads / groups). Scores are scaled by
1 / sqrt(e) where scale is None. A row that sees nothing gives zeros. Keys and values are what gguf decodes; a backend
that also quantises the queries declares it (compute "q8").
Gradient: with P the probabilities, dquery = scale P (g vᵀ - sum(g y)) k, from the saved output. None for the others.
Source: ggml.h, ggml_flash_attn_ext with quantised K and V; the gguf package for the blocks.
PyTorch: torch.nn.functional.scaled_dot_product_attention of the decoded keys and values. ONNX: none.
ggml: ggml_flash_attn_ext.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._attention import softmax
from opproof.reference_ops._quant import blocks, decode
from opproof.reference_ops._torch import widened

SIGNATURE = "(n<5,g*r<9,q,e*block),(n,g<9,k,e*size),(n,g,k,e*size)"
ANALYTIC = True
TRAITS = ("shares", "long sum")


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {**dict.fromkeys(("key", "value"), blocks(params["type"], summed=True)), "keep": range(2)}


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    batch = dict.fromkeys(("query", "key", "value", "keep", "y"), -4)
    return [batch, dict.fromkeys(("query", "keep", "y"), -2)]


def _decoded(data: Array, type: str, query: Array) -> Array:
    """Each group's rows once for every head that reads them."""
    values = decode(data, type).astype(np.real(query).dtype)
    return np.repeat(values, query.shape[-3] // max(data.shape[-3], 1), axis=-3)


def _factor(query: Array, scale: float | None) -> float:
    return 1 / math.sqrt(max(query.shape[-1], 1)) if scale is None else scale


def _shares(query: Array, key: Array, keep: Array | None, type: str, scale: float | None) -> Array:
    """The probabilities (n, heads, q, k); of a row that sees nothing zeros."""
    scores = np.matmul(query, np.swapaxes(_decoded(key, type, query), -1, -2)) * _factor(query, scale)
    return softmax(scores if keep is None else np.where(keep != 0, scores, -np.inf))[0]


def forward(
    query: Array, key: Array, value: Array, keep: Array | None = None, *, type: str, scale: float | None = None
) -> Array:
    shares = _shares(query, key, keep, type, scale)
    return np.matmul(shares, _decoded(value, type, query))  # type: ignore[no-any-return]


def conventions(
    query: Array, key: Array, value: Array, keep: Array | None = None, *, type: str, scale: float | None = None
) -> Iterator[Array]:
    if keep is not None:  # a row that is masked in full
        y = forward(query, key, value, keep, type=type, scale=scale)
        seen = np.broadcast_to(keep != 0, (*query.shape[:-1], key.shape[-2]))
        yield np.where(np.any(seen, axis=-1, keepdims=True), y, np.nan)


def hidden(
    query: Array, key: Array, value: Array, keep: Array | None = None, *, type: str, scale: float | None = None
) -> tuple[Array | None, ...]:
    if keep is None:
        return None, None, None, None
    seen = np.broadcast_to(keep != 0, (*query.shape[:-1], key.shape[-2]))
    return np.broadcast_to(~np.any(seen, axis=-1, keepdims=True), query.shape), None, None, None


def vjp(
    g: Array, y: Array, query: Array, key: Array, value: Array, keep: Array | None = None,
    *, type: str, scale: float | None = None,
) -> tuple[Array, None, None, None]:  # fmt: skip
    shares = _shares(query, key, keep, type, scale)
    along = np.sum(g * y, axis=-1, keepdims=True)
    dscores = shares * (np.matmul(g, np.swapaxes(_decoded(value, type, query), -1, -2)) - along)
    return np.matmul(dscores * _factor(query, scale), _decoded(key, type, query)), None, None, None


def torch(
    torch: Any, query: Any, key: Any, value: Any, keep: Any = None, *, type: str, scale: float | None = None
) -> Any:
    (wide,) = widened(torch, query)
    k, v = (torch.from_numpy(decode(data.cpu().numpy(), type)).to(wide) for data in (key, value))
    sdpa = torch.nn.functional.scaled_dot_product_attention
    mask = None if keep is None else keep != 0
    return sdpa(wide, k, v, mask, scale=scale, enable_gqa=True).to(query.dtype)
