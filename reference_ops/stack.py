"""stack: tensors of one shape side by side on a new axis `dim`.

Shapes: xs alike; y with an axis of their number put in at `dim`.
Gradient: each tensor's slice of g.
Source: the definition.
PyTorch: torch.stack. ONNX: none (Unsqueeze and Concat). ggml: none (ggml_concat).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(...)*"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward", "vjp")
KINDS = ("float8", "signed", "unsigned")


def forward(*xs: Array, dim: int = 0) -> Array:
    return np.stack(xs, axis=dim)


def vjp(g: Array, y: Array, *xs: Array, dim: int = 0) -> tuple[Array, ...]:
    return tuple(np.moveaxis(g, dim, 0)[i] for i in range(len(xs)))


def torch(torch: Any, *xs: Any, dim: int = 0) -> Any:
    return torch.stack(xs, dim)
