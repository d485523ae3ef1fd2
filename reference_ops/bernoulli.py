"""bernoulli: 1 with the probability that stands in the same place of x, else 0.

Shapes: x any, numbers from 0 to 1; y as x. What is drawn follows from `key`, by a generator of the implementation's
own: the same key draws the same, another key other numbers. So y is held against chance alone: how many are 1 of those
with small probabilities and with large ones, in all and along each axis, whether another key gives the same. Where the
tensor `drawn` (integers, 0 is none) is given, nothing is drawn, and y is 1 there.
Gradient: none, as PyTorch's is 0.
Source: the definition; Chernoff (1952) and Hoeffding (1956), of the bounds.
PyTorch: torch.bernoulli. ONNX: Bernoulli. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array, Closed
from opproof.reference_ops import _chance

SIGNATURE = "(...)"
DRAWN_FROM = "key"
EXACT = ("forward",)
TRIVIAL = {"forward": ("copy", "constant", "zeros")}  # what is drawn is held against chance alone


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"x": Closed(0.0, 1.0), "drawn": range(2)}


def forward(x: Array, drawn: Array | None = None, *, key: int = 0) -> Array:
    if drawn is None:
        return (_chance.draw_evenly(key, x.shape) < x).astype(x.dtype)
    return (drawn != 0).astype(x.dtype)  # type: ignore[no-any-return]


def drawn(outputs: tuple[Array], x: Array, drawn: Array | None = None, **params: Any) -> tuple[Array, Array]:
    """The tensors, with what an implementation drew."""
    return x, (outputs[0] == 1).astype(np.int64) if drawn is None else drawn


def unfair(
    outputs: tuple[Array], others: tuple[Array] | tuple[()], x: Array, drawn: Array | None = None, *, key: int = 0
) -> str:
    """What is wrong with what was drawn; `others` are the outputs of another key."""
    if drawn is not None:
        return ""
    p, true = np.asarray(x, dtype=np.float64), outputs[0] == 1
    found = _chance.uneven_each(true, p)
    if found or not others:
        return found
    both = float(np.mean(p * p + (1 - p) * (1 - p))) if p.size else 0.0
    return _chance.of_another_key(true == (others[0] == 1), both)


def torch(torch: Any, x: Any, drawn: Any = None, *, key: int = 0) -> Any:
    if drawn is not None:
        return (drawn != 0).to(x.dtype)
    with torch.random.fork_rng():
        torch.manual_seed(key)
        return torch.bernoulli(x)
