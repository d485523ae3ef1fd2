"""random_bits: integers of `width` bits, each bit 0 or 1 with the same probability.

Shapes: x any, of which nothing but the shape is used; y as x, int64, from 0 to before 2^width. Which are drawn follows
from `key`, by a generator of the implementation's own: the same key draws the same ones, another key others. So y is
held against chance alone: of each bit how often it is 1, in all and along each axis, whether it repeats itself, whether
another key gives the same. Where the tensor `drawn` is given, nothing is drawn, and y is that.
Gradient: none, the output is integers.
Source: StableHLO, rng_bit_generator; Chernoff (1952), of the bound.
PyTorch: torch.randint (to before a power of two). ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops import _chance

SIGNATURE = "(...)"
DRAWN_FROM = "key"
TRIVIAL = {"forward": ("copy", "constant", "zeros")}  # what is drawn is held against chance alone
EXACT = ("forward",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"drawn": range(2 ** params["width"])}


def forward(x: Array, drawn: Array | None = None, *, width: int, key: int = 0) -> Array:
    if drawn is not None:
        return drawn
    raw = np.random.Philox(key=key).random_raw(x.size).reshape(x.shape)
    return (raw >> np.uint64(64 - width)).astype(np.int64)


def drawn(outputs: tuple[Array], x: Array, drawn: Array | None = None, **params: Any) -> tuple[Array, Array]:
    """The tensors, with the integers that an implementation drew."""
    return x, outputs[0] if drawn is None else drawn


def unfair(
    outputs: tuple[Array], others: tuple[Array] | tuple[()], x: Array, drawn: Array | None = None,
    *, width: int, key: int = 0,
) -> str:  # fmt: skip
    """What is wrong with the integers that were drawn; `others` are the outputs of another key."""
    y = outputs[0]
    if drawn is not None:
        return ""
    if ((y < 0) | (y >= 2**width)).any():
        return f"an integer is drawn that has not {width} bits"
    for bit in range(width):
        ones = (y >> bit) & 1 == 1
        found = _chance.uneven(ones, 0.5) or _chance.repeated(ones, 0.5)
        found = found or (_chance.alike(ones, (others[0] >> bit) & 1 == 1, 0.5) if others else "")
        if found:
            return f"kept is bit {bit} where it is 1: {found}"
    return ""


def torch(torch: Any, x: Any, drawn: Any = None, *, width: int, key: int = 0) -> Any:
    if drawn is not None:
        return drawn.clone()
    with torch.random.fork_rng():
        torch.manual_seed(key)
        return torch.randint(2**width, tuple(x.shape))
