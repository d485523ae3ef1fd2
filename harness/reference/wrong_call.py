"""Wrong calls of operators, and the data of one: those of the right call with one shape, number or dtype changed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from opproof.cases import Case, cases_of
from opproof.cases._case import parse_param, parse_shape
from opproof.cases._wrong_calls import list_wrongs, stored_wrong_calls
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Kind
from opproof.core.errors import CaseError
from opproof.core.verdicts import Mode
from opproof.harness.reference.question import Question, evaluate_forward, make_question
from opproof.reference_ops import Op
from opproof.reference_ops._op import FOLDER


def wrong_calls_of(op: Op) -> list[Case]:
    """The wrong calls of an operator: those that come with opproof, or what the reference of a user's refuses."""
    builtin = op.source.parent == FOLDER
    return stored_wrong_calls(op.name) if builtin else find_wrong_calls(op, is_refused_by_reference)


def find_wrong_calls(op: Op, refuses: Callable[[Question], bool]) -> list[Case]:
    """The calls with one thing wrong that are refused; none where the right call is too.

    The right one is the first row of float32 that has most tensors and parameters, with ordinary data.
    """
    rows = cases_of(op.name, "smoke", op.rows) or cases_of(op.name, "standard", op.rows)
    plain = [c for c in rows if c.dtype == "f32" and not c.mixed and all(map(math.prod, c.shapes.values()))]
    if not plain:
        return []
    row = max(plain, key=lambda case: len(case.tensors) + len(case.params))
    right = Case(row.op, row.tensors, row.params, row.dtype)
    asked = make_question(right, op, Mode.FORWARD).case_data
    if refuses(asked):
        return []
    wrongs = list_wrongs(right, asked.params, op.domain(right.shapes, **asked.params) if op.domain else {})
    if Kind.SIGNED not in op.kinds and any(x is not None and x.dtype.kind == "f" for x in asked.inputs):
        wrongs.append("dtype:i32")
    return [replace(right, wrong=wrong) for wrong in wrongs if refuses(make_wrong_call(asked, wrong))]


def is_refused_by_reference(asked: Question) -> bool:
    """Whether the reference raises, or has no meaning in the dtype."""
    if asked.case.dtype not in asked.op.dtypes:
        return True
    try:
        evaluate_forward(asked.op, asked.inputs, asked.params)
    except Exception:  # of whatever kind
        return True
    return False


def make_wrong_call(right: Question, wrong: str) -> Question:
    """The call of `right` with what is `wrong`. Raises CaseError where that names nothing of the call."""
    case = replace(right.case, wrong=wrong)
    name, _, value = wrong.partition(":")
    if name in right.op.params:
        params = {**dict(case.params), name: parse_param(value, str(case))}
        return right.given(case=replace(case, params=tuple(params.items())))
    if name == "dtype" and value in DTYPES:
        inputs = [np.rint(x) if x is not None and x.dtype.kind == "f" else x for x in right.inputs]
        return right.given(case=replace(case, dtype=value), inputs=tuple(inputs))
    given = dict(zip(right.names, right.inputs, strict=True)).get(name)
    if given is None or not value:
        raise CaseError(
            f"{case}: wrong={wrong} names no parameter and no tensor of the call; expected NAME:VALUE, such as x:4x33."
        )
    changed = _change_tensor(given, value, case)
    return right.given(case=case, inputs=tuple(changed if x is given else x for x in right.inputs))


def _change_tensor(given: Array, value: str, case: Case) -> Array:
    """The tensor in another dtype, with an index in its last place, or of another shape."""
    if value in DTYPES:
        return given.astype(DTYPES[value].numpy)
    if value.lstrip("-").isdigit():
        changed = given.copy()
        changed.flat[-1:] = int(value)
        return changed
    try:
        shape = parse_shape(value)
    except ValueError:
        raise CaseError(f"{case}: {value!r} is no shape, dtype or integer; expected one such as 4x33.") from None
    return np.resize(given, shape)
