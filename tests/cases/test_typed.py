"""Rows in the dtypes beside floats: of every operator that has a meaning there, of no other, and few of each."""

import numpy as np
import pytest
from arrays import OTHER_CASES

from opproof.cases import Case, cases_of
from opproof.cases._registry import drawn_cases
from opproof.cases._rows.typed import typed
from opproof.core.dtypes import DTYPES, FLOATS
from opproof.core.errors import CaseError
from opproof.harness.reference.data import inputs_of
from opproof.harness.reference.valid_case import check_case
from opproof.harness.run.plan import has_gradient
from opproof.harness.space.factors import forms_of
from opproof.reference_ops import load, names


@pytest.mark.parametrize("name", names())
def test_an_operator_has_cases_in_the_dtypes_of_its_kinds_and_no_others(name):
    op = load(name)
    own = [c for c in cases_of(name) if c.dtype not in FLOATS]
    assert {DTYPES[c.dtype].kind for c in own} == {DTYPES[d].kind for d in op.dtypes if d not in FLOATS}
    drawn = set(drawn_cases(name, "standard"))
    assert len(set(own) - drawn) <= 17
    assert len(drawn & set(own)) <= OTHER_CASES * len(forms_of(op))
    assert not any(has_gradient(c, op) for c in own)


def test_rows_take_their_places():
    rows = typed("float8 signed unsigned", "x=3x5;dim=1", "x=4x8;f32", "x=4x16;needs=x", "x=5x4;layout=sliced", "x=0x2")
    assert rows == [
        *("x=3x5;dim=1;i8", "x=3x5;dim=1;f8e4m3", "x=4x16;i32", "x=4x16;f8e5m2", "x=5x4;layout=sliced;i16"),
        *("x=5x4;layout=sliced;f8e5m2", "x=0x2;i8", "x=3x5;dim=1;fill=ends;i8,i32,u8"),
        *("x=3x5;dim=1;fill=past-f32;i32", "x=3x5;dim=1;fill=special;f8e5m2"),
    ]


def test_whole_numbers_take_whole_parameters():
    ends = ["x=4x5;min=1;fill=ends;i8,i32", "x=4x5;min=1;fill=past-f32;i32"]
    assert typed("signed", "x=3x5;min=0.5", "x=4x5;min=1") == ["x=4x5;min=1;i8", *ends]
    assert typed("float8", "x=3x5;min=0.5", special=False) == ["x=3x5;min=0.5;f8e4m3"]


def test_a_fill_that_draws_zeros_stays():
    assert typed("signed", "x=3x5;fill=zeros", ends=False) == ["x=3x5;fill=zeros;i8"]


@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "u8"])
def test_ends_of_the_range_are_met(dtype):
    case = Case.parse(f"flip[x=7x33;dims=(1);{dtype};fill=ends]")
    (values,) = inputs_of(case, load("flip")).values()
    kind = DTYPES[dtype]
    assert {kind.min, kind.max, 0.0, *([-1.0] if kind.min else [])} <= set(np.unique(values))
    assert (values == np.rint(values)).all()


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("sigmoid[x=4,;i8]", "sigmoid has no meaning in i8: expected one of f64, f32, f16, bf16"),
        ("neg[x=4,;u8]", "neg has no meaning in u8: expected one of f64, f32, f16, bf16, f8e4m3, f8e5m2, i8, i16, i32"),
        (
            "neg[x=4,;i8;fill=wide]",
            "fill 'wide' draws no integers in neg[x=4,;i8;fill=wide]: expected one of normal",
        ),
        ("neg[x=4,;f32;fill=ends]", "fill 'ends' draws integers, and neg[x=4,;f32;fill=ends] is of floats"),
    ],
)
def test_what_has_no_meaning_is_said(case, said):
    with pytest.raises(CaseError) as raised:
        check_case(Case.parse(case))
    assert said in str(raised.value)
