"""Movement and selection of noisy arrays: all runs at once where a function allows it, else one run after the other.

The runs of an array stand in front of its own axes: an axis that is counted from the end is the same in both, one that
is counted from the beginning is one further on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from opproof.harness.reference.montecarlo.sums import align_runs, exact_of, map_arrays, run_of

Floats = NDArray[Any]


class _OneByOne(Exception):
    """Raised by a rule for arguments that it does not cover."""


def move_runs(func: Callable[..., Any], args: Any, kwargs: Any, exact: Any, count: int) -> Any:
    """The `count` runs of `func` of noisy arguments, whose exact result is `exact`: a list where it has several."""
    if func in _RULES:
        try:
            return _RULES[func](exact, *args, **kwargs)
        except (TypeError, _OneByOne):  # the first: an argument that the rule does not name
            pass
    return _apply_to_each_run(func, args, kwargs, exact, count)


def _apply_to_each_run(func: Callable[..., Any], args: Any, kwargs: Any, exact: Any, count: int) -> Any:
    each = [
        func(*map_arrays(partial(run_of, i=i), args), **map_arrays(partial(run_of, i=i), kwargs)) for i in range(count)
    ]
    if isinstance(exact, list | tuple):
        return [np.stack([r[k] for r in each]) for k in range(len(exact))]
    return np.stack(each)


def index_runs(runs: Floats, index: Any) -> Floats:
    """Every run at `index`: views where NumPy gives views."""
    behind = _shift_index(index)
    return np.stack([r[index] for r in runs]) if behind is None else runs[behind]


def assign(runs: Floats, index: Any, value: Any) -> None:
    """Write `value`, noisy or plain, to every run at `index`."""
    behind = _shift_index(index)
    room = None if behind is None else runs[0][index].ndim
    if behind is None or room is None or np.ndim(value) > room:
        for i, run in enumerate(runs):
            run[index] = run_of(value, i)
    else:
        runs[behind] = align_runs(value, room)


def _shift_index(index: Any) -> tuple[Any, ...] | None:
    """`index` with all runs in front; None where NumPy would put the axes of index arrays before them."""
    parts = index if isinstance(index, tuple) else (index,)
    arrays = [i for i, part in enumerate(parts) if not (part is None or part is ... or isinstance(part, slice))]
    if any(isinstance(parts[i], bool | np.bool_) for i in arrays):
        return None
    if any(not isinstance(parts[i], int | np.integer) for i in arrays) and arrays[-1] - arrays[0] >= len(arrays):
        return None
    return (slice(None), *parts)


def _shift_axis(axis: Any) -> int:
    """An axis of the array as one of its runs."""
    if not isinstance(axis, int | np.integer):
        raise _OneByOne
    return int(axis) + 1 if axis >= 0 else int(axis)


def _shift_axes(axis: Any) -> tuple[int, ...]:
    return tuple(map(_shift_axis, axis)) if isinstance(axis, tuple | list) else (_shift_axis(axis),)


def _gather_runs(arrays: Any, ndim: int) -> list[Any]:
    """Runs of several arrays of one number of axes, of plain ones the same each time."""
    count = next(len(a.runs) for a in arrays if hasattr(a, "runs"))
    if any(np.ndim(a) != ndim for a in arrays):
        raise _OneByOne
    return [a.runs if hasattr(a, "runs") else np.broadcast_to(a, (count, *np.shape(a))) for a in arrays]


def _make_reshape_rule(names: tuple[str, ...]) -> Callable[..., Any]:
    """The rule of a function that keeps the order of elements, whose arguments are called so."""

    def rule(exact: Any, x: Any, *args: Any, **named: Any) -> Any:
        if len(args) > len(names) or not named.keys() <= {*names}:
            raise _OneByOne
        return x.runs.reshape(len(x.runs), *exact.shape)

    return rule


def _transpose(_: Any, x: Any, axes: Sequence[int] | None = None) -> Any:
    order = range(x.ndim)[::-1] if axes is None else axes
    return x.runs.transpose(0, *(a % x.ndim + 1 for a in order))


def _make_axis_rule(func: Callable[..., Any], default: Any = None) -> Callable[..., Any]:
    """The rule of a function of an array, something plain, and an axis that it does not need."""
    return lambda _, x, plain, axis=default: func(x.runs, plain, _shift_axis(axis))


def _broadcast_to(_: Any, x: Any, shape: Any) -> Any:
    wide = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    return np.broadcast_to(align_runs(x, len(wide)), (len(x.runs), *wide))


def _make_triangle_rule(func: Callable[..., Any]) -> Callable[..., Any]:
    def rule(_: Any, x: Any, k: int = 0) -> Any:
        if x.ndim < 2:
            raise _OneByOne
        return func(x.runs, k)

    return rule


def _pad(_: Any, x: Any, width: Any, mode: Any = "constant", **named: Any) -> Any:
    if not callable(mode) and all(np.ndim(v) == 0 for v in named.values()):
        return np.pad(x.runs, [(0, 0), *np.broadcast_to(width, (x.ndim, 2)).tolist()], mode, **named)
    raise _OneByOne


def _take_windows(_: Any, x: Any, shape: Any, axis: Any = None) -> Any:
    if axis is None:
        raise _OneByOne
    return sliding_window_view(x.runs, shape, _shift_axes(axis))


#: By NumPy function; of those that are not here, and of arguments that a rule does not cover, one run after the other.
_RULES: dict[Any, Callable[..., Any]] = {
    np.reshape: _make_reshape_rule(("shape",)),
    np.ravel: _make_reshape_rule(()),
    np.expand_dims: _make_reshape_rule(("axis",)),
    np.squeeze: _make_reshape_rule(("axis",)),
    np.copy: lambda _, x: x.runs.copy(),
    np.transpose: _transpose,
    np.permute_dims: _transpose,
    np.swapaxes: lambda _, x, axis1, axis2: np.swapaxes(x.runs, _shift_axis(axis1), _shift_axis(axis2)),
    np.moveaxis: lambda _, x, source, to: np.moveaxis(x.runs, _shift_axes(source), _shift_axes(to)),
    np.flip: lambda _, x, axis=None: np.flip(x.runs, _shift_axes(tuple(range(x.ndim)) if axis is None else axis)),
    np.roll: lambda _, x, shift, axis=None: np.roll(x.runs, shift, _shift_axes(axis)),
    np.repeat: _make_axis_rule(np.repeat),
    np.take: _make_axis_rule(np.take),
    np.take_along_axis: lambda _, x, at, axis: np.take_along_axis(x.runs, np.asarray(at)[None], _shift_axis(axis)),
    np.broadcast_to: _broadcast_to,
    np.where: lambda y, where, a, b: np.where(exact_of(where), *(align_runs(v, y.ndim) for v in (a, b))),
    np.concatenate: lambda y, xs, axis=0: np.concatenate(_gather_runs(xs, y.ndim), _shift_axis(axis)),
    np.stack: lambda y, xs, axis=0: np.stack(_gather_runs(xs, y.ndim - 1), _shift_axis(axis)),
    np.split: _make_axis_rule(np.split, 0),
    np.tril: _make_triangle_rule(np.tril),
    np.triu: _make_triangle_rule(np.triu),
    np.pad: _pad,
    sliding_window_view: _take_windows,
}
