"""A case that a trivial answer would pass is no evidence.

Trivial answers: all zeros, one constant, a copy of an input (or cotangent) of the same shape.
They may be right by the operator's nature (it declares so: reshape copies) or by the shape's (a
softmax over one element is 1 whatever the data): then they are no objection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from opproof.cases._every import is_part
from opproof.core.arrays import Array
from opproof.core.verdicts import Mode
from opproof.harness.judge.bound import compare, far_from
from opproof.harness.reference.data import to_dtype
from opproof.harness.reference.expected import Expected, expected_of
from opproof.harness.reference.question import Posed, pose


def vacuous(posed: Posed, expected: Sequence[Expected | None], declared: str | None = None) -> str:
    """Which trivial answer would pass as every one of `expected`, in words; empty when none would.

    `declared` is the backend's lower precision, by which `expected` was found.
    """
    case, mode = posed.case, posed.mode
    shapes = case.shapes.values()
    # Nothing to compute, or one element: there the shape is the evidence, and zeros or a value over poison.
    # A part of every value, on which the operator may be constant, is evidence together with the other parts.
    if is_part(case.fill) or any(0 in s for s in shapes) or all(e.values.size == 1 for e in expected if e is not None):
        return ""
    objections = _passing(posed, expected, (*posed.inputs, *posed.cotangents)) - posed.op.trivial(mode)
    if objections and any(1 in s or s == () for s in shapes):
        right = set().union(*(_by_shape(posed, declared, seed) for seed in (1, 2, 3)))
        objections -= right | ({"copy"} if "constant" in right else set())  # a constant that an input is near, no copy
    return f"{min(objections)} would pass as well" if objections else ""


def _passing(posed: Posed, expected: Sequence[Expected | None], given: Iterable[Array | None]) -> set[str]:
    """Trivial answers that pass as every one of `expected`."""
    tensors = [v for v in given if v is not None]
    passing: set[str] | None = None
    for i, e in enumerate(expected):
        if e is not None:
            dtype = posed.dtype_of(i)
            far = far_from(e, dtype)
            names = {kind for kind, answer in _trivial(e, tensors) if _passes(dtype, e, answer, far)}
            passing = names if passing is None else passing & names
    return passing if passing is not None else set()


def _by_shape(posed: Posed, declared: str | None, seed: int) -> set[str]:
    """Trivial answers that pass on ordinary data of the same shapes too, drawn `seed` seeds further on."""
    if posed.mode is Mode.GRADIENT and posed.op.vjp is None:
        return set()
    plain = replace(posed.case, fill="normal", seed=posed.case.seed + seed)
    again = pose(plain, posed.op, posed.mode).asked
    return _passing(again, expected_of(again, declared), (*again.inputs, *again.cotangents))


def _trivial(expected: Expected, tensors: Sequence[Array]) -> Iterator[tuple[str, Array]]:
    """By kind, trivial answers: of the expected shape, or one number for all elements."""
    shape = expected.values.shape
    yield "zeros", np.zeros(())
    if expected.values.size > 1:
        yield "constant", np.array(expected.values.flat[0])
    for v in tensors:
        if v.size > 1 and v.shape == shape and not (v.dtype.kind == "f" and expected.values.dtype.kind in "iu"):
            yield "copy", v  # one number that is near another is none; nor are floats, truncated to whole numbers


def _passes(dtype: str, expected: Expected, answer: Array, far: Callable[[Array], bool]) -> bool:
    with np.errstate(all="ignore"):
        got = to_dtype(answer.astype(expected.values.dtype), dtype)
    return not far(got) and compare(np.broadcast_to(got, expected.values.shape), expected, dtype).right
