"""argwhere: where the elements stand that are not zero, row by row: the first `size` of them.

Shapes: x any; y (size, rank of x) int64, the place of each along every axis; fill_value where there are fewer. Without
`size`, as NumPy has it, the number of rows depends on the data, and no case says it.
Gradient: none, the output is a list of places.
Source: the definition.
PyTorch: torch.nonzero_static, torch.nonzero (of no size), torch.argwhere. ONNX: NonZero (transposed). ggml: none.
JAX: jax.numpy.argwhere.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(...)"
EXACT = ("forward",)
TRAITS = ("jumps at zero",)
TRIVIAL = {"forward": ("constant", "zeros")}  # of no element but zeros, or one axis' first


def forward(x: Array, *, size: int, fill_value: int = -1) -> Array:
    found = np.argwhere(x != 0)[:size]
    y = np.full((size, x.ndim), fill_value, dtype=np.int64)
    y[: found.shape[0]] = found
    return y


def torch(torch: Any, x: Any, *, size: int, fill_value: int = -1) -> Any:
    return torch.nonzero_static(x, size=size, fill_value=fill_value)
