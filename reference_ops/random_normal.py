"""random_normal: numbers that are drawn of the normal distribution of a mean and a standard deviation, `scale`.

Shapes: x any, of which nothing but the shape and dtype is used; y as x. Which numbers are drawn follows from `key`,
by a generator of the implementation's own: the same key draws the same ones, another key others. So y is held against
chance alone: how many lie below each of some quantiles, in all and along each axis, whether they repeat themselves,
whether another key gives the same. Where the tensor `drawn` is given, nothing is drawn, and y is that.
Gradient: none, nothing depends on x.
Source: the definition; Chernoff (1952), of the bound.
PyTorch: torch.randn_like, torch.Tensor.normal_. ONNX: RandomNormal, RandomNormalLike. ggml: none.
"""

from statistics import NormalDist
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops import _chance

SIGNATURE = "(...)"
DRAWN_FROM = "key"
TRIVIAL = {"forward": ("copy", "constant", "zeros")}  # what is drawn is held against chance alone
#: Quantiles below which numbers are counted.
_PARTS = (1 / 64, 1 / 4, 1 / 2, 7 / 8)


def forward(x: Array, drawn: Array | None = None, *, mean: float = 0.0, scale: float = 1.0, key: int = 0) -> Array:
    if drawn is not None:
        return drawn
    return mean + scale * np.random.Generator(np.random.Philox(key=key)).standard_normal(x.shape)


def drawn(outputs: tuple[Array], x: Array, drawn: Array | None = None, **params: Any) -> tuple[Array, Array]:
    """The tensors, with the numbers that an implementation drew."""
    return x, outputs[0] if drawn is None else drawn


def unfair(
    outputs: tuple[Array], others: tuple[Array] | tuple[()], x: Array, drawn: Array | None = None,
    *, mean: float = 0.0, scale: float = 1.0, key: int = 0,
) -> str:  # fmt: skip
    """What is wrong with the numbers that were drawn; `others` are the outputs of another key."""
    if drawn is not None:
        return ""
    y = np.asarray(outputs[0], dtype=np.float64)
    other = np.asarray(others[0], dtype=np.float64) if others else None
    return _chance.uneven_below(y, other, {NormalDist(mean, scale).inv_cdf(part): part for part in _PARTS})


def torch(torch: Any, x: Any, drawn: Any = None, *, mean: float = 0.0, scale: float = 1.0, key: int = 0) -> Any:
    if drawn is not None:
        return drawn.clone()
    with torch.random.fork_rng():
        torch.manual_seed(key)
        return torch.empty_like(x).normal_(mean, scale)
