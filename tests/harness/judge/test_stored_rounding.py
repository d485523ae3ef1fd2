"""Where 16-bit intermediates are declared, a store that truncates is told from a factor, which a stored constant is."""

import numpy as np
import pytest

from opproof.cases import Case
from opproof.core.dtypes import DTYPES, round_to
from opproof.core.verdicts import Mode
from opproof.harness.judge.judgement import Rules, judge
from opproof.harness.judge.outputs import Outputs
from opproof.harness.reference.array_bias import measure_rounding_bias
from opproof.harness.reference.expected import values_of
from opproof.harness.reference.question import make_question
from opproof.reference_ops import load

BF16 = DTYPES["bf16"]
STORAGE = Rules(declared="storage")
CASES = [
    ("bmm[a=6x33x65;b=6x65x17;bf16]", Mode.FORWARD),
    ("matmul[a=65x33;b=33x65;f16]", Mode.FORWARD),
    ("linear[x=143x79;weight=137x79;bias=137,;bf16]", Mode.GRADIENT),
    ("mul[a=127x131;b=127x131;bf16]", Mode.FORWARD),
]


def toward_zero(values, kind):
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.trunc(np.ldexp(fraction, kind.digits)), exponent - kind.digits)


def judged(text, mode, stored, rules=STORAGE):
    """The judgement of the reference's own answer, stored so."""
    case = Case.parse(text)
    kind = DTYPES[case.dtype]
    posed = make_question(case, load(case.op), mode).case_data
    given = [None if y is None else stored(y, kind).astype(kind.numpy) for y in values_of(posed)]
    return judge(posed, Outputs(given), rules)


@pytest.mark.parametrize(("text", "mode"), CASES)
def test_truncation_fails(text, mode):
    assert judged(text, mode, round_to).verdict == "PASS"
    found = judged(text, mode, toward_zero)
    assert found.verdict == ("WRONG_VALUE" if mode is Mode.FORWARD else "WRONG_GRADIENT")
    assert "results are rounded towards zero (truncated)" in found.message
    assert judged(text, mode, toward_zero, Rules(declared="storage", rounding="truncate")).verdict == "PASS"


@pytest.mark.parametrize("constant", [np.log(2) * (1 - 2.0**-8.5), round_to(np.log(2), BF16)])
def test_a_constant_that_is_stored_is_a_factor(constant):
    """exp(x ln 2) for exp2, ln 2 in bf16: off by as much as x, to one side where x is positive."""
    case = Case.parse("exp2[x=1x65537;bf16;fill=positive]")
    posed = make_question(case, load("exp2"), Mode.FORWARD).case_data
    answer = round_to(np.exp(round_to(posed.inputs[0] * constant, BF16)), BF16)
    assert judge(posed, Outputs([answer.astype(BF16.numpy)]), STORAGE).verdict == "PASS"


def test_steps_are_told_from_a_factor():
    values = np.exp(np.random.default_rng(1).normal(size=4096))
    step = 2 * BF16.u * 2.0 ** np.floor(np.log2(values))
    for steps, factor in ((0.0, 0.7), (-0.5, 0.0), (0.4, -0.6)):
        found = measure_rounding_bias(steps * step + factor * BF16.u * values, values, BF16)
        assert found.steps == pytest.approx(steps, abs=1e-9)
        assert np.abs(found.parts).max() < 1e-9
    assert measure_rounding_bias(values, np.ones(9), BF16) is None


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("p", [0.01, 0.001, 0.3])
def test_numbers_times_a_stored_constant_are_no_evidence(dtype, p):
    """MLX's dropout: x times 1 / (1 - p), in 16 bits. Roundings of so few mantissas follow one another in order."""
    case = Case.parse(f"scale[x=127x131;s={1 / (1 - p)};{dtype}]")
    kind = DTYPES[dtype]
    posed = make_question(case, load("scale"), Mode.FORWARD).case_data
    answer = round_to(posed.inputs[0] * round_to(np.float64(1 / (1 - p)), kind), kind)
    found = judge(posed, Outputs([answer.astype(kind.numpy)]), STORAGE)
    assert found.verdict in ("PASS", "VACUOUS")  # near 1 a copy of x would pass too
    assert found.figures.rounding == ""


def test_a_sixth_in_float16_is_no_truncation():
    """JAX's hard sigmoid: the stored x + 3 times the stored 1 / 6, which is less than a sixth."""
    f16 = DTYPES["f16"]
    case = Case.parse("hardsigmoid[x=65537x1;f16]")
    posed = make_question(case, load("hardsigmoid"), Mode.FORWARD).case_data
    answer = round_to(np.clip(round_to(posed.inputs[0] + 3, f16), 0, 6) * round_to(np.float64(1 / 6), f16), f16)
    assert judge(posed, Outputs([answer.astype(np.float16)]), STORAGE).verdict == "PASS"


@pytest.mark.parametrize("seed", ["", ";seed=1", ";seed=3"])
def test_a_gradient_of_few_saved_results_may_lean(seed):
    """118 different numbers of bfloat16 between a half and 1, saved by thousands of elements: each rounds for many."""
    judgements = {}
    for fill in ("positive", "normal"):
        case = Case.parse(f"sigmoid[x=67x61;bf16;fill={fill}{seed}]")
        posed = make_question(case, load("sigmoid"), Mode.GRADIENT).case_data
        saved, cotangent = round_to(posed.outputs[0], BF16), posed.cotangents[0]
        steps = round_to(cotangent * round_to(saved * (1 - saved), BF16), BF16)
        truth = cotangent * posed.outputs[0] * (1 - posed.outputs[0])
        answers = {"steps": steps, "truncated": toward_zero(truth, BF16)}
        judgements |= {(fill, how): judge(posed, Outputs([y]), Rules()).verdict for how, y in answers.items()}
    assert judgements["positive", "steps"] == judgements["normal", "steps"] == "PASS"
    assert judgements["normal", "truncated"] == "WRONG_GRADIENT"
