"""A case that a trivial answer would pass is no evidence.

Trivial answers: all zeros, one constant, a copy of an input (or cotangent) of the same shape.
They may be right by the operator's nature (it declares so: reshape copies) or by the shape's (a
softmax over one element is 1 whatever the data): then they are no objection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.cases import Case
from opproof.harness.compare import compare
from opproof.harness.data import to_dtype
from opproof.harness.reference import Expected
from opproof.reference_ops import Op

Array = NDArray[Any]


def vacuous(case: Case, op: Op, mode: str, expected: Sequence[Expected | None], given: Iterable[Array | None]) -> str:
    """Which trivial answer would pass as every one of `expected`, in words; empty when none would."""
    judged = [e for e in expected if e is not None]
    if not judged or any(1 in s or 0 in s or s == () for s in case.shapes.values()):
        return ""
    allowed = op.trivial(mode)
    tensors = [v for v in given if v is not None]
    passing: set[str] | None = None
    for e in judged:
        names = {kind for kind, answer in _trivial(e, tensors) if _passes(case, e, answer)}
        passing = names if passing is None else passing & names
    objections = sorted((passing or set()) - allowed)
    return f"{objections[0]} would pass as well" if objections else ""


def _trivial(expected: Expected, tensors: Sequence[Array]) -> Iterator[tuple[str, Array]]:
    shape = expected.values.shape
    yield "zeros", np.zeros(shape)
    if expected.values.size > 1:
        yield "constant", np.full(shape, expected.values.flat[0])
    for v in tensors:
        if v.shape == shape:
            yield "copy", v


def _passes(case: Case, expected: Expected, answer: Array) -> bool:
    with np.errstate(all="ignore"):
        got = answer.astype(expected.values.dtype)
    return bool(np.all(compare(to_dtype(got, case.dtype), expected, case.dtype).passed))
