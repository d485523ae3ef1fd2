"""Gradients of operators without a vjp: differences judge them, and say where they cannot."""

from dataclasses import replace

import numpy as np
import pytest
from _ask import OF_NUMBERS
from _ask import judged as judged_by

from opproof.backends.numpy import NumPy
from opproof.cases import Case
from opproof.harness.reference.data import inputs_of
from opproof.reference_ops import load


def judged(text, *, factor=1.0, forward=None):
    """The built-in backend's gradient times `factor`, against the operator (or `forward`) without its vjp."""
    op = load(Case.parse(text).op)
    bare = replace(op, vjp=None, kinks=None, forward=op.forward if forward is None else forward)

    class Scaled(NumPy):
        def vjp(self, *call):
            return [None if d is None else (d * factor).astype(d.dtype) for d in super().vjp(*call)]

    found = judged_by(Scaled(), text, "gradient", bare)
    assert found.verdict in OF_NUMBERS, found.message
    return found


SMOOTH = [
    "sigmoid[x=5x7;f32]",
    "exp[x=5x7;f32]",
    "square[x=5x7;f32;fill=offset]",
    "softmax[x=4x9;dim=-1;f32;fill=wide]",
    "layer_norm[x=4x9;normalized_shape=(9);f32]",
    "matmul[a=3x5;b=5x4;f32]",
    "div[a=4x5;b=4x5;f32]",
    "log[x=5x7;f16]",
    "sin[x=5x7;bf16;fill=wide]",
]


@pytest.mark.parametrize("text", SMOOTH)
def test_smooth_functions_are_judged_everywhere(text):
    found = judged(text)
    assert (found.verdict, found.message) == ("PASS", "by finite differences of the reference")
    assert judged(text, factor=3 if "bf16" in text else 1.2 if "f16" in text else 1.001).verdict == "WRONG_GRADIENT"
    assert judged(text, factor=0).verdict == "WRONG_GRADIENT"


def test_elements_at_kinks_are_left_out_and_counted():
    found = judged("relu[x=6x11;f32;fill=zeros]")
    assert found.verdict == "PASS"
    assert found.message.startswith("by finite differences of the reference, ")
    assert found.message.endswith(" of 66 elements near kinks left out")
    assert judged("relu[x=6x11;f32;fill=zeros]", factor=2).verdict == "WRONG_GRADIENT"


def test_a_kink_anywhere_within_the_step_is_seen():
    text = "relu[x=6x11;f32;fill=small]"
    first = inputs_of(Case.parse(text), load("relu"))["x"].flat[7]
    for distance in (0.0, 0.3, -0.7):  # in steps
        found = judged(text, forward=lambda x, d=distance: np.maximum(x, first + d * 2.0**-13))
        assert " of 66 elements near kinks left out" in found.message


def test_jumps_leave_no_verdict():
    found = judged("relu[x=6x11;f32;fill=halves]", forward=lambda x: np.floor(x * 64) * (x + 10))
    assert (found.verdict, found.worst) == ("INCONCLUSIVE", None)
    assert found.message == "the function is not smooth enough within a difference step at any element"
