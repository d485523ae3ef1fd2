"""What a failure looked like, for the reports: its inputs in numbers, its worst elements, a picture of the error."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from opproof.cases import Case
from opproof.cases._layouts import cotangent_layout, layouts_of, storage_of
from opproof.core.arrays import Array
from opproof.harness.judge.bound import Comparison
from opproof.harness.judge.judgement import Judgement, describe_element, number
from opproof.harness.reference.question import Question, name_outputs
from opproof.reports import Evidence, Input, Picture

#: Worst elements and first values that are kept, and the most cells of a picture and of its close-up, each way.
MAX_WORST_ELEMENTS = 8
FIRST_VALUES = 4
MAX_PICTURE_CELLS = 48
MAX_CLOSE_UP_CELLS = 32
#: Elements of a tensor that are looked at at once.
_PIECE_ELEMENTS = 2**20

# Letters of Picture.cells by their place in the alphabet.
_WITHIN_LETTER = 2
_OUTSIDE_LETTER = 3
_LAST_DECADE_LETTER = 22
_NO_NUMBER_LETTER = 25


def collect_evidence(posed: Question, judgement: Judgement) -> Evidence:
    """All that there is to see of a failure; inputs alone where it was settled before any comparison."""
    inputs = summarise_inputs(posed)
    shown = [j for j in judgement.tensors if judgement.worst is not None and j.name == judgement.worst.tensor]
    if not shown:
        return Evidence(inputs=inputs)
    comparison = shown[0].comparison
    failing = np.flatnonzero(~comparison.passed)
    order = failing[np.argsort(-comparison.shares.ravel()[failing], kind="stable")[:MAX_WORST_ELEMENTS]]
    places = [tuple(int(i) for i in np.unravel_index(at, comparison.passed.shape)) for at in order]
    elements = tuple(describe_element(shown[0], place) for place in places)
    return Evidence(inputs=inputs, elements=elements, pictures=draw_pictures(shown[0].name, comparison))


def summarise_inputs(posed: Question) -> tuple[Input, ...]:
    """Every tensor that the backend was given, cotangents last."""
    case = posed.case
    layouts = layouts_of(case)
    tensors = [
        _in_numbers(name, values, case, layouts[name], "integers" if values.dtype.kind in "iub" else case.fill)
        for name, values in zip(posed.names, posed.inputs, strict=True)
        if name is not None and values is not None
    ]
    names = name_outputs(posed.op, len(posed.cotangents))
    tensors += [
        _in_numbers(f"cotangent of {name}", g, case, cotangent_layout(case), "random")
        for name, g in zip(names, posed.cotangents, strict=True)
        if g is not None
    ]
    return tuple(tensors)


def _in_numbers(name: str, values: Array, case: Case, layout: str, fill: str) -> Input:
    flat = values.reshape(-1)
    pieces = (flat[start : start + _PIECE_ELEMENTS] for start in range(0, max(flat.size, 1), _PIECE_ELEMENTS))
    counts, lows, highs, totals, nans, infs = zip(*map(_measure_piece, pieces), strict=True)
    some = bool(sum(counts))
    return Input(
        name=name,
        shape=values.shape,
        dtype=values.dtype.name if values.dtype.kind in "iub" else case.dtype_of(name),
        layout=layout,
        strides=storage_of(values.shape, layout).strides,
        fill=fill,
        low=_round_to_six_digits(min(lows)) if some else None,
        high=_round_to_six_digits(max(highs)) if some else None,
        size=_round_to_six_digits(sum(totals) / sum(counts)) if some else None,
        nans=sum(nans),
        infs=sum(infs),
        first=tuple(number(v) for v in flat[:FIRST_VALUES]),
    )


def _measure_piece(values: Array) -> tuple[int, float, float, float, int, int]:
    """Of the finite numbers how many, the least, the largest, the sum of sizes; and how many NaN and infinities."""
    wide = values.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    ends = float(finite.min(initial=np.inf)), float(finite.max(initial=-np.inf))
    return finite.size, *ends, float(np.abs(finite).sum()), int(np.isnan(wide).sum()), int(np.isinf(wide).sum())


def _round_to_six_digits(value: float) -> float:
    return float(f"{value:.6g}")


def draw_pictures(name: str, comparison: Comparison) -> tuple[Picture, ...]:
    """All of the tensor; where a cell of that is a block, also the part around the worst element."""
    shape = comparison.units.shape
    if comparison.worst is None:
        return ()
    levels = _find_levels(comparison).reshape(-1, next((n for n in reversed(shape) if n > 1), 1))
    whole = _draw_picture(name, shape, levels, (0, levels.shape[0]), (0, levels.shape[1]))
    if whole.grid == levels.shape:
        return (whole,)
    at = np.ravel_multi_index(comparison.worst, shape)
    row, column = divmod(int(at), levels.shape[1])
    return whole, _draw_picture(
        name, shape, levels, _select_around(row, levels.shape[0]), _select_around(column, levels.shape[1])
    )


def _find_levels(comparison: Comparison) -> NDArray[np.int64]:
    """The letter of every element, as its place in the alphabet."""
    units, shares = comparison.units, comparison.shares
    measured = np.isfinite(shares)
    decades = np.floor(2 * np.log10(np.where(measured & (shares > 1), shares, 1.0)))
    out = np.where(
        measured, np.clip(_OUTSIDE_LETTER + decades, _OUTSIDE_LETTER, _LAST_DECADE_LETTER), _NO_NUMBER_LETTER
    )
    within = np.where(units <= 0, 0, np.where(units <= 1, 1, _WITHIN_LETTER))
    return np.where(comparison.passed, within, out).astype(np.int64)


def _select_around(at: int, length: int) -> tuple[int, int]:
    start = max(0, min(at - MAX_CLOSE_UP_CELLS // 2, length - MAX_CLOSE_UP_CELLS))
    return start, min(length, start + MAX_CLOSE_UP_CELLS)


def _draw_picture(
    name: str, shape: tuple[int, ...], levels: NDArray[np.int64], rows: tuple[int, int], columns: tuple[int, int]
) -> Picture:
    part = levels[slice(*rows), slice(*columns)]
    grid = (min(MAX_PICTURE_CELLS, part.shape[0]), min(MAX_PICTURE_CELLS, part.shape[1]))
    for axis in (0, 1):
        part = np.maximum.reduceat(part, np.arange(grid[axis]) * part.shape[axis] // grid[axis], axis=axis)
    return Picture(tensor=name, shape=shape, rows=rows, columns=columns, grid=grid, cells=_run_lengths(part.ravel()))


def _run_lengths(levels: NDArray[np.int64]) -> str:
    """[0, 0, 0, 3] as a3d"""
    starts = np.flatnonzero(np.diff(levels, prepend=-1))
    counts = np.diff(starts, append=levels.size)
    return "".join(
        chr(ord("a") + level) + (str(n) if n > 1 else "") for level, n in zip(levels[starts], counts, strict=True)
    )
