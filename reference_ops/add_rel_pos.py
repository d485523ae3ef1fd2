"""add_rel_pos: scores of an image's attention plus what belongs to each query and key row, and query and key column.

Shapes: x (n, qh qw, kh kw), rel_w (n, qh, qw, kw), rel_h (n, qh, qw, kh); y as x with
y[i, j, l] = x + rel_h[..., row of key] + rel_w[..., column of key].
Gradient: dx = g; drel_h = g summed over key columns, drel_w = g summed over key rows.
Source: Kirillov et al., Segment Anything (2023); Li et al., MViTv2 (2022), equation 4.
PyTorch: none. ONNX: none. ggml: ggml_add_rel_pos (kh = kw).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._torch import widened

SIGNATURE = "(b,qh*qw,kh*kw),(b,qh,qw,kw),(b,qh,qw,kh)"
ANALYTIC = True
MULTILINEAR = True
IN_PLACE = ("x",)


def _keys(x: Array, rel_w: Array, rel_h: Array) -> Array:
    """Scores with the axis of keys taken apart: (n, qh, qw, kh, kw)."""
    return np.reshape(x, (*rel_h.shape, rel_w.shape[3]))


def forward(x: Array, rel_w: Array, rel_h: Array) -> Array:
    return np.reshape(_keys(x, rel_w, rel_h) + rel_h[..., None] + rel_w[..., None, :], x.shape)


def vjp(g: Array, y: Array, x: Array, rel_w: Array, rel_h: Array) -> tuple[Array, Array, Array]:
    apart = _keys(g, rel_w, rel_h)
    return g, np.sum(apart, axis=3), np.sum(apart, axis=4)


def torch(torch: Any, x: Any, rel_w: Any, rel_h: Any) -> Any:
    wide, w, h = widened(torch, x, rel_w, rel_h)
    both = h.flatten(1, 2).repeat_interleave(w.shape[3], dim=-1) + w.flatten(1, 2).repeat(1, 1, h.shape[3])
    return (wide + both).to(x.dtype)
