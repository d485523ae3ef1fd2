"""A case that a trivial answer passes is no evidence, unless the operator or the shape makes it right."""

import numpy as np
import pytest

from opproof.backends.numpy import NumPy
from opproof.cases import Case
from opproof.harness.execute import execute
from opproof.harness.judge import Rules, judge
from opproof.harness.reference import Expected
from opproof.harness.vacuity import vacuous
from opproof.reference_ops import load


def judged(text, mode="forward"):
    case = Case.parse(text)
    op = load(case.op)
    return judge(case, op, mode, execute(NumPy(), case, op, mode), Rules())


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
        ("sigmoid[x=5x9;f16;fill=small]", "forward", "constant"),
    ],
)
def test_mistrusted(text, mode, answer):
    found = judged(text, mode)
    assert (found.verdict, found.message) == ("MISTRUSTED", f"{answer} would pass as well")


@pytest.mark.parametrize(
    ("text", "mode", "answer"),
    [
        ("reshape[x=4x9;shape=(6,6);f32]", "gradient", "copy"),
        ("sign[x=7x33;f32]", "gradient", "zeros"),
        ("add[a=7x33;b=7x33;f32]", "gradient", "copy"),
    ],
)
def test_declared_answers_are_no_objection(text, mode, answer):
    """Where an operator declares a trivial answer as its own; without the declaration the case is mistrusted."""
    assert judged(text, mode).verdict == "PASS"
    assert answer in load(text.partition("[")[0]).trivial(mode)


@pytest.mark.parametrize("text", ["softmax[x=7x1;dim=-1;f32]", "relu[x=0x3;f32]", "neg[x=0d;f32]"])
def test_shapes_that_leave_no_choice_are_no_objection(text):
    assert judged(text).verdict == "PASS"


def test_a_wrong_answer_is_wrong_first():
    """What fails is a failure, whatever else would pass."""
    case = Case.parse("relu[x=5x9;f32;fill=negative]")
    outcome = execute(NumPy(), case, load("relu"), "forward")
    outcome.arrays[0][2, 3] = 1
    assert judge(case, load("relu"), "forward", outcome, Rules()).verdict == "WRONG_VALUE"


def test_every_output_must_be_trivial_alike():
    """Zeros as one output of two leave the other as evidence; a gradient of two inputs likewise."""
    case, op = Case.parse("mul[a=4x4;b=4x4;f32]"), load("mul")
    zero, real = (Expected(v, np.zeros((4, 4))) for v in (np.zeros((4, 4)), np.arange(16.0).reshape(4, 4)))
    assert vacuous(case, op, "gradient", [zero, real], []) == ""
    assert vacuous(case, op, "gradient", [zero, zero], []) == "constant would pass as well"
    assert vacuous(case, op, "gradient", [zero, None], []) == "constant would pass as well"
    assert vacuous(case, op, "gradient", [real, real], []) == ""
    assert vacuous(case, op, "gradient", [real, real], [real.values]) == "copy would pass as well"


def test_nearly_trivial_is_not():
    """One element beyond the bound is evidence enough."""
    case, op = Case.parse("mul[a=4x4;b=4x4;f32]"), load("mul")
    values = np.ones((4, 4))
    values[3, 3] += 64 * 2.0**-24
    assert vacuous(case, op, "forward", [Expected(values, np.zeros((4, 4)))], []) == ""
    values[3, 3] = 1 + 4 * 2.0**-24
    assert vacuous(case, op, "forward", [Expected(values, np.zeros((4, 4)))], []) == "constant would pass as well"
