"""Rows whose cotangent is 0, as those that a loss leaves out: a backward that skips them has to clear them."""

import numpy as np
import pytest

from opproof.cases import Case
from opproof.core.verdicts import Mode
from opproof.harness.diagnose.diagnosis import diagnose
from opproof.harness.judge.judgement import Rules, judge
from opproof.harness.judge.outputs import Outputs
from opproof.harness.reference.data import cotangents_of
from opproof.harness.reference.question import evaluate_vjp, make_question
from opproof.reference_ops import load


@pytest.mark.parametrize(("shape", "rows"), [((7, 5), [1, 4]), ((2, 3, 4), [1, 4]), ((2, 5), [1]), ((1, 5), [])])
def test_every_third_row_is_0_beside_zeros(shape, rows):
    y = np.ones(shape)
    (g,) = cotangents_of(Case.parse("exp[x=2x257;f32;fill=zeros]"), [y])
    (usual,) = cotangents_of(Case.parse("exp[x=2x257;f32]"), [y])
    zero = (g.reshape(-1, shape[-1]) == 0).all(-1)
    assert np.flatnonzero(zero).tolist() == rows
    assert (usual != 0).any()
    assert not (usual.reshape(-1, shape[-1]) == 0).all(-1).any()


def test_rows_that_are_skipped_and_not_cleared():
    case = Case.parse("softmax[x=2x257;dim=-1;f32;fill=zeros]")
    posed = make_question(case, load(case.op), Mode.GRADIENT).case_data
    (d,) = evaluate_vjp(posed.op, posed.inputs, posed.params, posed.cotangents, posed.outputs)
    assert judge(posed, Outputs([d.astype(np.float32)]), Rules()).verdict == "PASS"
    left = Outputs([np.where((posed.cotangents[0] == 0).all(-1, keepdims=True), 7.0, d).astype(np.float32)])
    wrong = judge(posed, left, Rules())
    assert wrong.verdict == "WRONG_GRADIENT"
    assert diagnose(posed, left, wrong).startswith(
        "only rows whose cotangent is 0 are wrong: a backward that skips them"
    )
