"""unique: the different elements of x in order, the first `size` of them, how often each stands there, and where.

Shapes: x any; values (size,) as x, ascending, and counts (size,) int64, filled up with fill_value and with 0 where
there are fewer; inverse int64 as x, the number of each element among all values. Without `size`, as NumPy has it, the
number of values depends on the data, and no case says it.
Gradient: none; PyTorch has none either.
Source: the definition.
PyTorch: torch.unique (of no size). ONNX: Unique (of no size). ggml: none. JAX: jax.numpy.unique.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(...)"
EXACT = ("forward",)
OUTPUTS = ("values", "inverse", "counts")
ON_REQUEST = ("inverse", "counts")
TRAITS = ("ordered",)
TRIVIAL = {"forward": ("constant", "zeros")}  # of elements that are all one


def forward(x: Array, *, size: int, fill_value: float = 0.0) -> tuple[Array, Array, Array]:
    found, inverse, often = np.unique(x, return_inverse=True, return_counts=True)
    values, counts = np.full(size, fill_value, dtype=x.dtype, like=x), np.zeros(size, dtype=np.int64)
    kept = min(size, found.size)
    values[:kept], counts[:kept] = found[:kept], often[:kept]
    return values, np.reshape(inverse, x.shape), counts


def torch(torch: Any, x: Any, *, size: int, fill_value: float = 0.0) -> Any:
    found, inverse, often = torch.unique(x.detach(), return_inverse=True, return_counts=True)
    kept = min(size, found.numel())
    values = torch.full((size,), fill_value, dtype=x.dtype)
    counts = torch.zeros(size, dtype=torch.int64)
    values[:kept], counts[:kept] = found[:kept], often[:kept]
    return values, inverse, counts
