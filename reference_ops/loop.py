"""loop: a state x to which one function is applied again and again, as often as `trips` says.

x becomes f(x, b), `trips` times; `function` names f, an operator of ours: add, sub, mul or logaddexp.
Shapes: trips (1,) integer from 0 to 5, x any, b as x; y as x.
Gradient: that of each call, from the last to the first: dx through all of them, db their sum. None for trips.
Source: StableHLO, while; ONNX, Loop; TOSA, while_loop.
PyTorch: none (torch.while_loop, which is compiled). ONNX: Loop. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._functions import advance, pull_back

SIGNATURE = "(1),(...),(...)"
LIKE = "x"
TRIVIAL = {
    "forward": ("copy", "constant"),
    "vjp": ("zeros", "copy", "constant"),
}  # of no trip; of products of small numbers
_TRIPS = range(6)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"trips": _TRIPS}


def _steps(trips: Array, x: Array, b: Array) -> list[Array]:
    if x.shape != b.shape:
        raise ValueError(f"the tensors are of {x.shape} and {b.shape}")
    return [b] * int(trips[0])


def forward(trips: Array, x: Array, b: Array, *, function: str) -> Array:
    return advance(x, _steps(trips, x, b), function)[-1]


def vjp(g: Array, y: Array, trips: Array, x: Array, b: Array, *, function: str) -> tuple[None, Array, Array]:
    steps = _steps(trips, x, b)
    dx, each = pull_back([*[None] * len(steps), g], advance(x, steps, function), steps, function)
    return None, dx, sum(each, np.zeros(b.shape, dtype=g.dtype, like=g))


def torch(torch: Any, trips: Any, x: Any, b: Any, *, function: str) -> Any:
    y = x.clone()
    for _ in range(int(trips[0])):
        y = getattr(torch, function)(y, b)
    return y
