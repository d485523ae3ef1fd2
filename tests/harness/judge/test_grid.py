"""An answer whose numbers have fewer digits than its dtype fails, also where 16-bit intermediates are declared."""

import numpy as np
import pytest

from opproof.cases import Case
from opproof.core.dtypes import DTYPES, round_to
from opproof.core.verdicts import Mode
from opproof.harness.judge.array_statistics import count_fewer_digits
from opproof.harness.judge.judgement import Rules, judge
from opproof.harness.judge.outputs import Outputs
from opproof.harness.reference.expected import values_of
from opproof.harness.reference.question import make_question
from opproof.reference_ops import load

F16, BF16, F32 = (DTYPES[name] for name in ("f16", "bf16", "f32"))
STORAGE = Rules(declared="storage")


def judged(text, mode, change, rules=STORAGE):
    """The judgement of the reference's own answer, changed and stored."""
    case = Case.parse(text)
    posed = make_question(case, load(case.op), mode).case_data
    stored = [None if y is None else change(y).astype(DTYPES[case.dtype].numpy) for y in values_of(posed)]
    return judge(posed, Outputs(stored), rules)


def through_bf16(values):
    return round_to(values, BF16)


def numbers(count):
    return np.random.default_rng(5).normal(size=count)


@pytest.mark.parametrize(("kind", "less", "digits"), [(F16, BF16, 8), (F32, F16, 11), (F32, BF16, 8)])
def test_numbers_of_less_are_told_from_those_of_their_own_dtype(kind, less, digits):
    values = numbers(64)
    own, fewer = round_to(values, kind), round_to(values, less)
    assert count_fewer_digits(own, values, np.abs(values), kind) == 0
    assert count_fewer_digits(fewer, values, np.abs(values), kind) == digits


def test_it_takes_sixteen_different_numbers():
    values = numbers(64)
    off = values[np.abs(round_to(values, BF16) - values) >= 0.3 * 2.0**-7 * np.abs(values)][:15]
    same = np.repeat(off, 9)
    assert count_fewer_digits(round_to(same, BF16), same, np.abs(same), F16) == 0


def test_numbers_that_are_expected_on_the_grid_tell_nothing():
    values = round_to(numbers(64), BF16)
    assert count_fewer_digits(values, values, np.abs(values), F16) == 0


def test_what_cancels_lies_on_a_grid_for_good_reason():
    """exp(x) - 1 of small positive x, the exponential stored in float16: at least three bits are gone everywhere."""
    case = Case.parse("expm1[x=64x64;f16]")
    posed = make_question(case, load("expm1"), Mode.FORWARD).case_data
    x = 2.0**-4 + 2.0**-5 * np.random.default_rng(2).random((64, 64))
    asked = posed.given(inputs=(round_to(x, F16),))
    answer = round_to(np.exp(asked.inputs[0]), F16) - 1
    values = np.expm1(asked.inputs[0])
    noise = np.exp(x)  # of one store
    assert count_fewer_digits(answer.ravel(), values.ravel(), noise.ravel(), F16) == 0
    assert count_fewer_digits(answer.ravel(), values.ravel(), 0.1 * values.ravel(), F16) > 0  # were nothing stored


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("gelu[x=7x33;f16]", Mode.FORWARD),
        ("gelu[x=7x33;f16]", Mode.GRADIENT),
        ("layer_norm[x=7x33;normalized_shape=(33);f16]", Mode.FORWARD),
        ("add[a=7x33;b=33,;f16]", Mode.FORWARD),
    ],
)
def test_float16_by_way_of_bfloat16_fails_where_storage_is_declared(text, mode):
    assert judged(text, mode, lambda y: round_to(y, F16)).verdict == "PASS"
    found = judged(text, mode, through_bf16)
    assert found.verdict == ("WRONG_VALUE" if mode is Mode.FORWARD else "WRONG_GRADIENT")
    assert found.message == (
        "every element is within its bound, but none of its numbers has more than 8 digits, those of bf16"
    )
