"""random_uniform: numbers that are drawn evenly between low and high.

Shapes: x any, of which nothing but the shape and dtype is used; y as x. Which numbers are drawn follows from `key`,
by a generator of the implementation's own: the same key draws the same ones, another key others. So y is held against
chance alone: that all lie between low and high, high itself only by rounding, how many lie below each of some
thresholds, in all and along each axis, whether they repeat themselves, whether another key gives the same. Where the
tensor `drawn` is given, nothing is drawn, and y is that.
Gradient: none, nothing depends on x.
Source: the definition; Chernoff (1952), of the bound.
PyTorch: torch.rand_like, torch.Tensor.uniform_. ONNX: RandomUniform, RandomUniformLike. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops import _chance

SIGNATURE = "(...)"
DRAWN_FROM = "key"
TRIVIAL = {"forward": ("copy", "constant", "zeros")}  # what is drawn is held against chance alone
#: Parts of the range below which numbers are counted.
_PARTS = (1 / 8, 1 / 2, 3 / 4)


def forward(x: Array, drawn: Array | None = None, *, low: float = 0.0, high: float = 1.0, key: int = 0) -> Array:
    if low >= high:
        raise ValueError(f"there is nothing from {low:g} to {high:g}")
    if drawn is not None:
        return drawn
    return low + (high - low) * _chance.draw_evenly(key, x.shape)


def drawn(outputs: tuple[Array], x: Array, drawn: Array | None = None, **params: Any) -> tuple[Array, Array]:
    """The tensors, with the numbers that an implementation drew."""
    return x, outputs[0] if drawn is None else drawn


def unfair(
    outputs: tuple[Array], others: tuple[Array] | tuple[()], x: Array, drawn: Array | None = None,
    *, low: float = 0.0, high: float = 1.0, key: int = 0,
) -> str:  # fmt: skip
    """What is wrong with the numbers that were drawn; `others` are the outputs of another key."""
    if drawn is not None:
        return ""
    y = np.asarray(outputs[0], dtype=np.float64)
    if ((y < low) | (y > high)).any():
        return f"a number is drawn that is not between {low:g} and {high:g}"
    other = np.asarray(others[0], dtype=np.float64) if others else None
    return _chance.uneven_below(y, other, {low + part * (high - low): part for part in _PARTS})


def torch(torch: Any, x: Any, drawn: Any = None, *, low: float = 0.0, high: float = 1.0, key: int = 0) -> Any:
    if drawn is not None:
        return drawn.clone()
    with torch.random.fork_rng():
        torch.manual_seed(key)
        return torch.empty_like(x).uniform_(low, high)
