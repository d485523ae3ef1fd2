"""multinomial: numbers of classes, each drawn with the probability that softmax makes of its row of x.

Shapes: x (n, classes); y (n, count) int64, in [0, classes), each drawn anew. Which are drawn follows from `key`, by a
generator of the implementation's own: the same key draws the same ones, another key others. So y is held against chance
alone: how often each class comes in each row, and in all rows, and whether another key gives the same. Where the tensor
`drawn` is given, nothing is drawn, and y is that.
Gradient: none, the output is numbers of classes.
Source: ONNX, Multinomial; Chernoff (1952), of the bound.
PyTorch: torch.multinomial (of the probabilities, with replacement). ONNX: Multinomial. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops import _chance

SIGNATURE = "(n,c)"
DRAWN_FROM = "key"
EXACT = ("forward",)
TRIVIAL = {"forward": ("copy", "constant", "zeros")}  # what is drawn is held against chance alone


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"drawn": range(max(shapes["x"][1], 1))}


def _shares(x: Array) -> Array:
    """The probabilities, rows that add up to 1."""
    wide = np.asarray(x, dtype=np.float64)
    parts = np.exp(wide - np.max(wide, axis=1, keepdims=True, initial=-1e300))
    return parts / np.sum(parts, axis=1, keepdims=True)  # type: ignore[no-any-return]


def forward(x: Array, drawn: Array | None = None, *, count: int, key: int = 0) -> Array:
    if drawn is not None:
        return drawn
    if x.size < x.shape[0]:
        raise ValueError("there is no class to be drawn")
    places, ends = _chance.draw_evenly(key, (x.shape[0], count)), np.cumsum(_shares(x), axis=1)
    found = np.sum(places[:, :, None] >= ends[:, None, :], axis=2)
    return np.minimum(found, x.shape[1] - 1).astype(np.int64)  # type: ignore[no-any-return]


def drawn(outputs: tuple[Array], x: Array, drawn: Array | None = None, **params: Any) -> tuple[Array, Array]:
    """The tensors, with the classes that an implementation drew."""
    return x, outputs[0] if drawn is None else drawn


def unfair(
    outputs: tuple[Array], others: tuple[Array] | tuple[()], x: Array, drawn: Array | None = None,
    *, count: int, key: int = 0,
) -> str:  # fmt: skip
    """What is wrong with the classes that were drawn; `others` are the outputs of another key."""
    y, p = outputs[0], _shares(x)
    if drawn is not None or not y.size:
        return ""
    if ((y < 0) | (y >= x.shape[1])).any():
        return f"a class is drawn that is none of {x.shape[1]}"
    counts = np.stack([np.bincount(row, minlength=x.shape[1]) for row in y])
    if counts[p <= 0].any():
        return "a class is drawn whose probability is 0"
    found = _chance.rare(counts, p, y.shape[1]) or _chance.rare(counts.sum(axis=0), p.mean(axis=0), y.size)
    if found:
        return f"of one class {found}"
    return _chance.of_another_key(y == others[0], float(np.mean(np.sum(p * p, axis=1)))) if others else ""


def torch(torch: Any, x: Any, drawn: Any = None, *, count: int, key: int = 0) -> Any:
    if drawn is not None:
        return drawn.clone()
    with torch.random.fork_rng():
        torch.manual_seed(key)
        wide = torch.softmax(x.to(torch.promote_types(x.dtype, torch.float32)), dim=1)
        return torch.multinomial(wide, count, replacement=True)
