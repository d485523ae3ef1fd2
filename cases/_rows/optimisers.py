"""Rows that the optimisers of several steps share: a tensor of gradients, one a step, the others as the parameters."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle

from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.row import join

#: Shape of the parameters, number of steps, rest of the row.
_ROWS = (
    ("7x33", 3, "inplace=param"),
    ("3x2x65", 2, "layout=param:transposed;inplace=param"),
    ("9,", 5, ""),
    ("5x31", 3, "fill=wide"),
    ("3x32", 1, "layout=offset"),
    ("2x3x65", 3, "layout=transposed"),
    ("2x3x4x7", 2, "layout=permuted"),
    ("4x127", 3, "layout=sliced"),
    ("4x64", 4, "layout=gapped"),
    ("2x3x5", 3, "layout=cropped"),
    ("3x33", 3, "layout=grads:transposed"),
    ("5x63", 3, "layout=grads:broadcast"),
    ("2x129", 3, "fill=zeros"),
    ("6x11", 9, "fill=offset"),
    ("6x11", 3, "fill=small"),
    ("7x17", 3, "fill=extreme"),
    ("0d", 4, "layout=offset"),
    ("3x0", 2, ""),
)


def _make_row(states: Iterable[str], shape: str, steps: int | str, *rest: str) -> str:
    grads = f"{steps}," if shape == "0d" else f"{steps}x{shape.rstrip(',')}"
    return join(f"param={shape}", f"grads={grads}", *(f"{state}={shape}" for state in states), *rest)


def steps(states: str, params: Iterable[str], between: Iterable[str] = ()) -> tuple[list[str], list[str]]:
    """SMOKE and STANDARD rows of an optimiser with `states` beside parameters and gradients; `params` in turn.

    `between` are parameters between neighbours in f16 and bf16.
    """
    names, choices = states.split(), list(params)
    turns = cycle(choices)
    rows = [_make_row(names, shape, k, next(turns), rest) for shape, k, rest in _ROWS]
    turns = cycle(choices[1:])
    rows += [_make_row(names, "5x31", 3, next(turns), f"layout={name}:broadcast") for name in ("param", *names)]
    rows += [_make_row(names, "5x131", 2, p, "f16,bf16") for p in between]
    return [_make_row(names, "7x33", 3, p) for p in choices[:2]], rows


def fresh(states: str, params: str) -> list[str]:
    """A row of moments that are 0 here and there, as before the first step, beside gradients that are."""
    return [_make_row(states.split(), "5x33", 2, params, "fill=brink")]


def long_steps(states: str, params: str) -> tuple[list[str], list[str]]:
    """LONG and LONGEST rows."""
    names = states.split()
    return lengths(_make_row(names, "{n}x1", 2, params), _make_row(names, "1x{n}", 2, params))


def full_steps(states: str, params: str) -> list[str]:
    """FULL rows: large parameters."""
    return [_make_row(states.split(), shape, 2, params) for shape in ("2x12289", "65537x3")]


#: No row has a step more than a few.
SHORT = {"grads.first": Limit(0, "the reference walks from step to step, which takes seconds for 1025")}
