"""Failures that are one mistake are told as one."""

from dataclasses import replace

import pytest

from opproof.core.verdicts import NEAR_ONE, SIZE, Mode, Verdict
from opproof.reports import Result
from opproof.reports.advice import withdraw_refuted
from opproof.reports.causes import find_causes, format_heading

BIAS = "the gradient of bias is not summed over axis 0"
FAIL = Result(
    case="conv2d[x=2x3x7x9;weight=4x3x3x3;bias=4,;f32]", op="conv2d", dtype="f32", backend="mine", mode=Mode.GRADIENT,
    verdict=Verdict.WRONG_GRADIENT, units=900.0, limit=16.0, diagnosis=BIAS,
)  # fmt: skip
SMALL = replace(FAIL, case="conv2d[x=1x1x3x3;weight=1x1x1x1;bias=1,;f16]", dtype="f16", diagnosis=BIAS)


def test_dtypes_and_shapes_of_one_cause_are_together_the_smallest_case_first():
    (cause,) = find_causes([FAIL, SMALL, replace(FAIL, case=FAIL.case.replace("2x3x7x9", "9x3x7x9"))])
    assert cause.smallest is SMALL
    assert format_heading(cause) == "conv2d gradient, WRONG_GRADIENT: 3 records, f32 f16"
    assert cause.explanation == BIAS


def test_numbers_of_a_case_do_not_part_a_cause():
    at = "only the elements where x ≤ {} of the gradient of x are wrong"
    assert len(find_causes([replace(FAIL, diagnosis=at.format(n)) for n in ("-49.66", "-48.57", "1e4")])) == 1
    assert len(find_causes([replace(FAIL, diagnosis=t) for t in (at, at.replace("≤", "≥"))])) == 2
    named = "the input x1 is ignored", "the input x2 is ignored"
    assert len(find_causes([replace(FAIL, diagnosis=t) for t in named])) == 2


@pytest.mark.parametrize(
    ("text", "cases"),
    [
        ("gradient of target is None, expected shape {}", ["()", "(3,)", "(1, 1025)", "(2, 3, 4, 7)"]),
        ("expected x of 2x3, got {}", ["0d", "3x7", "2x3x4x7"]),
        ("y is that of stride={}, its default", ["2", "(1, 1)", "(1, 2, 1)"]),
        (
            "only the elements of the first and last slices along {} of y are wrong",
            ["axis 0", "axes 2, 3", "axes 1, 2"],
        ),
        ("{} failed", ["conv2d[x=1x1x3x3;weight=1x1x1x1;bias=1,;f16]", "conv2d[x=2x3x7x9;weight=4x3x3x3;bias=4,;f32]"]),
    ],
)
def test_shapes_of_a_case_do_not_part_a_cause(text, cases):
    made = [replace(FAIL, case=c if "[" in c else FAIL.case, diagnosis="", message=text.format(c)) for c in cases]
    assert len({str(c.records) for c in find_causes(made)}) == 1


def test_the_dtype_of_a_case_does_not_part_a_cause_but_another_does():
    stored = "passes if its intermediates are stored in {}: declare it"
    narrow = [replace(SMALL, dtype=d, diagnosis=stored.format(d)) for d in ("f16", "bf16")]
    assert len(find_causes(narrow)) == 1
    looks = "looks like {} arithmetic: y is rounded to {}"
    assert len(find_causes([replace(FAIL, diagnosis=looks.format(d, d)) for d in ("f16", "bf16")])) == 2


def test_what_explains_all_records_wins():
    axis, strides = "as if it were over axis 0", "the strides of x are ignored"
    transposed = replace(FAIL, case=FAIL.case.replace("f32", "f32;layout=transposed"), diagnosis=strides, also=(axis,))
    plain = [replace(FAIL, diagnosis=axis), replace(SMALL, diagnosis=axis)]
    (cause,) = find_causes([transposed, *plain])
    assert cause.explanation == axis
    assert len(cause.records) == 3
    alone = find_causes([transposed])[0]
    assert alone.explanation == strides  # which says most where nothing else is known


def test_the_smallest_multiple_that_explains_all_is_named():
    at = "only the elements past {} along axis 0 (the last multiple of {}) of y are wrong"
    both = replace(FAIL, diagnosis=at.format(32, 4), also=(at.format(32, 8), at.format(32, 16)))
    (cause,) = find_causes([both, replace(SMALL, diagnosis=at.format(8, 8))])
    assert cause.explanation == at.format(8, 8)
    assert find_causes([both])[0].explanation == at.format(32, 4)
    apart = replace(SMALL, diagnosis=at.format(12, 64))
    assert len(find_causes([both, apart])) == 2


def test_operator_mode_verdict_and_backend_part_causes_and_the_worst_is_first():
    others = [
        replace(FAIL, op="conv1d"),
        replace(FAIL, mode=Mode.FORWARD, verdict=Verdict.WRONG_VALUE),
        replace(FAIL, verdict=Verdict.CRASH),
        replace(FAIL, backend="yours"),
    ]
    found = find_causes([*others, FAIL, SMALL])
    assert [len(c.records) for c in found] == [1, 2, 1, 1, 1]
    assert found[0].smallest.verdict == Verdict.CRASH  # which does harm, however few they are
    assert format_heading(found[1], ["mine", "yours"]) == "conv2d gradient on mine, WRONG_GRADIENT: 2 records, f32 f16"


STORED = 'passes if its intermediates are stored in bf16: declare it (compute -> "storage"), or accumulate in float32'
NARROW = replace(FAIL, case=FAIL.case.replace("f32", "bf16"), dtype="bf16", diagnosis=STORED, also=(BIAS,))
NARROW = replace(NARROW, patterns=(SIZE, "statistic"))


@pytest.mark.parametrize(
    "advice", [STORED, "looks like bf16 arithmetic: the errors of the gradient of bias are 0.94 units of it"]
)
def test_a_precision_is_not_advised_where_a_wider_dtype_is_wrong_too(advice):
    narrow = replace(NARROW, diagnosis=advice)
    (cause,) = find_causes([FAIL, narrow])
    assert cause.explanation == BIAS
    assert all(r.diagnosis == BIAS for r in cause.records)
    unexplained = find_causes([FAIL, replace(narrow, also=(), patterns=(SIZE,))])
    assert sorted(c.explanation for c in unexplained) == ["", BIAS]


@pytest.mark.parametrize(
    "wider",
    [
        replace(FAIL, op="conv1d"),
        replace(FAIL, mode=Mode.FORWARD, verdict=Verdict.WRONG_VALUE),
        replace(FAIL, verdict=Verdict.PASS),
        replace(FAIL, known="a ledger knows it"),
        replace(NARROW, dtype="f16"),
    ],
)
def test_a_precision_is_advised_where_no_wider_dtype_of_the_operator_and_mode_is_wrong(wider):
    assert withdraw_refuted([wider, NARROW]) == [wider, NARROW]


SIZED = replace(NARROW, also=(), patterns=(SIZE,))
FACTOR = replace(NARROW, diagnosis="every element of the gradient of bias is 1.01 × the expected value", also=())
FACTOR = replace(FACTOR, patterns=("factor",))
VALUES = {"mode": Mode.FORWARD, "verdict": Verdict.WRONG_VALUE}


@pytest.mark.parametrize(
    ("rule", "advised"),
    [
        (FACTOR, False),
        (replace(FACTOR, **VALUES), False),  # a gradient is of what is computed
        (replace(FACTOR, patterns=("precision",)), True),
        (replace(FACTOR, op="conv1d"), True),
        (replace(FACTOR, backend="yours"), True),
        (replace(FACTOR, verdict=Verdict.PASS), True),
        (replace(FACTOR, known="a ledger knows it"), True),
    ],
)
def test_a_precision_is_not_advised_where_as_many_records_name_a_rule(rule, advised):
    assert withdraw_refuted([rule, SIZED]) == (
        [rule, SIZED] if advised else [rule, replace(SIZED, diagnosis="", patterns=("",))]
    )
    few = [rule, SIZED, SIZED]
    assert withdraw_refuted(few) == few or rule.mode is Mode.FORWARD  # of a few numbers a factor fits by chance


def test_what_a_gradient_has_does_not_refute_values():
    values = replace(SIZED, **VALUES)
    assert withdraw_refuted([FACTOR, values]) == [FACTOR, values]


LOST = "y has errors of one size, however small it is: as where 1 is added and taken away again"
SLIGHT = replace(FAIL, diagnosis=LOST, patterns=(NEAR_ONE,), **VALUES)
FAR = replace(SLIGHT, diagnosis="", patterns=("",))


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (FAR, ""),
        (replace(FAR, dtype="bf16"), ""),
        (replace(FAR, patterns=("factor",), diagnosis="every element of y is 2 × the expected value"), ""),
        (replace(FAR, patterns=("large", NEAR_ONE), also=(LOST,)), LOST),
        (replace(FAR, nonfinite=3), LOST),  # NaN is a case of its own
        (replace(FAR, patterns=()), LOST),  # nobody looked
        (replace(FAR, mode=Mode.GRADIENT, verdict=Verdict.WRONG_GRADIENT), LOST),
        (replace(FAR, op="conv1d"), LOST),
        (replace(FAR, verdict=Verdict.PASS), LOST),
    ],
)
def test_digits_are_not_lost_beside_1_where_another_record_is_far_off(other, said):
    assert withdraw_refuted([other, SLIGHT])[1].diagnosis == said


def test_what_is_left_of_patterns_refutes_others_at_once():
    """Of the HTML page the records are sound, and so are its causes': a record that changed once more was in none."""
    factor = replace(SIZED, patterns=(SIZE, "factor"), also=(FACTOR.diagnosis,))
    wide = replace(SIZED, dtype="f32")
    made = withdraw_refuted([wide, wide, factor, factor])
    assert [r.diagnosis for r in made] == ["", "", FACTOR.diagnosis, FACTOR.diagnosis]
    assert withdraw_refuted(made) == made
