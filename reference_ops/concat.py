"""concat: the tensors one after another along `dim`.

Shapes: xs alike but for their size along `dim`; y with the sum of those sizes.
Gradient: each tensor's part of g.
Source: the definition.
PyTorch: torch.cat. ONNX: Concat. ggml: ggml_concat (two tensors).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(...)*"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward", "vjp")
KINDS = ("float8", "signed", "unsigned")


def forward(*xs: Array, dim: int) -> Array:
    return np.concatenate(xs, axis=dim)


def vjp(g: Array, y: Array, *xs: Array, dim: int) -> tuple[Array, ...]:
    parts, start = [], 0
    for x in xs:
        where = [slice(None)] * x.ndim
        where[dim] = slice(start, start + x.shape[dim])
        parts.append(g[tuple(where)])
        start += x.shape[dim]
    return tuple(parts)


def torch(torch: Any, *xs: Any, dim: int) -> Any:
    return torch.cat(xs, dim)
