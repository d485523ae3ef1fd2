"""Operators that draw: any draw that may be chance is right, all else is held against it; each defect has its words."""

import re

import numpy as np
import pytest
from _ask import judged

from opproof.backends.numpy import NumPy

ASKED = "dropout[x=64x65;p=0.3;key=7;f32]"


class Drawing:
    """Dropout with a mask of its own: `draw(generator, shape, p)`, a generator made of `key`."""

    def __init__(self, draw=lambda r, shape, p: r.random(shape) >= p, *, anew=False, key=lambda k: k, scale=None):
        self.draw, self.anew, self.key, self.scale = draw, anew, key, scale

    def mask(self, x, params, more=0):
        generator = np.random.default_rng(self.key(params["key"]) + more)
        return self.draw(generator, x.shape, params["p"])

    def scaled(self, x, kept, params):
        return (x * kept * np.float32((self.scale or (lambda p: 1 / (1 - p)))(params["p"]))).astype(x.dtype)

    def forward(self, op, inputs, params):
        kept = self.mask(inputs[0], params)
        return [self.scaled(inputs[0], kept, params), kept]

    def vjp(self, op, inputs, params, cotangents, needs):
        kept = self.mask(inputs[0], params, more=1000 * self.anew)
        return [self.scaled(cotangents[0], kept, params), None]


def said(backend, mode="forward", text=ASKED):
    found = judged(backend, text, mode)
    return found.verdict, found.message


@pytest.mark.parametrize("mode", ["forward", "gradient"])
@pytest.mark.parametrize("p", [0.3, 0.01, 0.99, 0.5])
def test_a_draw_of_ones_own_is_right(mode, p):
    for key in range(5):
        assert said(Drawing(), mode, f"dropout[x=64x65;p={p};key={key};f32]")[0] == "PASS"
        assert said(NumPy(), mode, f"dropout[x=64x65;p={p};key={key};f32]")[0] == "PASS"


def test_another_factor_is_wrong_whatever_is_drawn():
    for mode, verdict in (("forward", "WRONG_VALUE"), ("gradient", "WRONG_GRADIENT")):
        assert said(Drawing(scale=lambda p: 1), mode)[0] == verdict
        assert said(Drawing(scale=lambda p: (1 + 2**-18) / (1 - p)), mode)[0] == verdict


def test_the_gradient_has_the_mask_of_the_forward():
    assert said(Drawing(anew=True))[0] == "PASS"
    assert said(Drawing(anew=True), "gradient")[0] == "WRONG_GRADIENT"


def test_the_mask_says_what_was_kept():
    class Inverted(Drawing):
        def forward(self, op, inputs, params):
            y, kept = super().forward(op, inputs, params)
            return [y, ~kept]

    assert said(Inverted())[0] == "WRONG_VALUE"


FEW = "elements are kept, expected about"
DEFECTS = {
    "too many dropped": (lambda r, s, p: r.random(s) >= p + 0.05, FEW),
    "one row for all": (lambda r, s, p: r.random((1, s[1])) + np.zeros(s) >= p, f"(at [0-9]+ of axis 1 are|{FEW})"),
    "one draw a row": (lambda r, s, p: r.random((s[0], 1)) + np.zeros(s) >= p, f"(at [0-9]+ of axis 0 are|{FEW})"),
    "after 1024 again": (
        lambda r, s, p: np.resize(r.random(1024), s) >= p,
        "agree 1024 apart: the mask repeats itself",
    ),
    "a tail kept": (lambda r, s, p: (r.random(s) >= p) | (np.arange(s[0]) >= s[0] - 4)[:, None], "axis 0 are|are kept"),
    "in pairs": (lambda r, s, p: np.repeat(r.random(s[0] * s[1] // 2), 2).reshape(s) >= p, "agree 1 apart"),
}


@pytest.mark.parametrize("p", [0.3, 0.5, 0.9])
@pytest.mark.parametrize("defect", DEFECTS)
def test_a_draw_that_is_no_chance_is_wrong(p, defect):
    draw, words = DEFECTS[defect]
    verdict, message = said(Drawing(draw), text=f"dropout[x=64x65;p={p};key=7;f32]")
    assert verdict == "WRONG_VALUE"
    assert re.search(words, message), message


def test_another_key_draws_another_mask():
    for key in (lambda k: 0, lambda k: k // 100):
        verdict, message = said(Drawing(key=key))
        assert verdict == "WRONG_VALUE"
        assert (
            message == "4160 of 4160 pairs of elements agree 0 apart, of two keys: the mask is not drawn from the key"
        )


def test_keys_that_draw_one_stream_further_on():
    """A key that is taken for an offset into one stream gives the mask of another key, moved."""

    class Offset(Drawing):
        def mask(self, x, params, more=0):
            stream = np.random.default_rng(0).random(x.size + 64 * 100)
            return stream[64 * params["key"] :][: x.size].reshape(x.shape) >= params["p"]

    verdict, message = said(Offset())
    assert verdict == "WRONG_VALUE"
    assert message == "4096 of 4096 pairs of elements agree 64 apart, of two keys: the mask is not drawn from the key"


def test_where_nothing_is_to_be_dropped_none_is():
    always = Drawing(lambda r, s, p: r.random(s) >= 0.01, scale=lambda p: 1)
    assert said(always, text="dropout[x=1x1031;p=0.0;f32]")[1].endswith("elements are kept, expected about 1031")
    assert said(always, text="dropout[x=1x1031;p=1.0;f32]")[1].endswith("elements are kept, expected about 0")
    assert said(Drawing(), text="dropout[x=1x1031;p=0.3;training=false;f32]")[0] == "WRONG_VALUE"


def test_state_that_survives_a_call_is_not_repeatable():
    class Stateful(Drawing):
        calls = 0

        def mask(self, x, params, more=0):
            self.calls += 1
            return super().mask(x, params, self.calls)

    assert said(Stateful())[0] == "NOT_REPEATABLE"


def test_gradients_of_two_draws_that_are_alike_by_chance_are_not_kept():
    """One element, dropped by both keys: the gradient is 0 twice, each held against the forward of its own key."""
    found = 0
    for key in range(60):
        asked = f"dropout[x=1,;p=0.6;key={key};f32]"
        found += said(Drawing(draw=lambda r, shape, p: np.zeros(shape, bool)), "gradient", asked)[0] == "NOT_REPEATABLE"
    assert not found


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        (np.abs, "that are farther from zero than the median"),
        (lambda x: -np.abs(x), "that are farther from zero than the median"),
        (lambda x: x, "than the median"),
    ],
    ids=["the smallest dropped", "the largest dropped", "the least dropped"],
)
def test_what_is_dropped_does_not_go_by_the_data(chosen, words):
    """Pruning in dropout's place: as many are dropped as are to be, the same of one key and others of another."""

    class Pruning(Drawing):
        def forward(self, op, inputs, params):
            by = chosen(inputs[0])
            kept = by > np.quantile(by, params["p"])
            return [self.scaled(inputs[0], kept, params), kept]

    verdict, message = said(Pruning())
    assert verdict == "WRONG_VALUE"
    assert words in message
