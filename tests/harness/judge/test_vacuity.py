"""A case that a trivial answer passes is no evidence, unless the operator or the shape makes it right."""

from dataclasses import replace

import numpy as np
import pytest
from _ask import attempted
from _ask import judged as judged_by

from opproof.backends.numpy import NumPy
from opproof.cases import Case
from opproof.cases._registry import listed_cases
from opproof.core.verdicts import Mode
from opproof.harness.judge.judgement import Rules, find_vacuous_answers, judge
from opproof.harness.reference.data import inputs_of
from opproof.harness.reference.expected import evaluate_expected
from opproof.harness.reference.question import Expected, Question, make_question
from opproof.reference_ops import load


def judged(text, mode="forward"):
    return judged_by(NumPy(), text, mode)


def vacuous_of(text, mode, expected, inputs):
    """What is said of these expected arrays beside inputs that are set by hand."""
    case = Case.parse(text)
    names = tuple(case.shapes)[: len(inputs)]
    return find_vacuous_answers(Question(case, load(case.op), mode, names, tuple(inputs), (), ()), expected)


@pytest.mark.parametrize(
    ("text", "mode", "answer"),
    [
        ("relu[x=5x9;f32;fill=negative]", "forward", "constant"),  # zeros are one
        ("relu[x=5x9;f32;fill=negative]", "gradient", "constant"),
        ("relu[x=5x9;f32;fill=positive]", "forward", "copy"),
        ("relu[x=5x9;f32;fill=positive]", "gradient", "copy"),
        ("step[x=5x9;f32;fill=positive]", "forward", "constant"),
        ("clamp[x=5x9;min=90.0;max=99.0;f32]", "forward", "constant"),
        ("softmax[x=5x9;dim=-1;f16;fill=constant]", "forward", "constant"),
        ("sigmoid[x=5x9;bf16;fill=small]", "forward", "constant"),
    ],
)
def test_vacuous(text, mode, answer):
    found = judged(text, mode)
    assert (found.verdict, found.message) == ("VACUOUS", f"{answer} would pass as well")


@pytest.mark.parametrize(
    ("text", "mode", "answer"),
    [
        ("reshape[x=4x9;shape=(6,6);f32]", "gradient", "copy"),
        ("sign[x=7x33;f32]", "gradient", "zeros"),
        ("add[a=7x33;b=7x33;f32]", "gradient", "copy"),
    ],
)
def test_declared_answers_are_no_objection(text, mode, answer):
    """Where an operator declares a trivial answer as its own; without the declaration the case is vacuous."""
    assert judged(text, mode).verdict == "PASS"
    assert answer in load(text.partition("[")[0]).trivial(mode)


@pytest.mark.parametrize("text", ["softmax[x=7x1;dim=-1;f32]", "relu[x=0x3;f32]", "neg[x=0d;f32]"])
def test_shapes_that_leave_no_choice_are_no_objection(text):
    assert judged(text).verdict == "PASS"


def test_a_wrong_answer_is_wrong_first():
    """What fails is a failure, whatever else would pass."""
    made = attempted(NumPy(), "relu[x=5x9;f32;fill=negative]")
    assert made.judgement.verdict == "VACUOUS"
    made.answer.arrays[0][2, 3] = 1
    assert judge(made.posed, made.answer, Rules()).verdict == "WRONG_VALUE"


def test_every_output_must_be_trivial_alike():
    """Zeros as one output of two leave the other as evidence; a gradient of two inputs likewise."""
    case = "mul[a=4x4;b=4x4;f32]"
    zero, real = (Expected(v, np.zeros((4, 4))) for v in (np.zeros((4, 4)), np.arange(16.0).reshape(4, 4)))
    assert vacuous_of(case, Mode.GRADIENT, [zero, real], []) == ""
    assert vacuous_of(case, Mode.GRADIENT, [zero, zero], []) == "constant would pass as well"
    assert vacuous_of(case, Mode.GRADIENT, [zero, None], []) == "constant would pass as well"
    assert vacuous_of(case, Mode.GRADIENT, [real, real], []) == ""
    assert vacuous_of(case, Mode.GRADIENT, [real, real], [real.values]) == "copy would pass as well"


def test_nearly_trivial_is_not():
    """One element beyond the bound is evidence enough."""
    case = "mul[a=4x4;b=4x4;f32]"
    values = np.ones((4, 4))
    values[3, 3] += 64 * 2.0**-24
    assert vacuous_of(case, Mode.FORWARD, [Expected(values, np.zeros((4, 4)))], []) == ""
    values[3, 3] = 1 + 4 * 2.0**-24
    assert vacuous_of(case, Mode.FORWARD, [Expected(values, np.zeros((4, 4)))], []) == "constant would pass as well"


def test_floats_are_no_whole_numbers():
    """Zeros are the only answer that a row of one leaves to argsort; its small input, truncated, is no copy of them."""
    case = "argsort[x=4x1;dim=-1;f32]"
    zeros = Expected(np.zeros((4, 1), dtype=np.int64), np.zeros((4, 1)), exact=True)
    assert vacuous_of(case, Mode.FORWARD, [zeros], [np.full((4, 1), 0.25)]) == ""
    assert judged("argsort[x=4x5;dim=-1;f32]").verdict == "PASS"


#: Operators with small, logical and lone inputs, of which some case at some seed once proved nothing.
CHANCY = (
    "add1 all argsort cross_entropy_loss_back div eq fmod ge gt hardshrink l1_loss le lerp logical_and logical_not lt "
    "masked_fill maximum minimum mul opt_step_sgd pow prelu rms_norm_back softshrink"
).split()


@pytest.mark.parametrize("name", CHANCY)
def test_no_seed_leaves_a_case_without_evidence(name):
    op = load(name)
    for case in listed_cases(name):
        small = sum(int(np.prod(s)) for s in case.shapes.values()) < 400
        for seed in (2, 6, 8) if small and case.dtype != "f32" else ():
            drawn = case.with_seed(seed)
            posed = make_question(drawn, op, Mode.FORWARD).case_data
            objection = find_vacuous_answers(posed, evaluate_expected(posed))
            assert not objection, f"{drawn}: {objection}"


@pytest.mark.parametrize("fill", ["normal", "kink", "exact", "ties", "signs"])
@pytest.mark.parametrize("seed", range(20))
def test_one_number_beside_many_decides_nothing(fill, seed):
    case = Case.parse("maximum[a=3x65;b=0d;f32]")
    values = inputs_of(replace(case, fill=fill, seed=seed), load("mul"))
    b = float(values["b"])
    assert b not in (0, 1)
    assert 0.25 <= abs(b) <= (3 if fill == "exact" else 1)


@pytest.mark.parametrize("seed", range(20))
def test_a_mask_is_never_all_alike(seed):
    case = Case.parse("masked_fill[x=3x32;mask=3x1;value=-1.0;f32]").with_seed(seed)
    assert set(np.unique(inputs_of(case, load("masked_fill"))["mask"])) == {0, 1}
