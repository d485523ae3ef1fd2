"""Wrong calls: what may be wrong with a call, by its shapes, parameters and indices; one thing at a time.

A tensor has one axis too long, or one too few; a parameter names an axis that there is not, or is zero, negative or
larger than any size; an index lies beyond either end. For some operators that is right: those that are refused lie in
cases/wrong_calls.txt, a right call in each line, then what makes it wrong, as an id has it behind `wrong=`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from opproof.cases._case import Case, format_param, format_shape

#: The wrong calls of the built-in operators, which benchmarks/wrong_calls.py writes.
STORED = Path(__file__).parent / "wrong_calls.txt"
#: How the names of parameters begin that are axes.
AXES = ("dim", "axis", "axes")


def stored_wrong_calls(op: str) -> list[Case]:
    """The wrong calls that come with opproof of the built-in operator `op`."""
    return list(_read_stored().get(op, ()))


@functools.cache
def _read_stored() -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {}
    for line in STORED.read_text(encoding="utf-8").splitlines():
        text, *wrongs = line.split()
        right = Case.parse(text)
        found.setdefault(right.op, []).extend(replace(right, wrong=wrong) for wrong in wrongs)
    return found


def list_wrongs(case: Case, params: Mapping[str, Any], domain: Mapping[str, Any]) -> list[str]:
    """What may be wrong with `case`, each once: `params` has its defaults too, `domain` what numbers tensors hold."""
    some = (*_list_shapes(case), *_list_parameters(case, params), *_list_indices(case, domain))
    return list(dict.fromkeys(some))


def _list_shapes(case: Case) -> Iterator[str]:
    """Each axis of each tensor longer by one, and each tensor without its first axis."""
    for name, shape in case.shapes.items():
        for axis, size in enumerate(shape):
            yield f"{name}:{format_shape((*shape[:axis], size + 1, *shape[axis + 1 :]))}"
        if shape:
            yield f"{name}:{format_shape(shape[1:])}"


def _list_parameters(case: Case, params: Mapping[str, Any]) -> Iterator[str]:
    """Axes out of range, and twice the same; other integers that are zero, negative, and larger than any size."""
    rank = max(map(len, case.shapes.values()), default=0)
    largest = max((size for shape in case.shapes.values() for size in shape), default=0)
    for name, value in params.items():
        values = value if isinstance(value, tuple) else (value,)
        if not values or not all(type(v) is int for v in values):
            continue
        firsts = [rank, -rank - 1, *values[1:2]] if name.startswith(AXES) else [0, -1, largest + 1]
        for first in firsts:
            yield f"{name}:{format_param((first, *values[1:]) if isinstance(value, tuple) else first)}"


def _list_indices(case: Case, domain: Mapping[str, Any]) -> Iterator[str]:
    """Of tensors of indices one past either end, and their numbers as floats."""
    for name, numbers in domain.items():
        size = numbers.stop if isinstance(numbers, range) and numbers.start == 0 else getattr(numbers, "size", None)
        if isinstance(size, int) and name in case.shapes:
            yield from (f"{name}:{size}", f"{name}:{-size - 1}", f"{name}:f32")
