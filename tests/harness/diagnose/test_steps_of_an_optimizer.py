"""A step of an optimizer whose moments are corrected wrongly: no precision, nor a parameter that is merely near it."""

import numpy as np
import pytest
from _ask import attempted

from opproof.backends.numpy import create
from opproof.harness.diagnose.diagnosis import explain, find_other_patterns


class Adam:
    """Adam and AdamW in float32; `counted(step, i)` is the step by which moments of gradient i are corrected.

    The first moments, unless `right`, and the second.
    """

    def __init__(self, counted, stored=lambda y: y, *, right=False):
        self.counted, self.stored, self.right = counted, stored, right

    def forward(self, op, inputs, params):
        p, apart = params, op == "opt_steps_adamw"
        (param, grads, m, v), dtype = (x.astype(np.float32) for x in inputs), inputs[0].dtype
        for i, grad in enumerate(grads):
            step = self.counted(p["step"], i)
            first = p["step"] + i if self.right else step
            decay = p["weight_decay"] * param
            g = grad if apart else grad + decay
            m = p["beta1"] * m + (1 - p["beta1"]) * g
            v = p["beta2"] * v + (1 - p["beta2"]) * g * g
            size = np.sqrt(v / (1 - p["beta2"] ** step)) + p["eps"]
            moved = p["lr"] * m / (1 - p["beta1"] ** first) / size + (p["lr"] * decay if apart else 0)
            param = self.stored((param - moved).astype(np.float32))
        return [y.astype(dtype) for y in (param, m, v)]


def of_the_first(step, i):
    """The correction is not counted on."""
    return step


def as_counted(step, i):
    return step + i


def told(backend, case):
    made = attempted(backend, case)
    assert made.judgement.verdict == "WRONG_VALUE"
    label, said = explain(made.posed, made.answer, made.judgement, made.rules)
    return label, said, [s for _, s in find_other_patterns(made.posed, made.answer, made.judgement, said)]


CASE = "opt_steps_adam[param={0};grads=3x{0};exp_avg={0};exp_avg_sq={0};lr=0.2;beta1=0.0;eps=1.0;{1}]"
WIDE = CASE.format("5x31", "weight_decay=0.5;step=7;f32;fill=wide")
SLICED = CASE.format("4x127", "weight_decay=0.5;step=7;f32;layout=sliced")


@pytest.mark.parametrize("case", [WIDE, SLICED])
def test_errors_that_grow_with_the_step_are_no_arithmetic(case):
    """A correction that is frozen is a factor near 1 of what is subtracted, another one from step to step."""
    assert "arithmetic" not in told(Adam(of_the_first), case)[1]


@pytest.mark.parametrize("case", [WIDE, SLICED])
def test_parameters_stored_in_a_lower_precision_are_so(case):
    coarse = Adam(as_counted, stored=lambda y: (y * (1 + 2**-9 * np.sin(1e5 * y))).astype(np.float32))
    assert "arithmetic" in told(coarse, case)[1]


class Instead:
    """The numpy backend with another value of a parameter."""

    def __init__(self, **params):
        self.params = params

    def forward(self, op, inputs, params):
        return create().forward(op, inputs, {**params, **self.params})


OFFSET = (
    "opt_steps_adam[param=6x11;grads=9x6x11;exp_avg=6x11;exp_avg_sq=6x11;lr=0.01;eps=0.1;weight_decay=0.1;step=3;"
    "{};fill=offset]"
)
EDGE = "hardshrink[x=5x31;lambd=1.0;{};fill=wide]"


@pytest.mark.parametrize(
    ("backend", "case", "than"),
    [
        (Adam(of_the_first, right=True), OFFSET.format("f16"), None),
        (Instead(lambd=0.25), EDGE.format("f16"), "y is that of another lambd than 1.0: 0.25"),
        (Instead(lambd=0.25), EDGE.format("bf16"), "y is that of another lambd than 1.0: 0.25"),
    ],
)
def test_a_value_that_its_neighbours_explain_as_well_is_not_told_of_16_bits(backend, case, than):
    _, said, beside = told(backend, case)
    assert " instead of " not in said
    assert than is None or said == f"{than} explains it, and so do its neighbours"
    assert than is None or "y is that of lambd=0.25 instead of lambd=1.0" in beside  # other records may tell


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_a_value_that_alone_explains_16_bits_is_told(dtype):
    _, said, _ = told(Instead(alpha=0.5), f"elu[x=7x33;alpha=2.0;{dtype}]")
    assert said == "y is that of alpha=0.5 instead of alpha=2.0"


SHORT = (
    "opt_steps_adamw[param=5x31;grads=3x5x31;exp_avg=5x31;exp_avg_sq=5x31;lr=0.01;eps=0.1;weight_decay=0.1;step=3;bf16;"
    "layout=param:broadcast]"
)


def test_a_variance_of_samples_is_that_of_an_operator_with_statistics():
    assert "variance" not in told(Adam(of_the_first, right=True), SHORT)[1]
