"""cumprod: the product of all elements up to and with each one, along `dim`.

Shapes: x any; y as x.
Gradient: the product before an element times s, where s = g + x_next s_next backwards (right at zeros too).
Source: the product rule, its sum gathered as in Horner's scheme.
PyTorch: torch.cumprod. ONNX: CumProd. ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._passed import of_sizes

ANALYTIC = True
MULTILINEAR = True
TRAITS = ("rowwise", "long product")
KINDS = ("signed", "unsigned")
IN_PLACE = ("x",)


def forward(x: Array, *, dim: int) -> Array:
    return np.cumprod(x, axis=dim) if x.ndim else x


def vjp(g: Array, y: Array, x: Array, *, dim: int) -> Array:
    if x.size == 0 or not x.ndim:
        return g
    rows, upstream = np.swapaxes(x, dim, -1), np.swapaxes(g, dim, -1)
    before = np.concatenate([np.ones_like(rows[..., :1]), np.cumprod(rows[..., :-1], axis=-1)], axis=-1)
    after = [upstream[..., -1]]
    for i in range(rows.shape[-1] - 2, -1, -1):
        after.append(upstream[..., i] + rows[..., i + 1] * after[-1])
    return np.swapaxes(before * np.stack(after[::-1], axis=-1), dim, -1)


def partials(x: Array, *, dim: int) -> Iterator[Array]:
    return of_sizes(lambda sizes: forward(sizes, dim=dim), x)


def torch(torch: Any, x: Any, *, dim: int) -> Any:
    return torch.cumprod(x, dim)
