"""Predicates on how large a case is: its axes, its rows, the terms of its sums."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable

from opproof.cases import Case
from opproof.cases._fills import NOT_FINITE
from opproof.reference_ops import Op

#: Parameters that are sizes of the result.
_SIZES = ("output_size", "size", "shape", "num_classes", "num_rows", "repeats")


#: Tensors that say by number which rows are read or written.
INDICES = frozenset({"index", "indices", "ids"})


def pair(value: object) -> tuple[object, ...]:
    """A number per axis as a tuple, where one stands for all too."""
    return value if isinstance(value, tuple) else (value,)


def _asked(case: Case) -> list[int]:
    """Sizes that parameters give to the result."""
    return [n for name, value in case.params if name in _SIZES for n in pair(value) if isinstance(n, int)]


def sizes(case: Case) -> list[int]:
    """Every axis of every tensor, and those that parameters give to the result."""
    return [*(n for shape in case.shapes.values() for n in shape), *_asked(case)]


def within(*ranges: tuple[int, int]) -> Callable[[Case], bool]:
    """Whether some axis has one of these sizes."""
    return lambda case: any(low <= n <= high for n in sizes(case) for low, high in ranges)


def rows(case: Case) -> int:
    """The most rows, along the last axis, that a tensor has."""
    return max((math.prod(shape[:-1]) for shape in case.shapes.values()), default=0)


def terms(case: Case, op: Op) -> int:
    """The most terms that a sum may have: along `dim` where the operator takes one, else along any axis."""
    if "dim" not in op.params:
        return max(sizes(case), default=0)
    dims = case.kwargs.get("dim", op.params["dim"])
    if dims is None or dims is inspect.Parameter.empty:
        return math.prod(next(iter(case.shapes.values())))
    numbers = [d for d in pair(dims) if isinstance(d, int)]
    along = [shape[d] for shape in case.shapes.values() for d in numbers if -len(shape) <= d < len(shape)]
    return max([*(along or numbers), *_asked(case)])


def long(case: Case, op: Op) -> list[str]:
    """The 16-bit dtype of a case with a sum of over 1000 terms."""
    met = case.dtype in ("f16", "bf16") and terms(case, op) > 1000 and case.fill not in NOT_FINITE
    return [case.dtype] if met else []


def longer(case: Case, op: Op) -> list[str]:
    """Whether a sum has over 4096 terms."""
    return [""] if terms(case, op) > 4096 else []


def far_rows(case: Case, op: Op) -> list[str]:
    """The dtype of a case that names 32 rows and more of a table past 4096 rows and 65,536 elements.

    Half the numbers of such rows are none of float16, and where their elements lie is past 16 bits.
    """
    del op
    named = [math.prod(shape) for name, shape in case.shapes.items() if name in INDICES]
    tables = [shape for name, shape in case.shapes.items() if name not in INDICES and shape]
    longest = max([*(n for shape in tables for n in shape), *_asked(case)], default=0)
    width = min((math.prod(shape[1:]) for shape in tables if len(shape) > 1), default=0)
    return [case.dtype] if max(named, default=0) >= 32 and longest > 4096 and longest * width > 65536 else []


def past_tile(case: Case, op: Op) -> bool:
    """Whether a row is longer than a tile of 128."""
    return terms(case, op) > 128


def leading(case: Case) -> bool:
    """Leading axes longer than 1 and all distinct."""
    return any(len(s) >= 3 and min(s[:-1]) > 1 and len(set(s[:-1])) == len(s) - 1 for s in case.shapes.values())


def over(case: Case) -> bool:
    """More indices than there are places: some repeat, in no order."""
    return any(len(s) and max(s) > 4 for n, s in case.shapes.items() if n in ("index", "indices", "ids", "target"))
