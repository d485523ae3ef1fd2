"""Convolution, pooling, interpolation and their backwards: sums of few terms at many places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from opproof.harness.reference.torch.arithmetic import Algorithm, Arithmetic
from opproof.harness.reference.torch.sums import accumulate_error, by_index, map_rules, sum_one_by_one


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
