"""How a tensor lies in memory: pure arithmetic on shapes, in elements.

    contiguous   row-major, as NumPy and C
    transposed   the last two axes stored swapped
    permuted     all axes stored in reverse order
    exchanged    the first two axes stored swapped, rows as contiguous: dense, and its rows in another order
    middle       axes 1 and 2 stored swapped, rows as contiguous: heads of attention beside tokens
    loose        axes of size 1 with strides that fit no other axis; the rest as contiguous
    channels     the second axis stored innermost, as channels last (NHWC)
    planes       the last axis stored second, the others inside: images with channels last, stored channel by channel
    sliced       every second element of a row twice as long
    gapped       rows with three elements of padding after each
    cropped      the first rows of matrices with two rows more: rows as contiguous, the axes before them further apart
    offset       contiguous, one element into its storage
    broadcast    stride 0 along the first axis (so all its slices are equal)
    expanded     stride 0 along all axes, of cotangents alone: those of a sum over everything

A case's `layout=` names one for all its tensors, or one per tensor: `a:transposed,b:sliced`. Cotangents lie as all
tensors do where that is said of all, or as `cotangent:broadcast` says; they are broadcast only where that is said.
A tensor to which a layout cannot apply (a vector cannot be transposed) stays contiguous.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass

from opproof.cases._case import Case, Shape
from opproof.core.errors import CaseError, suggest

#: The stride of an axis of size 1 that nobody may step along, in elements: a multiple of no size in use.
ODD_STRIDE = 7


@dataclass(frozen=True, slots=True)
class Storage:
    """Where a tensor's elements lie: `size` elements of storage, first at `offset`, then `strides`."""

    size: int
    offset: int
    strides: tuple[int, ...]


@functools.lru_cache(maxsize=4096)  # a few shapes are asked for again and again
def row_major(shape: Shape) -> tuple[int, ...]:
    """Strides, in elements, of a contiguous tensor."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


def _store_contiguous(shape: Shape) -> Storage:
    return Storage(math.prod(shape), 0, row_major(shape))


def _store_in_order(shape: Shape, order: tuple[int, ...]) -> Storage:
    """The axes lie in memory in `order`, outermost first."""
    strides = [0] * len(shape)
    for axis, stride in zip(order, row_major(tuple(shape[a] for a in order)), strict=True):
        strides[axis] = stride
    return Storage(math.prod(shape), 0, tuple(strides))


def _store_transposed(shape: Shape) -> Storage:
    if len(shape) < 2:
        return _store_contiguous(shape)
    n = len(shape)
    return _store_in_order(shape, (*range(n - 2), n - 1, n - 2))


def _store_permuted(shape: Shape) -> Storage:
    return _store_in_order(shape, tuple(reversed(range(len(shape)))))


def _store_exchanged(shape: Shape) -> Storage:
    if len(shape) < 3:
        return _store_contiguous(shape)
    return _store_in_order(shape, (1, 0, *range(2, len(shape))))


def _store_middle(shape: Shape) -> Storage:
    if len(shape) < 4:
        return _store_contiguous(shape)
    return _store_in_order(shape, (0, 2, 1, *range(3, len(shape))))


def _store_loose(shape: Shape) -> Storage:
    dense = _store_contiguous(shape)
    strides = (ODD_STRIDE if n == 1 else step for n, step in zip(shape, dense.strides, strict=True))
    return Storage(dense.size, 0, tuple(strides))


def _store_channels(shape: Shape) -> Storage:
    if len(shape) < 3:
        return _store_contiguous(shape)
    return _store_in_order(shape, (0, *range(2, len(shape)), 1))


def _store_planes(shape: Shape) -> Storage:
    if len(shape) < 4:
        return _store_contiguous(shape)
    return _store_in_order(shape, (0, len(shape) - 1, *range(1, len(shape) - 1)))


def _store_sliced(shape: Shape) -> Storage:
    if not shape:
        return _store_contiguous(shape)
    wide = (*shape[:-1], 2 * shape[-1])
    strides = row_major(wide)
    return Storage(max(math.prod(wide) - 1, 0), 0, (*strides[:-1], 2))


def _store_gapped(shape: Shape) -> Storage:
    if not shape:
        return _store_contiguous(shape)
    wide = (*shape[:-1], shape[-1] + 3)
    return Storage(max(math.prod(wide) - 3, 0), 0, row_major(wide))


def _store_cropped(shape: Shape) -> Storage:
    if len(shape) < 3:
        return _store_contiguous(shape)
    tall = (*shape[:-2], shape[-2] + 2, shape[-1])
    return Storage(math.prod(tall) - 2 * shape[-1] if math.prod(shape) else 0, 0, row_major(tall))


def _store_offset(shape: Shape) -> Storage:
    return Storage(math.prod(shape) + 1, 1, row_major(shape))


def _store_broadcast(shape: Shape) -> Storage:
    if not shape:
        return _store_contiguous(shape)
    return Storage(math.prod(shape[1:]) if shape[0] else 0, 0, (0, *row_major(shape[1:])))


def _store_expanded(shape: Shape) -> Storage:
    return Storage(min(math.prod(shape), 1), 0, (0,) * len(shape))


LAYOUTS = {
    "contiguous": _store_contiguous,
    "transposed": _store_transposed,
    "permuted": _store_permuted,
    "exchanged": _store_exchanged,
    "middle": _store_middle,
    "loose": _store_loose,
    "channels": _store_channels,
    "planes": _store_planes,
    "sliced": _store_sliced,
    "gapped": _store_gapped,
    "cropped": _store_cropped,
    "offset": _store_offset,
    "broadcast": _store_broadcast,
}

#: The layouts of cotangents.
COTANGENT_LAYOUTS = {**LAYOUTS, "expanded": _store_expanded}

#: By which `layout=` names the cotangents of all outputs.
COTANGENT = "cotangent"


def layouts_of(case: Case) -> dict[str, str]:
    """Layout name of every tensor of the case. Raises CaseError for an unknown layout or tensor."""
    shapes = case.shapes
    if case.layout in LAYOUTS:
        return dict.fromkeys(shapes, case.layout)
    given = _split_layouts(case)
    for tensor in given:
        if tensor not in (*shapes, COTANGENT, ""):
            raise CaseError(f"layout={case.layout} in {case}: no tensor {tensor!r}; there are {', '.join(shapes)}.")
    for tensor, layout in given.items():
        known = COTANGENT_LAYOUTS if tensor == COTANGENT else LAYOUTS
        if layout not in known:
            raise CaseError(
                f"unknown layout {layout!r} in {case}: expected one of {', '.join(known)}{suggest(layout, known)}"
            )
    return {name: given.get(name, given.get("", "contiguous")) for name in shapes}


def write_layouts(layouts: Mapping[str, str]) -> str:
    """The layouts of tensors as a case has them, of which those that are contiguous are left out."""
    return ",".join(f"{n}:{layout}" for n, layout in layouts.items() if layout != "contiguous") or "contiguous"


def cotangent_layout(case: Case) -> str:
    """The layout of the cotangents: their own, or that which all inputs share where no elements coincide in it."""
    if case.layout in LAYOUTS and case.layout != "broadcast":
        return case.layout
    given = _split_layouts(case)
    shared = given.get("", "contiguous")
    return given.get(COTANGENT, "contiguous" if shared == "broadcast" else shared)


def equal_slices(case: Case) -> int:
    """How many slices of a tensor are one in memory: 1 where all have places of their own."""
    if "broadcast" not in case.layout:
        return 1
    shapes = case.shapes
    stretched = [shapes[n] for n, layout in layouts_of(case).items() if layout == "broadcast" and shapes[n]]
    return max((shape[0] for shape in stretched), default=1)


def _split_layouts(case: Case) -> dict[str, str]:
    """The layouts that a case names, by tensor; that of all by an empty name."""
    if ":" not in case.layout:
        return {"": case.layout}
    return {tensor: layout for tensor, _, layout in (part.partition(":") for part in case.layout.split(","))}


@functools.lru_cache(maxsize=4096)
def storage_of(shape: Shape, layout: str) -> Storage:
    """Where the elements of a tensor of `shape` lie under `layout`."""
    return COTANGENT_LAYOUTS[layout](shape)


def name_layout(shape: Shape, strides: Shape, offset: int = 0) -> str:
    """The layout whose axes lie in the same order as those of a tensor."""
    if all(n == 1 or s == o for n, s, o in zip(shape, strides, row_major(shape), strict=True)) or 0 in shape:
        return "offset" if offset else "contiguous"
    for layout in LAYOUTS:
        if storage_of(shape, layout).strides == strides:
            return layout
    if strides[0] == 0:
        return "broadcast"
    if strides[-1] == 1:
        return "gapped"
    return "permuted" if strides[0] == min(strides) else "transposed"
