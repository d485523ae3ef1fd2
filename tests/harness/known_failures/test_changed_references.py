"""The changed references of known failures, where nothing of the cause happens: they are the operator's own."""

import math
from dataclasses import replace

import numpy as np
import pytest

from opproof.cases import Case
from opproof.core.tuples import tuple_of
from opproof.core.verdicts import Mode
from opproof.harness.known_failures.causes import function_of
from opproof.harness.known_failures.findings import LEDGERS
from opproof.harness.known_failures.known import read_known
from opproof.harness.reference.question import make_question
from opproof.harness.reference.roundoff import ignore_fp_warnings
from opproof.harness.run.plan import Selection, select_cases
from opproof.reference_ops import gradients_of, load

LIBRARIES = ("jax", "mlx")
#: Errors of float32 tables and fits, such as erf's, as a part of the largest number of a result.
CLOSE = 1e-5
#: What differs from the operator's own on any question, and by how much at most, for a reason that the list gives.
FAR = {"store_exponents_in_bf16": 0.05, "store_exponents_in_f16": 0.01, "subtract_one_of_selu": 1e-4}
FAR |= {"subtract_one_of_selu_of_gradient": 1e-4, "store_exponent_in_bf16": 0.05, "store_exponent_in_f16": 0.01}
FAR |= dict.fromkeys(("store_variance", "store_variance_of_gradient", "store_variance_under_root"), 2.0**-10)
FAR["scale_by_stored_sum"] = 2.0**-10  # one number that is stored in float16
#: Questions on which the cause does not happen, where the first of the operator is not one.
QUESTIONS = {
    "arange": "arange[start=0.0;end=5.0;step=1.0;f32]",
    "batch_norm": "batch_norm[x=4x3x9;weight=3,;bias=3,;training=true;eps=0.01;f32]",
    "cumprod": "cumprod[x=7x5;dim=-1;f32]",
    "instance_norm": "instance_norm[x=2x3x9;weight=3,;bias=3,;eps=0.01;f32]",
    "norm": "norm[x=7x33;p=3.0;dim=-1;f32]",
}
NAMED = sorted(
    {
        (library, op, mode, name)
        for library in LIBRARIES
        for entry in read_known(LEDGERS / library / "known.toml")
        for op in entry.operators
        for mode, name in (("forward", entry.forward), ("gradient", entry.vjp))
        if name and function_of(str(LEDGERS / library), name, op)
    }
)


def question(op, mode):
    case = QUESTIONS.get(op) or str(next(iter(select_cases(Selection(ops=(op,), dtypes=("f32",), level="smoke")))))
    parsed = Case.parse(case)
    return make_question(parsed, load(parsed.op), Mode(mode)).case_data


def differences(posed, mode, function):
    """By result the largest difference between the operator's own formula and the function, and the largest number."""
    changed = replace(posed.op, **{"forward" if mode == "forward" else "vjp": function})
    inputs = [v if v is None or v.dtype.kind != "f" else v.astype(np.float64) for v in posed.inputs]
    outputs = tuple_of(posed.op.forward(*inputs, **posed.params))
    with ignore_fp_warnings():
        if mode == "forward":
            found = tuple_of(changed.forward(*inputs, **posed.params)), outputs
        else:
            found = [
                gradients_of(op, [np.float64(g) for g in posed.cotangents], outputs, inputs, posed.params)
                for op in (changed, posed.op)
            ]
    for new, own in zip(*found, strict=True):
        assert (new is None) == (own is None)
        if new is not None and np.size(own):
            assert np.shape(new) == np.shape(own)
            yield np.max(np.abs(np.asarray(new, float) - np.asarray(own, float))), np.max(np.abs(own))


@pytest.mark.parametrize(("library", "op", "mode", "name"), NAMED, ids="-".join)
def test_a_changed_reference_is_the_operators_own_where_the_cause_does_not_happen(library, op, mode, name):
    posed = question(op, mode)
    found = list(differences(posed, mode, function_of(str(LEDGERS / library), name, op)))
    assert found
    assert all(d <= FAR.get(name, CLOSE) * max(size, 1e-3) for d, size in found), found


def test_another_formula_is_noticed():
    posed = question("tan", "gradient")
    ((difference, size),) = differences(posed, "gradient", lambda g, y, x: g * (1 + np.abs(np.tan(x))))
    assert difference > CLOSE * size
    assert math.isfinite(difference)
