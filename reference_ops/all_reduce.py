"""all_reduce: the sum of what all processes hold, or its mean, product, largest or least, given to each of them.

Shapes: x (r, ...): what each of r processes holds; y as x: what each of them gets, so that all rows are alike.
Gradient: none here; of the sum and the mean libraries have one.
Source: MPI: A Message-Passing Interface Standard (2021), section 6.9.6, MPI_Allreduce; StableHLO, all_reduce.
PyTorch: none (torch.distributed.all_reduce). ONNX: none. ggml: none. JAX: jax.lax.psum, pmean, pmax, pmin.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._torch import widened

SIGNATURE = "(r,n)"
TRAITS = ("long sum",)
TRIVIAL = {"forward": ("copy", "constant")}  # of one process, or one number
_REDUCE: dict[str, Any] = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min}


def _reduced(x: Array, reduction: str) -> Array:
    if not x.ndim or not x.shape[0]:
        raise ValueError("there is no process")
    return _REDUCE[reduction](x, axis=0, keepdims=True)  # type: ignore[no-any-return]


def forward(x: Array, *, reduction: str = "sum") -> Array:
    return np.broadcast_to(_reduced(x, reduction), x.shape)


def torch(torch: Any, x: Any, *, reduction: str = "sum") -> Any:
    if not x.dim() or not x.shape[0]:
        raise ValueError("there is no process")
    (wide,) = widened(torch, x)
    name = {"max": "amax", "min": "amin"}.get(reduction, reduction)
    return getattr(torch, name)(wide, dim=0, keepdim=True).expand(x.shape).to(x.dtype)
