"""Rows of windows: every attribute alone and with every other, kernels of 1, unequal along the axes in both orders."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import cycle
from math import prod

from opproof.cases._rows.row import join, names_dtypes

Pair = tuple[int, int]
_ONES, _NONE = (1, 1), (0, 0)


@dataclass(frozen=True, slots=True)
class Window:
    """Channels; for each axis its cells, size of the kernel, stride, cells of padding either side, dilation."""

    channels: int
    plane: Pair
    kernel_size: Pair
    stride: Pair = _ONES
    padding: Pair = _NONE
    dilation: Pair = _ONES
    layout: str = ""

    @property
    def places(self) -> Pair:
        """Where along each axis a window may lie."""
        given = zip(self.plane, self.kernel_size, self.stride, self.padding, self.dilation, strict=True)
        first, last = ((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in given)
        return first, last


#: Channels even and odd, around 16 and 32; rows narrower than a vector and wider; some cells that no window covers.
WINDOWS = (
    Window(5, (7, 9), (2, 3), stride=(2, 3)),
    Window(6, (6, 10), (3, 2), stride=(3, 2)),
    Window(7, (5, 7), (3, 2), padding=(1, 0)),
    Window(17, (4, 6), (2, 3), padding=(0, 1)),
    Window(18, (8, 5), (3, 2), dilation=(3, 2)),
    Window(33, (5, 8), (2, 3), dilation=(1, 2)),
    Window(34, (9, 7), (3, 2), stride=(2, 3), padding=(1, 0)),
    Window(16, (7, 9), (2, 3), stride=(3, 2), padding=(0, 1)),
    Window(15, (9, 8), (3, 2), stride=(3, 2), dilation=(2, 3)),
    Window(32, (8, 9), (2, 3), stride=(2, 3), dilation=(3, 2)),
    Window(3, (7, 6), (3, 2), padding=(1, 1), dilation=(2, 3)),
    Window(4, (6, 8), (2, 3), padding=(0, 1), dilation=(3, 2)),
    Window(31, (9, 8), (3, 3), stride=(2, 3), padding=(1, 1), dilation=(3, 2)),
    Window(9, (5, 7), (1, 1), stride=(2, 3)),
    Window(8, (7, 6), (1, 1), stride=(3, 2)),
    Window(2, (5, 4), (1, 1), dilation=(2, 3)),
    Window(3, (6, 9), (1, 3), stride=(3, 2), padding=(0, 1)),
    Window(3, (9, 6), (3, 1), stride=(2, 3), padding=(1, 0)),
    Window(3, (9, 2), (3, 2), stride=(2, 1), padding=(1, 1)),
    Window(3, (3, 67), (2, 3), stride=(1, 2), padding=(1, 1)),
    Window(3, (8, 67), (2, 3), stride=(2, 4), dilation=(1, 2)),
)
#: Kernels of 1 under padding: windows of padding alone, which pools do not take.
PADDED = (
    Window(5, (4, 6), (1, 1), padding=(1, 2)),
    Window(6, (6, 4), (1, 1), stride=(2, 3), padding=(2, 1)),
)
#: Planes much taller than wide; and of one row, with more channels times taps than a block has threads.
TALL = (
    Window(3, (67, 4), (3, 2), stride=(2, 1), padding=(1, 1)),
    Window(349, (1, 7), (1, 3)),
)
#: Planes of one cell under a larger kernel, whose windows are padding else: one number alone, which a maximum copies;
#: and channels of one cell, which lie last. In f32 alone.
ALONE = Window(1, (1, 1), (3, 3), padding=(1, 1))
CELLS = (ALONE, Window(5, (1, 1), (3, 3), padding=(1, 1), layout="channels"))
#: A kernel that is not square with attributes that are alike in both axes, as callers write them: each three of taller
#: or wider, a step, padding and dilation together (an orthogonal array of 8 rows and strength 3). In f32 alone.
ALIKE = (
    Window(6, (8, 9), (3, 2)),
    Window(2, (9, 8), (2, 3), stride=(2, 2)),
    Window(18, (7, 8), (2, 3), padding=(1, 1)),
    Window(3, (8, 7), (3, 2), stride=(2, 2), padding=(1, 1)),
    Window(8, (9, 8), (2, 3), dilation=(2, 2)),
    Window(5, (8, 9), (3, 2), stride=(2, 2), dilation=(2, 2)),
    Window(4, (7, 6), (3, 2), padding=(1, 1), dilation=(2, 2)),
    Window(16, (6, 7), (2, 3), stride=(2, 2), padding=(1, 1), dilation=(2, 2)),
)
_DTYPES = ("f16,f32", "f16,bf16")
_AXES = {1: (1,), 2: (0, 1), 3: (0, 1, 0)}


def _shape(rank: int, values: Pair) -> str:
    return "x".join(str(values[axis]) for axis in _AXES[rank])


def _named(rank: int, window: Window, *names: str) -> str:
    """Attributes as they stand in a row of planes with `rank` axes."""
    usual = {"stride": 1, "padding": 0, "dilation": 1}
    found = []
    for name in names:
        values = [getattr(window, name)[axis] for axis in _AXES[rank]]
        if set(values) != {usual.get(name)}:
            found.append(f"{name}={values[0]}" if rank == 1 else f"{name}=({','.join(map(str, values))})")
    return join(*found)


def _with_dtypes(rows: Iterable[str]) -> list[str]:
    turns = cycle(_DTYPES)
    return [row if names_dtypes(row) else join(row, next(turns)) for row in dict.fromkeys(rows)]


def _windows_of(rank: int, *, padded: bool = True) -> tuple[Window, ...]:
    return (*WINDOWS, *(PADDED if padded else ()), *TALL, *(ALIKE if rank > 1 else ()), *CELLS)


def _rest_of(window: Window) -> str:
    """The dtype and the layout of its row."""
    return join("f32" if window in (*ALIKE, *CELLS) else "", window.layout and f"layout={window.layout}")


def conv_attributes(rank: int, *, depthwise: bool = False) -> list[str]:
    """Rows of a convolution over `rank` axes."""
    found = []
    for window in _windows_of(rank):
        into, share = (window.channels, 1) if depthwise else (3, window.channels)
        x, kernel = _shape(rank, window.plane), _shape(rank, window.kernel_size)
        tensors = f"x=1x{window.channels}x{x};weight={into}x{share}x{kernel}"
        found.append(join(tensors, _named(rank, window, "stride", "padding", "dilation"), _rest_of(window)))
    return _with_dtypes(found)


def transposed_attributes(rank: int) -> list[str]:
    """Rows of a transposed convolution over `rank` axes, with cells of output padding where a step has any."""
    found: list[str] = []
    spread: list[str] = []
    for window in _windows_of(rank):
        x, kernel = _shape(rank, window.places), _shape(rank, window.kernel_size)
        tensors = f"x=1x{window.channels}x{x};weight={window.channels}x3x{kernel}"
        plain = join(tensors, _named(rank, window, "stride", "padding", "dilation"), _rest_of(window))
        found.append(plain)
        strides, dilation = ([steps[axis] for axis in _AXES[rank]] for steps in (window.stride, window.dilation))
        steps, rows = (strides, found) if min(strides) > 1 else (dilation, spread)
        if min(steps) > 1:
            more = ",".join(str(s - 1) for s in steps)
            rows.append(join(plain, f"output_padding={more}" if rank == 1 else f"output_padding=({more})"))
    return _with_dtypes([*found, *spread])


def pool_attributes(rank: int, *, dilation: bool = False, modes: Iterable[str] = ("",)) -> list[str]:
    """Rows of a pool over `rank` axes, `modes` in turn; without `dilation` no window is spread."""
    names = ("kernel_size", "stride", "padding", *(("dilation",) if dilation else ()))
    turns = cycle(modes)
    found = []
    for window in _windows_of(rank, padded=False):
        if dilation and window == ALONE:
            continue
        given = _named(rank, window, *names)
        stride = "" if "stride=" in given else "stride=1"
        x = f"x=1x{window.channels}x{_shape(rank, window.plane)}"
        found.append(join(x, given, stride, "" if window in CELLS else next(turns), _rest_of(window)))
    return _with_dtypes(found)


def column_attributes(kind: str, rank: int = 2) -> list[str]:
    """Rows of im2col (`kind` x), col2im (columns) and im2col_back (grad)."""
    names = ("kernel_size", "stride", "padding", "dilation")
    found = []
    for window in _windows_of(rank):
        c, cells, plane = window.channels, prod(window.kernel_size), window.plane
        tensors = {
            "x": f"x=1x{c}x{_shape(rank, plane)}",
            "columns": f"x=1x{c * cells}x{prod(window.places)};output_size=({plane[0]},{plane[1]})",
            "grad": f"grad=1x{window.places[0]}x{window.places[1]}x{c * cells};size=({plane[0]},{plane[1]})",
        }
        found.append(join(tensors[kind], _named(rank, window, *names), _rest_of(window)))
    return _with_dtypes(found)


def backward_attributes(modes: Iterable[str]) -> list[str]:
    """Rows of the backward of a pool over two axes, `modes` in turn; no window is spread."""
    turns = cycle(modes)
    found = []
    for window in (w for w in _windows_of(2, padded=False) if w.dilation == _ONES):
        plane, places = _shape(2, window.plane), _shape(2, window.places)
        tensors = f"grad=1x{window.channels}x{places};x=1x{window.channels}x{plane}"
        stride = "" if window.stride != _ONES else "stride=1"
        given = _named(2, window, "kernel_size", "stride", "padding")
        found.append(join(tensors, next(turns), given, stride, _rest_of(window)))
    return _with_dtypes(found)
