"""all_to_all: each process cuts what it holds into parts along `split_dim`, and gives one to every process.

Shapes: x (r, ...): what each of r processes holds, a multiple of r along split_dim; y (r, ...): process i gets the i-th
part of every process, one behind the other along concat_dim; both axes are of what one process holds.
Gradient: g sent back the way that its number came.
Source: MPI: A Message-Passing Interface Standard (2021), section 6.8, MPI_Alltoall; StableHLO, all_to_all.
PyTorch: none (torch.distributed.all_to_all_single). ONNX: none. ggml: none. JAX: jax.lax.all_to_all (tiled).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(r,r*n,m)"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward", "vjp")
TRIVIAL = {"forward": ("copy",), "vjp": ("copy",)}  # of one process


def _exchange(x: Array, split_dim: int, concat_dim: int) -> Array:
    if not x.shape[0] or x.shape[1:][split_dim] % x.shape[0]:
        raise ValueError(f"an axis of {x.shape[1:][split_dim]} is no whole parts for {x.shape[0]} processes")
    parts = [np.split(one, x.shape[0], axis=split_dim) for one in x]
    return np.stack([np.concatenate(given, axis=concat_dim) for given in zip(*parts, strict=True)])


def forward(x: Array, *, split_dim: int = 0, concat_dim: int = 0) -> Array:
    return _exchange(x, split_dim, concat_dim)


def vjp(g: Array, y: Array, x: Array, *, split_dim: int = 0, concat_dim: int = 0) -> Array:
    return _exchange(g, concat_dim, split_dim)


def torch(torch: Any, x: Any, *, split_dim: int = 0, concat_dim: int = 0) -> Any:
    r = x.shape[0]
    parts = torch.stack(x.chunk(r, dim=split_dim if split_dim < 0 else split_dim + 1))  # (receiver, sender, ...)
    return torch.stack([torch.cat(given.unbind(0), dim=concat_dim) for given in parts.unbind(0)])
