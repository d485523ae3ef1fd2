"""Convolution, pooling, interpolation and their backwards: sums of few terms at many places.

Interpolation, and sampling between cells, is along each axis a few taps with their weights. Which cells a place stands
between is decided by the exact evaluation. A weight is the fraction of a coordinate, so it has the rounding of a number
as large as the axis is long; with antialiasing it is that of a filter as wide as a step.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from opproof.harness.reference.torch.arithmetic import Algorithm, Arithmetic
from opproof.harness.reference.torch.sums import (
    Rule,
    accumulate_error,
    by_index,
    differentiate_steps,
    map_rules,
    sum_one_by_one,
)


def compute_convolution(noise: Arithmetic, func: Any, x: Any, w: Any, bias: Any, *rest: Any) -> Any:
    """convolution, transposed too; `rest`: stride, padding, dilation, transposed, output padding, groups."""
    y = func(x, w, None, *rest)
    transposed, groups = rest[3], rest[5]
    terms = (
        _count_landing_taps(w, rest[0]) * (w.shape[0] // groups) if transposed else math.prod(w.shape[2:]) * w.shape[1]
    )
    size = noise.size("conv", lambda: accumulate_error(y, func(x.square(), w.square(), None, *rest), max(terms, 2)))
    y = noise.summed(y, size)
    return y if bias is None else noise.rounded(y + bias.reshape(-1, *(1,) * (w.dim() - 2)))


def _count_landing_taps(w: Any, stride: Sequence[int]) -> int:
    """Taps of a kernel that land on one place where it moves by `stride`."""
    steps = [*stride] * (w.dim() - 2) if len(stride) == 1 else stride
    return math.prod(-(-n // s) for n, s in zip(w.shape[2:], steps, strict=True))


def differentiate_convolution(noise: Arithmetic, func: Any, g: Any, x: Any, w: Any, sizes: Any, *rest: Any) -> Any:
    """convolution_backward: gradients of input, weight and bias, each a sum of products."""
    transposed, groups, wanted = rest[3], rest[5], list(rest[6])
    exact = func(g, x, w, sizes, *rest)
    taps = math.prod(w.shape[2:]) if transposed else _count_landing_taps(w, rest[0])
    places = math.prod(x.shape[2:] if transposed else g.shape[2:])
    channels = w.shape[1] if transposed else w.shape[0] // groups
    terms = (max(2, channels * taps), max(2, g.shape[0] * places), g.shape[0] * math.prod(g.shape[2:]))

    def sizes_of() -> Any:
        squares = func(g.square(), x.square(), w.square(), sizes, *rest)
        return tuple(
            accumulate_error(y, s, n) if m else None for y, s, n, m in zip(exact, squares, terms, wanted, strict=True)
        )

    found = noise.size("conv_backward", sizes_of)
    if noise.algorithm is Algorithm.SEQUENTIAL and wanted[2]:
        exact = (*exact[:2], sum_one_by_one(g, [0, *range(2, g.dim())]).reshape(exact[2].shape))
    return tuple(noise.summed(y, s) if m else None for y, s, m in zip(exact, found, wanted, strict=True))


def compute_avg_pool(noise: Arithmetic, func: Any, x: Any, kernel: Any, *rest: Any) -> Any:
    """avg_pool: means of windows."""
    y, terms = func(x, kernel, *rest), math.prod(kernel) if isinstance(kernel, Sequence) else kernel
    size = noise.size("pool", lambda: (terms * y.square() / 3 + func(x.square(), kernel, *rest) / 2).sqrt())
    return noise.summed(y, size)


def differentiate_avg_pool(noise: Arithmetic, func: Any, g: Any, x: Any, kernel: Any, *rest: Any) -> Any:
    """avg_pool backward: every element is the sum of its windows' shares."""
    y, terms = func(g, x, kernel, *rest), math.prod(kernel) if isinstance(kernel, Sequence) else kernel
    steps = [*rest[0]] if rest and rest[0] else kernel
    meet = math.prod(-(-k // s) for k, s in zip(kernel, steps, strict=True))
    if meet <= 1:
        return noise.rounded(y)
    size = noise.size("pool", lambda: (meet * (y.square() / 3 + func(g.square(), x, kernel, *rest) / terms / 2)).sqrt())
    return noise.rounded(noise.summed(y, size))


def compute_adaptive_pool(noise: Arithmetic, func: Any, x: Any, sizes: Any) -> Any:
    """adaptive_avg_pool: means of windows."""
    y = func(x, sizes)
    terms = math.prod(-(-n // max(1, m)) for n, m in zip(x.shape[-len(sizes) :], sizes, strict=True))
    return noise.summed(y, noise.size("pool", lambda: (terms * y.square() / 3 + func(x.square(), sizes) / 2).sqrt()))


def differentiate_adaptive_pool(noise: Arithmetic, func: Any, g: Any, *rest: Any) -> Any:
    """adaptive_avg_pool backward: shares, of which few meet."""
    return noise.rounded(noise.rounded(func(g, *rest)))


def gather_nearest(noise: Arithmetic, func: Any, g: Any, *rest: Any, **options: Any) -> Any:
    """Backward of the nearest cell: a sum of a few elements."""
    y = func(g, *rest, **options)

    def size() -> Any:
        return (4 * (y.square() / 3 + func(g.square(), *rest, **options) / 2)).sqrt()

    return noise.summed(y, noise.size("gathered", size))


def find_maxima(noise: Arithmetic, func: Any, x: Any, kernel: Any, *rest: Any) -> Any:
    """max_pool with indices, adaptive too: positions within the last axes."""
    axes = {"1": 1, "2": 2, "3": 3}[func._schema.name.partition("pool")[2][0]]
    places = noise.decide("max_pool", lambda: func(x, kernel, *rest)[1])
    flat = places.reshape(*places.shape[:-axes], -1)
    return x.reshape(*x.shape[:-axes], -1).gather(-1, flat).reshape(places.shape), places


def differentiate_max_pool(noise: Arithmetic, func: Any, g: Any, x: Any, *rest: Any) -> Any:
    """max_pool backward: additions to the places of the maxima."""
    places = rest[-1]
    axes = 3 if "3d" in func._schema.name else 2
    lead = x.shape[:-axes]
    flat = g.new_zeros(*lead, math.prod(x.shape[-axes:]))
    index, values = places.reshape(*lead, -1), g.reshape(*lead, -1)
    return by_index(noise, noise.torch.ops.aten.scatter_add.default, flat, -1, index, values).reshape(x.shape)


def fold_overlaps(noise: Arithmetic, func: Any, x: Any, *rest: Any) -> Any:
    """col2im, unfold_backward, reflection and replication backward: sums of elements that land on one place."""
    y = func(x, *rest)

    def size() -> Any:
        terms = func(noise.torch.ones_like(x), *rest)
        return ((terms * (terms > 1)) * (y.square() / 3 + func(x.square(), *rest) / 2)).sqrt()

    return noise.summed(y, noise.size("folded", size))


def differentiate_padding(noise: Arithmetic, func: Any, g: Any, x: Any, padding: Any) -> Any:
    """reflection_pad and replication_pad backward."""
    return fold_overlaps(noise, lambda v, *_: func(v, x, padding), g)


_NEAREST, _PADS = ("upsample_nearest", "_upsample_nearest_exact"), ("reflection", "replication")

WINDOWS = map_rules(
    (compute_convolution, "convolution convolution_overrideable"),
    (differentiate_convolution, "convolution_backward"),
    (compute_avg_pool, "avg_pool1d avg_pool2d avg_pool3d"),
    (differentiate_avg_pool, "avg_pool2d_backward avg_pool3d_backward"),
    (compute_adaptive_pool, "_adaptive_avg_pool2d _adaptive_avg_pool3d"),
    (differentiate_adaptive_pool, "_adaptive_avg_pool2d_backward _adaptive_avg_pool3d_backward"),
    (gather_nearest, " ".join(f"{name}{n}d_backward" for name in _NEAREST for n in (1, 2, 3))),
    (find_maxima, "max_pool2d_with_indices max_pool3d_with_indices adaptive_max_pool2d adaptive_max_pool3d"),
    (differentiate_max_pool, "max_pool2d_with_indices_backward max_pool3d_with_indices_backward"),
    (differentiate_max_pool, "adaptive_max_pool2d_backward adaptive_max_pool3d_backward"),
    (fold_overlaps, "col2im unfold_backward"),
    (differentiate_padding, " ".join(f"{name}_pad{n}d_backward" for name in _PADS for n in (1, 2, 3))),
)


#: Keys' constant, as PyTorch has it, and with antialiasing.
_CUBIC_COEFFICIENT = -0.75
_SMOOTH_CUBIC_COEFFICIENT = -0.5


def resize_cells(noise: Arithmetic, func: Any, x: Any, out: Sequence[int], align: bool, *scales: float | None) -> Any:
    """Interpolation to `out` cells along the last axes."""
    exact = func(x, out, align, *scales) if noise.exact else None
    made, cubic = _of(func)
    axes = [made(noise, n, m, align, s, cubic) for n, m, s in _list_resized_axes(x.shape[2:], out, scales)]
    y = _apply_weights(noise, x, axes)
    return y if exact is None else exact


def differentiate_resize(
    noise: Arithmetic, func: Any, g: Any, out: Sequence[int], shape: Sequence[int], align: bool, *scales: float | None
) -> Any:
    """Its backward: the weights' transposes."""
    exact = func(g, out, shape, align, *scales) if noise.exact else None
    made, cubic = _of(func)
    axes = [made(noise, n, m, align, s, cubic).mT for n, m, s in _list_resized_axes(shape[2:], out, scales)]
    d = _apply_weights(noise, g, axes)
    return d if exact is None else exact


def _of(func: Any) -> tuple[Callable[..., Any], bool]:
    return _make_smooth_weights if "_aa" in func._schema.name else _make_weights, "cubic" in func._schema.name


def _list_resized_axes(
    cells: Sequence[int], out: Sequence[int], scales: Sequence[float | None]
) -> list[tuple[int, int, Any]]:
    return [(n, m, scales[i] if i < len(scales) else None) for i, (n, m) in enumerate(zip(cells, out, strict=True))]


def _apply_weights(noise: Arithmetic, x: Any, axes: Sequence[Any]) -> Any:
    """Each matrix along its axis; sizes go on the tape, in the exact evaluation too."""
    for i, w in enumerate(axes):
        moved = x.movedim(2 + i, -1)
        total, squares = moved @ w.mT, moved.square() @ w.square().mT
        terms = max(2, int((w != 0).sum(-1).max())) if w.numel() else 2
        size = noise.size("resized", functools.partial(accumulate_error, total, squares, terms))
        x = noise.summed(total, size).movedim(-1, 2 + i)
    return x.contiguous()


def _make_weights(noise: Arithmetic, n: int, out: int, align: bool, scale: float | None, cubic: bool) -> Any:
    """(out, n); a tap outside the axis reads its nearest cell."""
    torch = noise.torch
    step = ((n - 1) / (out - 1) if out > 1 else 0.0) if align else (1 / scale if scale else n / out)
    at = torch.arange(out, dtype=torch.float64) + (0.0 if align else 0.5)
    back = 0.0 if align else 0.5
    plain = at * step - back
    place = noise.rounded(noise.rounded(at * noise.rounded(torch.full((), step, dtype=torch.float64))) - back)
    if not cubic:
        plain, place = plain.clamp_min(0), place.clamp_min(0)
    cell = plain.floor()
    t = place - cell
    taps = _make_cubic_taps(noise, t) if cubic else [(0, noise.rounded(1 - t)), (1, t)]
    w = torch.zeros(out, n, dtype=torch.float64)
    for offset, weight in taps:
        w.scatter_add_(1, (cell.long() + offset).clamp(0, n - 1)[:, None], weight[:, None])
    return w


def _make_smooth_weights(noise: Arithmetic, n: int, out: int, align: bool, scale: float | None, cubic: bool) -> Any:
    """(out, n) with antialiasing; the window of cells is that of the exact centre."""
    torch, r = noise.torch, noise.rounded
    step = ((n - 1) / (out - 1) if out > 1 else 0.0) if align else (1 / scale if scale else n / out)
    wide = max(step, 1.0)
    reach = (2 if cubic else 1) * wide
    at = torch.arange(out, dtype=torch.float64)[:, None] + 0.5
    cells = torch.arange(n, dtype=torch.float64)
    first = (at * step - reach + 0.5).trunc().clamp_min(0)
    last = (at * step + reach + 0.5).trunc().clamp_max(n)
    centre = r(at * r(torch.full((), step, dtype=torch.float64)))
    d = r(r(cells - centre + 0.5) / wide).abs()
    w = (
        torch.where(
            d < 1,
            _compute_near_weight(noise, d, _SMOOTH_CUBIC_COEFFICIENT),
            _compute_far_weight(noise, d, _SMOOTH_CUBIC_COEFFICIENT),
        )
        if cubic
        else r(1 - d)
    )
    inside = (cells >= first) & (cells < last) & (d < (2 if cubic else 1))
    w = torch.where(inside, w, 0.0)
    return r(w / r(w.sum(-1, keepdim=True)))


def _compute_near_weight(noise: Arithmetic, d: Any, a: float) -> Any:
    r = noise.rounded
    return r(r(r(r(r((a + 2) * d) - (a + 3)) * d) * d) + 1)


def _compute_far_weight(noise: Arithmetic, d: Any, a: float) -> Any:
    r = noise.rounded
    return r(r(r(r(r(r(a * d) - 5 * a) * d) + 8 * a) * d) - 4 * a)


def _make_cubic_taps(noise: Arithmetic, t: Any) -> list[tuple[int, Any]]:
    r, a = noise.rounded, _CUBIC_COEFFICIENT
    return [
        (-1, _compute_far_weight(noise, r(t + 1), a)),
        (0, _compute_near_weight(noise, t, a)),
        (1, _compute_near_weight(noise, r(1 - t), a)),
        (2, _compute_far_weight(noise, r(2 - t), a)),
    ]


_NAMES = (
    "upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d", "_upsample_bilinear2d_aa",
    "_upsample_bicubic2d_aa",
)  # fmt: skip
RESIZED: dict[str, Rule] = {
    **dict.fromkeys(_NAMES, resize_cells),
    **dict.fromkeys((f"{name}_backward" for name in _NAMES), differentiate_resize),
}


#: PyTorch's numbers of the ways to interpolate and to pad.
_MODE_NEAREST = 1
_MODE_CUBIC = 2
_PADDING_ZEROS = 0
_PADDING_BORDER = 1
_PADDING_REFLECTION = 2
#: Keys' constant, as PyTorch has it.
_KEYS_COEFFICIENT = -0.75


@dataclass(frozen=True)
class _Tap:
    """A cell along an axis for every place, whether it exists, and its weight."""

    cell: Any
    exists: Any
    weight: Any


def sample_grid(noise: Arithmetic, func: Any, x: Any, grid: Any, way: int, padding: int, align: bool) -> Any:
    """grid_sampler_3d."""
    del func
    torch, flat = noise.torch, x.flatten(2)
    parts = []
    for taps in itertools.product(*_make_axis_taps(torch, x, grid, way, padding, align)):
        index, exists = _index(taps, x.shape[2:])
        weight = torch.where(exists, math.prod(t.weight for t in taps), 0.0)
        parts.append(_read(flat, index) * weight[:, None])
    return torch.stack(parts).sum(0).reshape(*x.shape[:2], *grid.shape[1:-1])


def differentiate_grid_sample(
    noise: Arithmetic, func: Any, g: Any, x: Any, grid: Any, way: int, padding: int, align: bool, wanted: Sequence[bool]
) -> tuple[Any, Any]:
    """grid_sampler_2d_backward and grid_sampler_3d_backward."""
    given, which = [x, grid], [i for i, need in enumerate(wanted) if need]

    def made(*leaves: Any) -> Any:
        both = {0: x, 1: grid, **dict(zip(which, leaves, strict=True))}
        return sample_grid(noise, func, both[0], both[1], way, padding, align)

    found = dict(zip(which, differentiate_steps(noise, made, [given[i] for i in which], g), strict=True))
    return found.get(0), found.get(1)


def _read(flat: Any, index: Any) -> Any:
    return flat.gather(2, index[:, None].expand(-1, flat.shape[1], -1))


def _index(taps: Sequence[_Tap], shape: Sequence[int]) -> tuple[Any, Any]:
    """Positions of the taps' cells in a flattened grid of `shape`, and whether all of them exist."""
    index, exists = 0, True
    for tap, n in zip(taps, shape, strict=True):
        index, exists = index * n + tap.cell, tap.exists & exists
    return index, exists


def _make_axis_taps(torch: Any, x: Any, grid: Any, way: int, padding: int, align: bool) -> list[list[_Tap]]:
    """The taps of every axis, outermost first; the grid names the innermost first."""
    count = x.dim() - 2
    places = [grid[..., count - 1 - k].flatten(1) for k in range(count)]
    return [_make_taps(torch, p, n, way, padding, align) for p, n in zip(places, x.shape[2:], strict=True)]


def _make_taps(torch: Any, grid: Any, n: int, way: int, padding: int, align: bool) -> list[_Tap]:
    place = grid * ((n - 1) / 2 if align else n / 2) + (n - 1) / 2
    if way == _MODE_CUBIC:
        cell = place.floor()
        weights = _compute_keys_weights(place - cell)
        cells = [_pad_places(torch, cell + i - 1, n, padding, align).round() for i in range(4)]
    else:
        place = _pad_places(torch, place, n, padding, align)
        if way == _MODE_NEAREST:
            cells, weights = [place.round()], [torch.ones_like(place)]
        else:
            cell = place.floor()
            cells, weights = [cell, cell + 1], [1 - (place - cell), place - cell]
    wholes = [c.clamp(-1, n).long() for c in cells]
    return [_Tap(c.clamp(0, n - 1), (c >= 0) & (c < n), w) for c, w in zip(wholes, weights, strict=True)]


def _pad_places(torch: Any, place: Any, n: int, padding: int, align: bool) -> Any:
    """Places brought within the axis; beyond the edge, and on it, they do not change with the grid."""
    if padding == _PADDING_ZEROS:
        return place
    if padding == _PADDING_REFLECTION:
        place = _map_mirrored(torch, place, n, align)
    return torch.where((place > 0) & (place < n - 1), place, place.detach().clamp(0, n - 1))


def _map_mirrored(torch: Any, place: Any, n: int, align: bool) -> Any:
    low, span = (0.0, n - 1) if align else (-0.5, n)
    if not span:
        return torch.zeros_like(place)
    away = (place - low).abs()
    turns = (away / span).floor()
    rest = away - turns.detach() * span
    return torch.where(turns.remainder(2) != 0, span - rest, rest) + low


def _compute_keys_weights(t: Any) -> list[Any]:
    """Weights of the four cells around a place, `t` behind the second."""
    a = _KEYS_COEFFICIENT

    def near(d: Any) -> Any:
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d: Any) -> Any:
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


SAMPLED: dict[str, Rule] = {
    "grid_sampler_3d": sample_grid,
    "grid_sampler_2d_backward": differentiate_grid_sample,
    "grid_sampler_3d_backward": differentiate_grid_sample,
}
