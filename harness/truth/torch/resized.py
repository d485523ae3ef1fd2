"""Interpolation between cells, linear and cubic, and its backward: along each axis a small matrix of weights.

With antialiasing a weight is that of a filter as wide as a step, over the sum of a row's.
A weight is the fraction of a coordinate, so it has the rounding of a number as large as the axis is long; which cells
it stands between is that of the exact coordinate.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from opproof.harness.truth.torch.arithmetic import Arithmetic
from opproof.harness.truth.torch.sums import Rule, accumulated

#: Keys' constant, as PyTorch has it, and with antialiasing.
_CUBIC, _CUBIC_SMOOTH = -0.75, -0.5


def resized(noise: Arithmetic, func: Any, x: Any, out: Sequence[int], align: bool, *scales: float | None) -> Any:
    """Interpolation to `out` cells along the last axes."""
    exact = func(x, out, align, *scales) if noise.exact else None
    made, cubic = _of(func)
    axes = [made(noise, n, m, align, s, cubic) for n, m, s in _each(x.shape[2:], out, scales)]
    y = _applied(noise, x, axes)
    return y if exact is None else exact


def resized_backward(
    noise: Arithmetic, func: Any, g: Any, out: Sequence[int], shape: Sequence[int], align: bool, *scales: float | None
) -> Any:
    """Its backward: the weights' transposes."""
    exact = func(g, out, shape, align, *scales) if noise.exact else None
    made, cubic = _of(func)
    axes = [made(noise, n, m, align, s, cubic).mT for n, m, s in _each(shape[2:], out, scales)]
    d = _applied(noise, g, axes)
    return d if exact is None else exact


def _of(func: Any) -> tuple[Callable[..., Any], bool]:
    """What makes the weights, and whether they are cubic."""
    return _smooth_weights if "_aa" in func._schema.name else _weights, "cubic" in func._schema.name


def _each(cells: Sequence[int], out: Sequence[int], scales: Sequence[float | None]) -> list[tuple[int, int, Any]]:
    return [(n, m, scales[i] if i < len(scales) else None) for i, (n, m) in enumerate(zip(cells, out, strict=True))]


def _applied(noise: Arithmetic, x: Any, axes: Sequence[Any]) -> Any:
    """Each matrix along its axis; sizes go on the tape, in the exact evaluation too."""
    for i, w in enumerate(axes):
        moved = x.movedim(2 + i, -1)
        total, squares = moved @ w.mT, moved.square() @ w.square().mT
        terms = max(2, int((w != 0).sum(-1).max())) if w.numel() else 2
        size = noise.size("resized", functools.partial(accumulated, total, squares, terms))
        x = noise.summed(total, size).movedim(-1, 2 + i)
    return x.contiguous()


def _weights(noise: Arithmetic, n: int, out: int, align: bool, scale: float | None, cubic: bool) -> Any:
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
    taps = _cubic(noise, t) if cubic else [(0, noise.rounded(1 - t)), (1, t)]
    w = torch.zeros(out, n, dtype=torch.float64)
    for offset, weight in taps:
        w.scatter_add_(1, (cell.long() + offset).clamp(0, n - 1)[:, None], weight[:, None])
    return w


def _smooth_weights(noise: Arithmetic, n: int, out: int, align: bool, scale: float | None, cubic: bool) -> Any:
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
    w = torch.where(d < 1, _near(noise, d, _CUBIC_SMOOTH), _far(noise, d, _CUBIC_SMOOTH)) if cubic else r(1 - d)
    inside = (cells >= first) & (cells < last) & (d < (2 if cubic else 1))
    w = torch.where(inside, w, 0.0)
    return r(w / r(w.sum(-1, keepdim=True)))


def _near(noise: Arithmetic, d: Any, a: float) -> Any:
    r = noise.rounded
    return r(r(r(r(r((a + 2) * d) - (a + 3)) * d) * d) + 1)


def _far(noise: Arithmetic, d: Any, a: float) -> Any:
    r = noise.rounded
    return r(r(r(r(r(r(a * d) - 5 * a) * d) + 8 * a) * d) - 4 * a)


def _cubic(noise: Arithmetic, t: Any) -> list[tuple[int, Any]]:
    r, a = noise.rounded, _CUBIC
    return [
        (-1, _far(noise, r(t + 1), a)),
        (0, _near(noise, t, a)),
        (1, _near(noise, r(1 - t), a)),
        (2, _far(noise, r(2 - t), a)),
    ]


_NAMES = (
    "upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d", "_upsample_bilinear2d_aa",
    "_upsample_bicubic2d_aa",
)  # fmt: skip
RESIZED: dict[str, Rule] = {
    **dict.fromkeys(_NAMES, resized),
    **dict.fromkeys((f"{name}_backward" for name in _NAMES), resized_backward),
}
