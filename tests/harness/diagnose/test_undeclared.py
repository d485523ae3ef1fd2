"""A composite that stores its intermediates in 16 bits is told what it may declare; a wrong formula is not."""

import numpy as np
import pytest
from _ask import attempted
from _rounding_backend import Kernels, rounded, truncated

from opproof.backends.numpy import create
from opproof.harness.diagnose.diagnosis import diagnose
from opproof.harness.run.record import record
from opproof.harness.run.task import Task
from opproof.reports.advice import withdraw_refuted

NORM = "rms_norm[x=33x65;weight=65,;bf16]"
SENTENCE = 'passes if its intermediates are stored in bf16: declare it (compute -> "storage"), or accumulate in float32'


class Composite(Kernels):
    """rms_norm in steps, each of which stores its result."""

    def __init__(self, change=lambda y: y, compute=None):
        super().__init__(rounded, compute=compute)
        self.change = change

    def forward(self, op, inputs, params):
        x, weight = (v.astype(np.float32) for v in inputs)
        root = rounded(np.sqrt(rounded((x * x).mean(axis=-1, keepdims=True) + params["eps"]).astype(np.float32)))
        y = rounded(x / root.astype(np.float32)).astype(np.float32)
        return [rounded(self.change(y * weight))]


def said(backend, case=NORM):
    made = attempted(backend, case)
    assert made.judgement.verdict == "WRONG_VALUE"
    return diagnose(made.posed, made.answer, made.judgement, made.rules)


def test_a_composite_is_told():
    assert said(Composite()) == SENTENCE
    assert attempted(Composite(compute="storage"), NORM).judgement.verdict == "PASS"


def change_of_one(y):
    y[3, 5] *= 1.5
    return y


@pytest.mark.parametrize(
    "change", [lambda y: 1.1 * y, lambda y: -y, change_of_one], ids=["a factor", "a sign", "one element"]
)
def test_what_fails_by_the_declaration_too_is_not_told(change):
    assert SENTENCE not in said(Composite(change))


def test_a_factor_says_more():
    assert SENTENCE not in said(Kernels(lambda y: rounded(1.012 * y)))


def test_truncation_is_told_by_the_judgement_alone():
    assert said(Kernels(truncated)) == ""


def test_what_is_declared_is_not_told_again():
    assert SENTENCE not in said(Composite(change_of_one, compute="storage"))
    assert SENTENCE not in said(Composite(change_of_one, compute="f32"))


def test_other_dtypes_are_told_nothing():
    made = attempted(Kernels(lambda y: rounded(y).astype(np.float32)), NORM.replace("bf16", "f32"))
    assert made.judgement.verdict == "WRONG_VALUE"
    assert "declare it" not in diagnose(made.posed, made.answer, made.judgement, made.rules)


class BiasedVariance:
    """The numpy backend; the running variance has the variance of all n, not that of samples."""

    def forward(self, op, inputs, params):
        return create().forward(op, inputs, {**params, "unbiased": False})


BATCH = "batch_norm_training[x=2x3x5x7;running_mean=3,;running_var=3,;weight=3,;bias=3,;momentum=0.75;{}]"


def test_what_float32_has_wrong_too_is_no_precision():
    """Of 70 elements a variance that is 1 / 70 too small passes as what lies between the steps, rounded to bf16."""
    made = [(c, attempted(BiasedVariance(), c)) for c in map(BATCH.format, ("f32", "bf16;layout=offset"))]
    wide, narrow = (record(Task("made here", case, "forward"), m) for case, m in made)
    assert narrow.diagnosis == SENTENCE
    assert withdraw_refuted([wide, narrow])[1].diagnosis == ""
    assert withdraw_refuted([narrow]) == [narrow]
