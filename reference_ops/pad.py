"""pad: cells added around x (or taken away, where a number is negative), of `value` or continuing x.

Shapes: x any; pad = (before, after) of the last axis, then of the last but one, and so on; y grows by them.
mode "constant" fills with `value` (0 where None), others take none. "reflect" mirrors x once, the edge not repeated,
"replicate" repeats the edge, "circular" continues from the other end of what negative numbers leave (they cut first,
as in PyTorch and ONNX Runtime); the last three need x of rank len(pad) / 2 + 1 or more.
Gradient: each cell of g added to the cell of x that it shows; filled cells give nothing.
Source: PyTorch's documentation of torch.nn.functional.pad.
PyTorch: torch.nn.functional.pad. ONNX: Pad (constant, reflect, edge, wrap).
ggml: ggml_pad_ext, ggml_pad_circular, ggml_pad_reflect_1d.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
MULTILINEAR = True
EXACT = ("forward",)
KINDS = ("float8", "signed", "unsigned")


def _shown(n: int, before: int, after: int, mode: str) -> Array:
    """For each cell of a padded axis, the cell of x that it shows; -1 or n and more where none."""
    cell = np.arange(-before, n + after)
    if mode == "reflect":
        return (n - 1) - np.abs((n - 1) - np.abs(cell))  # type: ignore[no-any-return]
    if mode == "replicate":
        return np.clip(cell, 0, n - 1)
    if mode == "circular":
        first, left = max(-before, 0), n + min(before, 0) + min(after, 0)
        return first + (cell - first) % left if left > 0 else cell
    return cell


def _axes(x: Array, pad: tuple[int, ...], mode: str) -> list[tuple[int, Array]]:
    pairs = zip(pad[::2], pad[1::2], strict=True)
    return [(x.ndim - 1 - i, _shown(x.shape[x.ndim - 1 - i], b, a, mode)) for i, (b, a) in enumerate(pairs)]


def _at(axis: int, index: Any) -> tuple[Any, ...]:
    return (*(slice(None),) * axis, index)


def forward(x: Array, *, pad: tuple[int, ...], mode: str = "constant", value: float | None = None) -> Array:
    if mode != "constant" and value is not None:
        raise ValueError(f"value={value} is what is filled in, and mode={mode} fills nothing in")
    for axis, (before, after) in enumerate(zip(pad[::2], pad[1::2], strict=True), 1):
        size, taken = x.shape[-axis], -min(before, 0) - min(after, 0)
        if mode == "reflect" and max(before, after) >= size:
            raise ValueError(f"{max(before, after)} cells mirror {size}, which are too few")
        if taken > size or (mode == "circular" and taken == size and max(before, after) > 0):
            raise ValueError(f"{taken} cells are taken away of {size}")
    y = x
    for axis, shown in _axes(x, pad, mode):
        inside = (shown >= 0) & (shown < x.shape[axis])
        shape = (*y.shape[:axis], len(shown), *y.shape[axis + 1 :])
        wider = np.full(shape, 0 if value is None else value, dtype=x.dtype, like=x)
        wider[_at(axis, inside)] = y[_at(axis, shown[inside])]
        y = wider
    return y


def vjp(
    g: Array, y: Array, x: Array, *, pad: tuple[int, ...], mode: str = "constant", value: float | None = None
) -> Array:
    dx = g
    for axis, shown in reversed(_axes(x, pad, mode)):
        inside = (shown >= 0) & (shown < x.shape[axis])
        narrower = np.zeros((*dx.shape[:axis], x.shape[axis], *dx.shape[axis + 1 :]), dtype=g.dtype, like=g)
        np.add.at(narrower, _at(axis, shown[inside]), dx[_at(axis, inside)])
        dx = narrower
    return dx


def torch(torch: Any, x: Any, *, pad: tuple[int, ...], mode: str = "constant", value: float | None = None) -> Any:
    return torch.nn.functional.pad(x, pad, mode, value)
