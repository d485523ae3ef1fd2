"""Answers to tensors of several dtypes: the honest one passes, each way to read one of them wrongly fails."""

import ml_dtypes
import numpy as np
import pytest
from _ask import judged

from opproof.backends.numpy import NumPy
from opproof.backends.table import LIKE
from opproof.cases import Case
from opproof.cases._registry import all_names, listed_cases
from opproof.core.dtypes import DTYPES
from opproof.harness.run.plan import has_gradient
from opproof.reference_ops import load

HONEST = NumPy()
HALF, BFLOAT = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)

CASES = [str(c) for op in all_names() for c in listed_cases(op) if c.mixed]
FIRST = {Case.parse(c).op: c for c in reversed(CASES)}
#: f32 beside f16: products, whose data must not be rounded to the dtype of the weights.
PRODUCTS = [c for c in CASES if Case.parse(c).dtypes == ("f32", "f16") and "mask" not in c and "extreme" not in c]


class Reading(NumPy):
    """The honest answer to other inputs: each as `read` makes it of the array, and its gradients in the dtype asked."""

    mixed = True

    def __init__(self, read):
        self.read = read

    def forward(self, op, inputs, params, out=None):
        del out
        like = inputs[LIKE.get(op, 0)].dtype
        return [y.astype(like) for y in HONEST.forward(op, list(map(self.read, inputs)), params)]

    def vjp(self, op, inputs, params, cotangents, needs, out=None):
        del out
        found = HONEST.vjp(op, list(map(self.read, inputs)), params, cotangents, needs)
        return [None if d is None else d.astype(x.dtype) for d, x in zip(found, inputs, strict=True)]


def other_format(x):
    """f16 taken for bf16, bit by bit."""
    return x if x is None or x.dtype != HALF else x.view(BFLOAT)


def rounded_to_half(x):
    return x if x is None or x.dtype != np.float32 else x.astype(HALF).astype(np.float32)


def half_through_bfloat(x):
    return x if x is None or x.dtype != HALF else x.astype(BFLOAT).astype(HALF)


@pytest.mark.parametrize("case", FIRST.values())
@pytest.mark.parametrize("mode", ["forward", "gradient"])
def test_the_honest_backend_passes(case, mode):
    if mode == "gradient" and not has_gradient(Case.parse(case), load(Case.parse(case).op)):
        pytest.skip("no gradient")
    assert judged(HONEST, case, mode).verdict == "PASS"


@pytest.mark.parametrize("case", [c for c in PRODUCTS if "exact" not in c])
def test_data_of_f32_is_not_rounded_to_f16(case):
    found = judged(Reading(rounded_to_half), case)
    assert found.verdict == "WRONG_VALUE"


@pytest.mark.parametrize("case", PRODUCTS)
def test_f16_is_no_bf16(case):
    assert judged(Reading(other_format), case).verdict == "WRONG_VALUE"


@pytest.mark.parametrize("case", [c for c in PRODUCTS if "exact" not in c])
def test_f16_has_more_digits_than_bf16(case):
    assert judged(Reading(half_through_bfloat), case).verdict == "WRONG_VALUE"


NORM = "layer_norm[x=7x33;weight=33,;bias=33,;normalized_shape=(33);bf16;mixed=weight:f32,bias:f32]"


class Storing(NumPy):
    """Gradients stored in another dtype on their way."""

    def __init__(self, dtype):
        self.dtype = dtype

    def vjp(self, op, inputs, params, cotangents, needs, out=None):
        del out
        found = HONEST.vjp(op, inputs, params, cotangents, needs)
        return [None if d is None else d.astype(self.dtype).astype(d.dtype) for d in found]


def test_a_gradient_of_f32_beside_data_of_bf16_keeps_its_digits():
    found = judged(Storing(BFLOAT), NORM, "gradient")
    assert found.verdict == "WRONG_GRADIENT"
    assert {j.name for j in found.tensors if not j.comparison.passed.all()} == {"weight", "bias"}
    assert judged(Storing(np.float32), NORM, "gradient").verdict == "PASS"


class Promoting(NumPy):
    """Gradients and results of f32, whatever is asked for."""

    def forward(self, op, inputs, params, out=None):
        del out
        return [y.astype(np.float32) for y in HONEST.forward(op, inputs, params)]

    def vjp(self, op, inputs, params, cotangents, needs, out=None):
        del out
        return [None if d is None else d.astype(np.float32) for d in HONEST.vjp(op, inputs, params, cotangents, needs)]


def test_results_have_the_dtype_of_what_they_are_like_gradients_their_own():
    forward = judged(Promoting(), NORM)
    assert (forward.verdict, forward.message) == ("WRONG_DTYPE", "output y has dtype float32, expected bfloat16")
    product = "matmul[a=5x33;b=33x17;f32;mixed=b:f16]"
    assert judged(Promoting(), product).verdict == "PASS"
    backward = judged(Promoting(), product, "gradient")
    assert (backward.verdict, backward.message) == (
        "WRONG_DTYPE", "gradient of b has dtype float32, expected float16",
    )  # fmt: skip


def test_a_gradient_of_f16_is_stored_once():
    """In units of f16: one spacing off is wrong, a rounding is not."""

    class Off(NumPy):
        def vjp(self, op, inputs, params, cotangents, needs, out=None):
            del out
            found = HONEST.vjp(op, inputs, params, cotangents, needs)
            return [None if d is None else d * d.dtype.type(1.01) if d.dtype == HALF else d for d in found]

    found = judged(Off(), "matmul[a=5x33;b=33x17;f32;mixed=b:f16]", "gradient")
    assert found.verdict == "WRONG_GRADIENT"
    assert found.worst.tensor == "b"


def test_8_bit_weights_have_no_gradient():
    found = judged(HONEST, "matmul[a=5x33;b=33x17;bf16;mixed=b:f8e4m3]", "gradient")
    assert found.verdict == "PASS"
    only = judged(HONEST, "matmul[a=5x33;b=33x17;bf16;mixed=b:f8e4m3;needs=b]", "gradient")
    assert (only.verdict, only.message) == ("UNSUPPORTED", "no input of this operator has a gradient")


def test_adapters_know_what_results_are_like():
    stated = {op: load(op) for op in all_names() if load(op).facts["LIKE"]}
    assert {op: o.tensors.index(o.like) for op, o in stated.items()} == LIKE


@pytest.mark.parametrize("case", CASES)
def test_tensors_apart_are_numbers_of_their_dtype(case):
    parsed = Case.parse(case)
    assert parsed.mixed
    for name, dtype in parsed.mixed:
        assert parsed.dtype_of(name) == dtype
        assert dtype in DTYPES
        assert name != load(parsed.op).like
