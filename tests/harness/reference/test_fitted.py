"""Integers are drawn so that no arithmetic on the way to a result leaves the dtype, and some come close."""

from dataclasses import replace

import numpy as np
import pytest

from opproof.cases import Case, cases_of
from opproof.core.dtypes import DTYPES
from opproof.core.errors import CaseError
from opproof.core.tuples import tuple_of
from opproof.harness.reference.data import fill_parameters, inputs_of, order_arguments
from opproof.reference_ops import load, names

TYPED = [c for name in names() if load(name).partials is not None for c in cases_of(name) if DTYPES[c.dtype].whole]


@pytest.mark.parametrize("case", TYPED, ids=str)
def test_results_fit_and_what_is_passed_through(case):
    op, kind = load(case.op), DTYPES[case.dtype]
    inputs = order_arguments(case, op, inputs_of(case, op))
    params = fill_parameters(case, op)
    with np.errstate(all="ignore"):
        found = [*tuple_of(op.forward(*inputs, **params)), *op.partials(*inputs, **params)]
    for y in map(np.asarray, found):
        assert ((y >= kind.min) & (y <= kind.max)).all()
    assert all((x == np.rint(x)).all() for x in inputs)


def of(text):
    case = Case.parse(text)
    op = load(case.op)
    values = inputs_of(case, op)
    return values, np.asarray(op.forward(*order_arguments(case, op, values), **fill_parameters(case, op)))


@pytest.mark.parametrize("case", ["add[a=7x33;b=7x33;i8]", "mul[a=7x33;b=7x33;i32]", "sub[a=7x33;b=7x33;u8]"])
def test_only_what_overflows_becomes_smaller(case):
    values, y = of(case)
    kind = DTYPES[Case.parse(case).dtype]
    assert {kind.max} <= {*np.unique(values["a"]), *np.unique(values["b"])}
    assert np.abs(y).max() > kind.max / 2


def test_the_least_number_is_not_divided_by_minus_one():
    values, _ = of("remainder[a=7x33;b=7x33;i8;fill=ends]")
    assert not ((values["a"] == -128) & (values["b"] == -1)).any()
    assert (values["a"] == -128).any()
    assert (values["b"] == -1).any()
    assert (values["b"] != 0).all()


def test_sums_pass_through_no_overflow():
    values, _ = of("sum[x=7x33;dim=-1;i8;fill=ends]")
    assert np.maximum(values["x"], 0).sum(-1).max() <= 127
    assert np.minimum(values["x"], 0).sum(-1).min() >= -128


def test_a_broadcast_tensor_stays_one():
    values, _ = of("add[a=5x63;b=5x63;i8;layout=a:broadcast]")
    assert (values["a"] == values["a"][:1]).all()


def test_shifts_are_within_the_dtype():
    values, _ = of("bitwise_left_shift[a=7x33;b=7x33;i8]")
    assert values["b"].min() >= 0
    assert values["b"].max() <= 7


def test_what_fits_for_no_data_is_said():
    case = Case.parse("add[a=2x3;b=2x3;i8]")
    with pytest.raises(CaseError, match="its results fit i8 for no data"):
        inputs_of(case, replace(load("add"), forward=lambda a, b: a + b + 1000))
