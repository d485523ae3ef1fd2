"""collective_permute: each process sends what it holds to another one, as `pairs` say: from, to, from, to and so on.

Shapes: x (r, ...): what each of r processes holds; y as x: what each of them gets, zeros where nobody sends it
anything. No process sends or gets twice.
Gradient: g sent back the way that its number came.
Source: StableHLO, collective_permute.
PyTorch: none (torch.distributed.batch_isend_irecv). ONNX: none. ggml: none. JAX: jax.lax.ppermute.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(r,n)"
ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward", "vjp")
TRIVIAL = {"forward": ("copy",), "vjp": ("copy",)}  # where all hold the same


def _send(x: Array, sources: tuple[int, ...], targets: tuple[int, ...]) -> Array:
    if any(len(set(ends)) < len(ends) or not set(ends) <= {*range(x.shape[0])} for ends in (sources, targets)):
        raise ValueError(f"{sources} and {targets} are no different ones of {x.shape[0]} processes")
    y = np.zeros(x.shape, dtype=x.dtype, like=x)
    y[list(targets)] = x[list(sources)]
    return y


def forward(x: Array, *, pairs: tuple[int, ...]) -> Array:
    return _send(x, pairs[::2], pairs[1::2])


def vjp(g: Array, y: Array, x: Array, *, pairs: tuple[int, ...]) -> Array:
    return _send(g, pairs[1::2], pairs[::2])


def torch(torch: Any, x: Any, *, pairs: tuple[int, ...]) -> Any:
    came = dict(zip(pairs[1::2], pairs[::2], strict=True))
    return torch.stack([x[came[i]] if i in came else torch.zeros_like(x[i]) for i in range(x.shape[0])])
