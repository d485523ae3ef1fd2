"""Inputs that were read otherwise, for one another or with other values are named; what is like them is not."""

import numpy as np
import pytest
from _ask import attempted
from test_patterns import Changed, told

from opproof.backends.numpy import create

F, G = "forward", "gradient"


class Given:
    """The numpy backend; what it is given is changed beforehand, and its gradients afterwards."""

    def __init__(self, inputs=lambda v: v, cotangent=lambda g: g, gradients=lambda ds: ds, mode=""):
        self.inputs, self.cotangent, self.gradients, self.mode = inputs, cotangent, gradients, mode

    def forward(self, op, inputs, params):
        changed = self.inputs(list(inputs)) if self.mode != G else list(inputs)
        return create().forward(op, [_like(v, old) for v, old in zip(changed, inputs, strict=True)], params)

    def vjp(self, op, inputs, params, cotangents, needs):
        changed = [_like(v, old) for v, old in zip(self.inputs(list(inputs)), inputs, strict=True)]
        given = [_like(self.cotangent(g), g) for g in cotangents]
        return self.gradients(create().vjp(op, changed, params, given, needs))


def _like(v, old):
    return None if v is None else np.ascontiguousarray(v).astype(old.dtype)


def only(i, change):
    """One of the inputs changed."""
    return lambda inputs: [*inputs[:i], change(inputs[i]), *inputs[i + 1 :]]


CONV = "conv2d[x=2x3x7x9;weight=4x3x3x3;bias=4,;padding=1;f32]"
QKV = "scaled_dot_product_attention[query=2x2x7x8;key=2x2x7x8;value=2x2x7x8;f32]"
MASKED = "scaled_dot_product_attention[query=2x3x5x8;key=2x3x7x8;value=2x3x7x8;keep=5x7;f32]"


@pytest.mark.parametrize(
    ("backend", "case", "mode", "sentence"),
    [
        (Given(only(1, lambda v: v[..., ::-1, ::-1])), CONV, F, "y is right for weight reversed along axes 2, 3"),
        (
            Given(only(1, lambda v: v.swapaxes(-1, -2))),
            CONV,
            F,
            "y is right for weight transposed: its axes 2 and 3 are swapped",
        ),
        (
            Given(only(1, lambda v: v.reshape(5, 33).T)),
            "matmul[a=7x33;b=33x5;f32]",
            F,
            "y is right for b read as if it were stored with its axes 0 and 1 swapped",
        ),
        (
            Given(only(1, lambda v: np.broadcast_to(v[:1], v.shape))),
            "bmm[a=3x4x5;b=3x5x6;f32]",
            F,
            "y is right for b read at index 0 of axis 0 everywhere",
        ),
        # Keys and values belong together: the one a place late is the other a place early.
        (
            Given(only(1, lambda v: np.roll(v, -1, -2))),
            QKV,
            F,
            "y is right for key read one place late along axis 2, or for value read one place early along axis 2",
        ),
        (
            Given(only(1, lambda v: 1 + v)),
            "rms_norm[x=7x33;weight=33,;f32]",
            F,
            "y is right for 1 + weight in place of weight",
        ),
        (
            Given(only(2, lambda v: -v)),
            "linear[x=7x33;weight=5x33;bias=5,;f32]",
            F,
            "y is right for -bias in place of bias",
        ),
        (Given(only(0, lambda v: 2 * v)), "softmax[x=7x33;dim=-1;f32]", F, "y is right for 2 x in place of x"),
        (
            Given(only(1, lambda v: (v + 1) % 7)),
            "embedding[weight=7x33;indices=5,;f32]",
            F,
            "y is right for indices + 1 in place of indices",
        ),
        (Given(only(4, lambda v: 1 - v)), MASKED, F, "y is right for the opposite of keep in place of keep"),
        (Given(only(4, lambda v: None)), MASKED, F, "the input keep is ignored"),
        (Given(only(1, lambda v: v * 0 + 1)), "mul[a=7x33;b=7x33;f32]", F, "y is a copy of a"),
        (
            Given(cotangent=lambda g: np.full_like(g, g.mean())),
            "exp[x=7x33;f32]",
            G,
            "the gradient of x is right for the mean of the cotangent in place of the cotangent",
        ),
        (
            Given(cotangent=lambda g: g[..., ::-1], gradients=lambda ds: [ds[0][..., ::-1]], mode=G),
            "cumsum[x=7x33;dim=-1;f32]",
            G,
            "the gradient of x is computed along axis 1 from the other end",
        ),
        # The other way round, in values and in gradients.
        (Given(lambda v: v[::-1]), "div[a=7x33;b=7x33;f32]", F, "the inputs a and b are swapped"),
        (
            Given(lambda v: v[::-1]),
            "sub[a=7x33;b=7x33;f32]",
            F,
            "every element of y has the wrong sign, as if the inputs a and b were swapped",
        ),
        (
            Given(lambda v: v[::-1], gradients=lambda ds: ds[::-1], mode=G),
            "div[a=7x33;b=7x33;f32]",
            G,
            "the inputs a and b are swapped",
        ),
        (
            Given(gradients=lambda ds: ds[::-1], mode=G),
            "mul[a=7x33;b=7x33;f32]",
            G,
            "the gradient of a is that of b: the gradients are swapped",
        ),
        (
            Given(gradients=lambda ds: ds[::-1], mode=G),
            "mse_loss[x=3x5;target=3x5;f32]",
            G,
            "every element of the gradient of x has the wrong sign, as if the gradients were swapped",
        ),
        (
            Given(gradients=lambda ds: [ds[0], -ds[1]], mode=G),
            "sub[a=7x33;b=7x33;f32]",
            G,
            "every element of the gradient of b has the wrong sign",
        ),
        # The gradient of b is right.
        (
            Given(gradients=lambda ds: [ds[1], ds[1]], mode=G),
            "mul[a=7x33;b=7x33;f32]",
            G,
            "the gradient of a is that of b",
        ),
        (
            Given(lambda v: [v[1], v[1], v[2]]),
            "addcmul[x=7x33;a=7x33;b=7x33;f32]",
            F,
            "the input a is read in place of x too",
        ),
    ],
)
def test_it_is_told(backend, case, mode, sentence):
    assert told(backend, case, mode) == sentence


def shuffled(v):
    return np.random.default_rng(1).permutation(v.reshape(-1)).reshape(v.shape)


@pytest.mark.parametrize(
    ("backend", "case", "mode"),
    [
        (Given(only(1, shuffled)), CONV, F),
        (Given(only(1, lambda v: np.where(np.arange(33) == 5, v + 3, v + 1))), "rms_norm[x=7x33;weight=33,;f32]", F),
        (Given(only(1, lambda v: v[[3, 1, 4, 0, 2]])), "embedding[weight=7x33;indices=5,;f32]", F),
        (Given(cotangent=lambda g: 0.5 * (g + g.mean()), mode=G), "exp[x=7x33;f32]", G),
    ],
)
def test_what_is_nearly_so_is_not_told(backend, case, mode):
    assert "right for" not in told(backend, case, mode)


def test_two_values_do_not_tell_a_function():
    """Zeros and ones are their own squares, and one more than a sign is as large as its opposite."""

    def one_at_zero(found, inputs):
        return [np.where(inputs[0] == 0, 1, found[0]).astype(found[0].dtype)]

    said = told(Changed(one_at_zero), "step[x=4x19;f32;fill=signs;layout=transposed]")
    assert "right for" not in said
    assert "× x" not in said


def test_a_derivative_of_the_input_as_if_it_were_the_output():
    class OfInput:
        def forward(self, op, inputs, params):
            return create().forward(op, inputs, params)

        def vjp(self, op, inputs, params, cotangents, needs):
            return [(cotangents[0] * (1 - inputs[0] ** 2)).astype(inputs[0].dtype)]

    assert told(OfInput(), "tanh[x=7x33;f32]", G) == "the derivative is taken of x as if it were the output"


def test_a_factor_is_named_by_what_it_is():
    def times_x(found, inputs):
        return [found[0] * inputs[0]]

    assert told(Changed(times_x), "exp[x=7x33;f32]") == "every element of y is the expected value × x"
    said = told(
        Changed(lambda found, inputs: [found[0] / 4]), "smooth_l1_loss[x=5x31;target=5x31;reduction=none;beta=0.25;f32]"
    )
    assert said == "every element of y is 1/4 × the expected value (beta = 0.25)"


def test_keys_past_a_multiple_do_not_enter_attention():
    def cut(op, inputs, params):
        q, k, v, *rest = inputs
        return create().forward(op, [q, k[..., :4, :].copy(), v[..., :4, :].copy(), *rest], params)

    backend = Given()
    backend.forward = cut
    said = told(backend, QKV)
    assert said == "the elements past 4 (the last multiple of 4) along axis 2 of key and axis 2 of value do not enter y"


def test_nothing_that_is_off_is_ignored():
    """max_bias=0 is no bias: attention without its mask is that of another max_bias too."""
    case = "scaled_dot_product_attention[query=2x3x5x8;key=2x3x7x8;value=2x3x7x8;attn_mask=1x3x5x7;f32]"
    assert told(Given(only(3, lambda v: None)), case) == "the input attn_mask is ignored"


def test_a_scale_that_is_not_given_is_named():
    class Scaled:
        def __init__(self, scale):
            self.scale = scale

        def forward(self, op, inputs, params):
            return create().forward(op, inputs, {**params, "scale": self.scale})

    assert told(Scaled(1 / 8), QKV) == "y is that of scale=0.125 instead of scale=None"
    assert told(Scaled(1.0), QKV) == "y is that of scale=1.0 instead of scale=None"
    assert "scale" not in told(Scaled(0.29), QKV)


def test_the_record_stands_alone():
    """One attempt of a backend that is right leaves nothing to tell."""
    assert attempted(Given(), CONV).judgement.verdict == "PASS"
