"""reduce_scatter: the sum of what all processes hold, cut into as many parts, of which each process gets its own.

Shapes: x (r, r parts, n): what each of r processes holds; y (r, parts, n): process i gets the i-th part of the sum, or
of the mean, the largest or the least numbers.
Gradient: none here; of the sum libraries have one.
Source: MPI: A Message-Passing Interface Standard (2021), section 6.10.1, MPI_Reduce_scatter_block; StableHLO,
reduce_scatter.
PyTorch: none (torch.distributed.reduce_scatter_tensor). ONNX: none. ggml: none. JAX: jax.lax.psum_scatter (sum).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._torch import widened

SIGNATURE = "(r,r*p,n)"
TRAITS = ("long sum",)
TRIVIAL = {"forward": ("copy", "constant")}  # of one process, or one number
_REDUCE: dict[str, Any] = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min}


def forward(x: Array, *, reduction: str = "sum") -> Array:
    if not x.shape[0] or x.shape[1] % x.shape[0]:
        raise ValueError(f"{x.shape[1]} rows are no whole parts for {x.shape[0]} processes")
    total = _REDUCE[reduction](x, axis=0)
    return np.reshape(total, (x.shape[0], x.shape[1] // x.shape[0], *x.shape[2:]))


def torch(torch: Any, x: Any, *, reduction: str = "sum") -> Any:
    (wide,) = widened(torch, x)
    name = {"max": "amax", "min": "amin"}.get(reduction, reduction)
    return torch.stack(getattr(torch, name)(wide, dim=0).chunk(x.shape[0])).to(x.dtype)
