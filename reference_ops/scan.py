"""scan: a state that goes through the rows of x, one after the other, and what it is after each of them.

h becomes f(h, x[t]) for every t in turn; `function` names f, an operator of ours: add or sub.
Shapes: h (n,), x (t, n); last as h, the state behind the last row, and y as x, the state after each row.
Gradient: that of each call, from the last to the first.
Source: ONNX, Scan.
PyTorch: none. ONNX: Scan. ggml: none. JAX: jax.lax.scan.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._functions import advance, pull_back

SIGNATURE = "(n),(t,n)"
OUTPUTS = ("last", "y")
TRAITS = ("long sum",)
NEIGHBOURS = ("cumsum",)


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"h": -1, "x": -1, "last": -1, "y": -1}]


def forward(h: Array, x: Array, *, function: str) -> tuple[Array, Array]:
    if h.shape != x.shape[1:]:
        raise ValueError(f"the state is of {h.shape}, and rows are of {x.shape[1:]}")
    states = advance(h, list(x), function)
    return states[-1], np.stack(states[1:]) if len(x) else np.zeros(x.shape, dtype=x.dtype, like=x)


def vjp(g: tuple[Array, Array], y: tuple[Array, Array], h: Array, x: Array, *, function: str) -> tuple[Array, Array]:
    steps, zeros = list(x), np.zeros(x.shape, dtype=g[0].dtype, like=g[0])
    if not steps:
        return g[0], zeros
    gs = [None, *g[1][:-1], g[0] + g[1][-1]]
    dh, dx = pull_back(gs, advance(h, steps, function), steps, function)
    return dh, np.stack(dx)


def torch(torch: Any, h: Any, x: Any, *, function: str) -> Any:
    states, state = [], h.clone()
    for row in x.unbind(0):
        state = getattr(torch, function)(state, row)
        states.append(state)
    return state, torch.stack(states) if states else torch.zeros_like(x)
