"""A parameter rounded to 16 bits is told, with both values; a store that rounds to one side is not taken for it."""

import ml_dtypes
import numpy as np
import pytest
from _ask import attempted

from opproof.backends.numpy import NumPy
from opproof.core.verdicts import Verdict
from opproof.harness.diagnose.diagnosis import diagnose

F, G = "forward", "gradient"


class Rounded(NumPy):
    """The references, but parameters that are floats are rounded to `dtype`."""

    def __init__(self, dtype):
        self.dtype = dtype

    def _narrowed(self, params):
        return {n: float(self.dtype(v)) if isinstance(v, float) else v for n, v in params.items()}

    def forward(self, op, inputs, params):
        return super().forward(op, inputs, self._narrowed(params))

    def vjp(self, op, inputs, params, cotangents, needs):
        return super().vjp(op, inputs, self._narrowed(params), cotangents, needs)


class Truncated(NumPy):
    """The references, stored towards zero."""

    def forward(self, op, inputs, params):
        wide = [x.astype(np.float32) for x in inputs]
        (y,) = super().forward(op, wide, params)
        near = y.astype(inputs[0].dtype)
        return [np.where(np.abs(near.astype(np.float32)) > np.abs(y), np.nextafter(near, np.float16(0)), near)]


def told(backend, case, mode=F):
    one = attempted(backend, case, mode)
    assert one.judgement.verdict in (Verdict.WRONG_VALUE, Verdict.WRONG_GRADIENT), one.judgement
    return diagnose(one.posed, one.answer, one.judgement, one.rules)


@pytest.mark.parametrize(
    ("dtype", "case", "mode", "said"),
    [
        (
            np.float16,
            "leaky_relu[x=5x131;negative_slope=0.01;f16;fill=negative]",
            F,
            "y is that of negative_slope rounded to f16, 0.01000213623046875 in place of 0.01",
        ),
        (
            np.float16,  # at a kink too: no sum over kinks is to blame
            "leaky_relu[x=256x256;negative_slope=0.01;f16;fill=every]",
            F,
            "y is that of negative_slope rounded to f16, 0.01000213623046875 in place of 0.01",
        ),
        (
            np.float16,
            "leaky_relu[x=2x1031;negative_slope=0.1;f16]",
            G,
            "the gradient of x is that of negative_slope rounded to f16, 0.0999755859375 in place of 0.1",
        ),
        (
            ml_dtypes.bfloat16,
            "elu[x=7x33;alpha=-0.3;f32]",
            F,
            "y is that of alpha rounded to bf16, -0.30078125 in place of -0.3",
        ),
    ],
)
def test_a_rounded_parameter_is_told(dtype, case, mode, said):
    assert told(Rounded(dtype), case, mode) == said


def test_a_store_that_truncates_is_no_rounded_parameter():
    assert "rounded to f16," not in told(Truncated(), "leaky_relu[x=5x131;negative_slope=0.01;f16;fill=negative]")


def test_another_value_is_no_rounded_parameter():
    class Other(NumPy):
        def forward(self, op, inputs, params):
            return super().forward(op, inputs, {**params, "negative_slope": 0.02})

    said = told(Other(), "leaky_relu[x=5x131;negative_slope=0.01;f16;fill=negative]")
    assert "rounded to" not in said
