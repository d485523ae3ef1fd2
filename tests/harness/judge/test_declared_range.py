"""Arithmetic that is declared to be the dtype's own has its range: what falls below it on the way is lost."""

import numpy as np
import pytest

from opproof.cases import Case
from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import Mode
from opproof.harness.judge.judgement import Rules, judge
from opproof.harness.judge.outputs import Outputs
from opproof.harness.reference.question import make_question
from opproof.reference_ops import load


@pytest.mark.parametrize("text", ["cumprod[x=3x32;dim=-1;f16;layout=offset]", "cumprod[x=16x256;dim=0;f16]"])
def test_arithmetic_in_float16_has_its_exponents(text):
    """A product that passes through float16's subnormal numbers and grows again: what float16 lost it has lost."""
    posed = make_question(Case.parse(text), load("cumprod"), Mode.FORWARD).case_data
    dim, x = posed.params["dim"], posed.inputs[0].astype(np.float16)
    honest = np.cumprod(x, axis=dim)
    assert (np.abs(honest) < DTYPES["f16"].tiny).any()
    for answer, verdict in [
        (honest, "PASS"),
        (np.where(np.abs(honest) < DTYPES["f16"].tiny, honest, honest * np.float16(1.1)), "WRONG_VALUE"),
        (np.cumprod(np.flip(x, dim), axis=dim), "WRONG_VALUE"),
        (np.where(np.abs(honest) < 4 * DTYPES["f16"].tiny, 0, honest), "WRONG_VALUE"),
    ]:
        assert judge(posed, Outputs([answer.astype(np.float16)]), Rules(declared="f16")).verdict == verdict
