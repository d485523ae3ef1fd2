"""get_rel_pos: for each query and key, the row of a table that belongs to their distance.

Shapes: x (q_size + k_size - 1, c); y (q_size, k_size, c) with y[q, k] = x[q - k + k_size - 1].
Gradient: each g added to the row it was read from.
Source: Kirillov et al., Segment Anything (2023); Shaw et al., Self-Attention with Relative Position Representations
(2018), section 3.2. ggml has q_size = k_size only.
PyTorch: none. ONNX: none (Gather). ggml: ggml_get_rel_pos.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.reference_ops._torch import widened

SIGNATURE = "(q+k-1,c); q_size=q; k_size=k"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward",)


def _rows(q_size: int, k_size: int) -> NDArray[np.int64]:
    return np.arange(q_size)[:, None] - np.arange(k_size) + k_size - 1


def forward(x: Array, *, q_size: int, k_size: int) -> Array:
    return x[_rows(q_size, k_size)]


def vjp(g: Array, y: Array, x: Array, *, q_size: int, k_size: int) -> Array:
    dx = np.zeros_like(x, dtype=g.dtype)
    np.add.at(dx, _rows(q_size, k_size), g)
    return dx


def torch(torch: Any, x: Any, *, q_size: int, k_size: int) -> Any:
    # Windows of k_size rows, one per query, each read backwards.
    (wide,) = widened(torch, x)
    return wide.unfold(0, k_size, 1).flip(-1).transpose(1, 2).to(x.dtype)
