"""all_gather: what all processes hold, one behind the other along `dim`, given to each of them.

Shapes: x (r, ...): what each of r processes holds; y (r, ...): what each of them gets, r times as long along dim,
an axis of what one process holds, so that all rows are alike.
Gradient: each process's part of the sum of g over the processes.
Source: MPI: A Message-Passing Interface Standard (2021), section 6.7, MPI_Allgather; StableHLO, all_gather.
PyTorch: none (torch.distributed.all_gather_into_tensor). ONNX: none. ggml: none. JAX: jax.lax.all_gather (tiled).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(r,n,m)"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward",)


def forward(x: Array, *, dim: int = 0) -> Array:
    if not x.shape[0]:
        raise ValueError("there is no process")
    joined = np.concatenate(list(x), axis=dim)
    return np.broadcast_to(joined, (x.shape[0], *joined.shape))


def vjp(g: Array, y: Array, x: Array, *, dim: int = 0) -> Array:
    return np.stack(np.split(np.sum(g, axis=0), x.shape[0], axis=dim))


def torch(torch: Any, x: Any, *, dim: int = 0) -> Any:
    joined = torch.cat(x.unbind(0), dim=dim)
    return joined.expand(x.shape[0], *joined.shape)
