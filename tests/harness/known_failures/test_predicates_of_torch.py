"""Where PyTorch's known failures happen: predicates of backends/torch/causes.py, on layouts on either side."""

import pytest

from opproof.cases import Case
from opproof.core.verdicts import Mode
from opproof.harness.known_failures.causes import function_of
from opproof.harness.known_failures.findings import LEDGERS
from opproof.harness.reference.question import make_question
from opproof.reference_ops import load

INT_MM = "scaled_mm[a={a};b={b};scale_a=0d;scale_b=0d;type=i8;f32;layout={layout}]"


def holds(name, text):
    case = Case.parse(text)
    return function_of(str(LEDGERS / "torch"), name)(make_question(case, load(case.op), Mode.FORWARD).case_data)


@pytest.mark.parametrize(
    ("a", "b", "layout", "short"),
    [
        ("5x8", "3x8", "contiguous", False),
        ("1x8", "3x8", "contiguous", False),
        ("1x8", "3x8", "a:transposed", True),
        ("1x8", "3x8", "a:gapped", False),
        ("5x1", "3x1", "contiguous", True),
        ("5x1", "1x1", "contiguous", False),
        ("5x8", "1x8", "b:transposed", False),
        ("5x8", "3x8", "a:transposed,b:sliced", False),
    ],
)
def test_a_stride_of_an_axis_of_one_is_less_than_a_row(a, b, layout, short):
    assert holds("has_short_stride", INT_MM.format(a=a, b=b, layout=layout)) == short


@pytest.mark.parametrize(
    ("shape", "into", "several"),
    [
        ("2x3x5x4", "permuted", True),
        ("2x3x5x4", "exchanged", True),
        ("2x3x5x4", "middle", True),
        ("2x3x5x4", "transposed", False),
        ("2x3x5x4", "gapped", False),
        ("3x5x4", "permuted", False),
        ("5x4", "permuted", False),
    ],
)
def test_matrices_of_a_result_lie_one_stride_apart(shape, into, several):
    assert holds("has_batch_of_several_strides", f"tril[x={shape};diagonal=0;f32;into={into}]") == several
    assert not holds("has_batch_of_several_strides", f"tril[x={shape};diagonal=0;f32]")
