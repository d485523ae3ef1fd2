"""Gradients at kinks: any subgradient passes, anything else fails; `torch` demands PyTorch's."""

import numpy as np
import pytest

from opproof.cases import Case
from opproof.core.verdicts import Mode
from opproof.harness.judge.judgement import Rules, judge
from opproof.harness.judge.outputs import Outputs
from opproof.harness.reference import kinks
from opproof.harness.reference.data import inputs_of, measure_kink_distances, to_dtype
from opproof.harness.reference.question import evaluate_vjp, make_question
from opproof.reference_ops import load


class Gradients:
    """The reference's own gradient of a case, to be altered where `kinked` and judged."""

    def __init__(self, text):
        self.case = Case.parse(text)
        self.op = load(self.case.op)
        self.posed = p = make_question(self.case, self.op, Mode.GRADIENT).case_data
        assert all(p.needs)
        self.g, self.x = p.cotangents[0], p.inputs[0]
        self.gradients = [np.array(d) for d in evaluate_vjp(self.op, p.inputs, p.params, p.cotangents, p.outputs)]
        self.kinked = measure_kink_distances(self.case, self.op, inputs_of(self.case, self.op)) == 0
        assert self.kinked.any()

    def judged(self, first=None, convention="any"):
        gradients = [self.gradients[0] if first is None else first, *self.gradients[1:]]
        answer = Outputs([to_dtype(d, self.case.dtype) for d in gradients])
        return judge(self.posed, answer, Rules(convention=convention))

    def with_kinks(self, values):
        return np.where(self.kinked, values, self.gradients[0])


RELU = "relu[x=6x33;f32;fill=kink]"


def verdict(judgement):
    return judgement.verdict


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("text", [RELU, "relu[x=6x33;f16;fill=kink]", "relu[x=6x33;f32;fill=zeros]"])
def test_any_subgradient_of_relu_passes(text, share):
    a = Gradients(text)
    assert verdict(a.judged(a.with_kinks(a.g * share))) == "PASS"


@pytest.mark.parametrize("share", [-0.01, 1.01, 2.0, -1.0, np.nan, np.inf])
def test_anything_else_fails(share):
    a = Gradients(RELU)
    found = a.judged(a.with_kinks(a.g * share))
    assert verdict(found) == "WRONG_GRADIENT"
    assert a.kinked[found.worst.index]


def test_one_wrong_kink_among_many_fails():
    a = Gradients(RELU)
    wrong = a.gradients[0].copy()
    at = tuple(np.argwhere(a.kinked)[-1])
    wrong[at] = -a.g[at]
    found = a.judged(wrong)
    assert verdict(found) == "WRONG_GRADIENT"
    assert found.worst.index == at


def test_beside_a_kink_only_the_gradient_passes():
    a = Gradients(RELU)
    wrong = a.gradients[0].copy()
    at = tuple(np.argwhere(~a.kinked & (a.x > 0))[0])
    wrong[at] /= 2
    assert verdict(a.judged(wrong)) == "WRONG_GRADIENT"


def test_torch_convention():
    """relu'(0) = 0, clamp' = 1 at its ends, amax shares evenly among ties."""
    a = Gradients(RELU)
    assert verdict(a.judged(a.with_kinks(0), "torch")) == "PASS"
    assert verdict(a.judged(a.with_kinks(a.g), "torch")) == "WRONG_GRADIENT"
    assert verdict(a.judged(a.with_kinks(a.g / 2), "torch")) == "WRONG_GRADIENT"
    c = Gradients("clamp[x=6x33;min=-1.0;max=2.5;f32;fill=kink]")
    assert verdict(c.judged(c.with_kinks(c.g), "torch")) == "PASS"
    assert verdict(c.judged(c.with_kinks(0), "torch")) == "WRONG_GRADIENT"


@pytest.mark.parametrize(("share", "passes"), [(0, True), (0.3, True), (1, True), (-0.1, False), (1.1, False)])
def test_clamp(share, passes):
    c = Gradients("clamp[x=6x33;min=-1.0;max=2.5;f32;fill=kink]")
    assert verdict(c.judged(c.with_kinks(c.g * share))) == ("PASS" if passes else "WRONG_GRADIENT")


@pytest.mark.parametrize(("share", "passes"), [(-1, True), (0, True), (0.5, True), (1, True), (1.2, False)])
def test_abs_between_minus_and_plus(share, passes):
    a = Gradients("abs[x=6x33;f32;fill=kink]")
    assert verdict(a.judged(a.with_kinks(a.g * share))) == ("PASS" if passes else "WRONG_GRADIENT")


def test_the_convention_is_reported():
    a = Gradients(RELU)
    assert a.judged(a.with_kinks(0)).message == "at kinks it takes the left derivative"
    assert a.judged(a.with_kinks(a.g)).message == "at kinks it takes the right derivative"
    assert a.judged(a.with_kinks(a.g / 2)).message == "at kinks it takes the mean of both sides"
    mixed = a.with_kinks(a.g * np.where(np.arange(a.g.size).reshape(a.g.shape) % 2, 0.1, 0.7))
    assert a.judged(mixed).message == "at kinks it takes a value between both sides"
    assert "at kinks it takes" not in a.judged(a.with_kinks(np.nan)).message  # which lies between nothing


AMAX = "amax[x=6x11;dim=-1;f32;fill=ties]"


def tied(a):
    """Of each row: which elements are its maximum, and the row's cotangent."""
    return a.x == a.x.max(axis=1, keepdims=True), a.g.reshape(-1, 1)


def test_ties_may_be_shared_or_given_to_one():
    a = Gradients(AMAX)
    top, g = tied(a)
    assert (top.sum(axis=1) > 1).any()
    first = np.arange(11) == np.argmax(top, axis=1)[:, None]
    last = np.arange(11) == 10 - np.argmax(top[:, ::-1], axis=1)[:, None]
    assert verdict(a.judged(g * top / top.sum(axis=1, keepdims=True))) == "PASS"
    assert verdict(a.judged(g * first)) == "PASS"
    assert verdict(a.judged(g * last)) == "PASS"
    assert verdict(a.judged(g * (0.75 * first + 0.25 * last))) == "PASS"


def test_ties_given_to_nobody_or_to_everybody_fail():
    a = Gradients(AMAX)
    top, g = tied(a)
    alone = top & (top.sum(axis=1, keepdims=True) == 1)
    nobody = a.judged(g * alone)
    assert verdict(nobody) == "WRONG_GRADIENT"
    assert "which is no subgradient" in nobody.message
    assert verdict(a.judged(g * top)) == "WRONG_GRADIENT"


def test_ties_under_the_torch_convention():
    a = Gradients(AMAX)
    top, g = tied(a)
    first = np.arange(11) == np.argmax(top, axis=1)[:, None]
    assert verdict(a.judged(g * top / top.sum(axis=1, keepdims=True), "torch")) == "PASS"
    assert verdict(a.judged(g * first, "torch")) == "WRONG_GRADIENT"


def test_two_tensors_share_a_kink():
    """maximum(a, b) at a = b: either side may have the gradient, neither may have it twice."""
    m = Gradients("maximum[a=6x11;b=6x11;f32;fill=ties]")
    equal = m.kinked
    half = [np.where(equal, m.g / 2, d) for d in m.gradients]
    m.gradients[1] = half[1]
    assert verdict(m.judged(half[0])) == "PASS"
    m.gradients[1] = np.where(equal, m.g * 1.5, m.gradients[1])
    assert verdict(m.judged(half[0])) == "WRONG_GRADIENT"


@pytest.mark.parametrize(
    ("first", "second", "passes"), [(1, 0, True), (0, 1, True), (0.3, 0.7, True), (1, 1, False), (0, 0, False)]
)
@pytest.mark.parametrize("text", ["maximum[a=6x11;b=6x11;f32;fill=ties]", "minimum[a=6x11;b=6x11;bf16;fill=ties]"])
def test_the_gradients_of_a_tie_are_one_subgradient(text, first, second, passes):
    """maximum(a, a) whose two gradients are both g: each may stand by itself, not both."""
    m = Gradients(text)
    m.gradients[1] = np.where(m.kinked, m.g * second, m.gradients[1])
    found = m.judged(m.with_kinks(m.g * first))
    assert verdict(found) == ("PASS" if passes else "WRONG_GRADIENT")
    assert passes or "which is no subgradient" in found.message


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0, 1.1])
def test_every_kink_of_a_pointwise_operator_is_seen(share):
    """Also past the first 4,096."""
    a = Gradients("relu[x=130x65;f32;fill=zeros]")
    assert a.kinked.sum() > 4096
    last = np.zeros(a.g.shape)
    last[tuple(np.argwhere(a.kinked)[-1])] = 1
    values = np.where(last == 1, share * a.g, 0)
    assert verdict(a.judged(a.with_kinks(values))) == ("PASS" if share <= 1 else "WRONG_GRADIENT")


def test_past_the_first_ties_too_nobody_is_no_answer():
    a = Gradients("amax[x=3x4099;dim=-1;f32;fill=constant]")
    g = a.g.reshape(-1, 1)
    assert a.kinked.sum() > 4096
    assert verdict(a.judged(np.repeat(g / 4099, 4099, axis=1))) == "PASS"
    first = np.zeros((3, 4099))
    first[:, 0] = 1
    assert verdict(a.judged(g * first)) == "PASS"
    assert verdict(a.judged(0 * g * first)) == "WRONG_GRADIENT"
    assert verdict(a.judged(2 * g * first)) == "WRONG_GRADIENT"


def test_of_large_arrays_fewer_are_looked_at_one_by_one(monkeypatch):
    a = Gradients("amax[x=3x99;dim=-1;f32;fill=constant]")
    at_kink = np.ones(a.x.shape, dtype=bool)
    assert not kinks.find_intervals(a.posed, 0, at_kink).unseen.any()
    monkeypatch.setattr(kinks, "_MAX_EVALUATED_ELEMENTS", 10 * (a.x.size + 3))
    assert kinks.find_intervals(a.posed, 0, at_kink).unseen.sum() == a.x.size - 10
    assert verdict(a.judged(0 * a.gradients[0])) == "WRONG_GRADIENT"


def test_shares_too_small_to_store_are_still_somebodys():
    """Each is subnormal in f16, where a zero is forgiven; all zeros lose the gradient."""
    a = Gradients("amax[x=2x30000;dim=-1;f16;fill=constant]")
    g = a.g.reshape(-1, 1)
    # The bound by itself would let zeros pass, so the case is no evidence of much; it does fail them.
    assert verdict(a.judged(np.repeat(g / 30000, 30000, axis=1))) == "VACUOUS"
    assert verdict(a.judged(np.zeros((2, 30000)))) == "WRONG_GRADIENT"


@pytest.mark.parametrize(("factor", "expected"), [(1, "PASS"), (2, "WRONG_GRADIENT")])
@pytest.mark.parametrize("text", ["reglu[x=4x66;f32;fill=kink]", "reglu[x=4x66;bf16;fill=kink]"])
def test_two_halves_in_one_tensor(text, factor, expected):
    """reglu is pointwise in its two tensors; one tensor that holds both is larger than what it gives."""
    case = Case.parse(text)
    p = make_question(case, load(case.op), Mode.GRADIENT).case_data
    gradients = evaluate_vjp(p.op, p.inputs, p.params, p.cotangents, p.outputs)
    stored = [None if d is None else to_dtype(factor * d, case.dtype) for d in gradients]
    assert judge(p, Outputs(stored), Rules()).verdict == expected


@pytest.mark.parametrize("size", [1.0, 2.0**40, 1e30])
@pytest.mark.parametrize("shares", [(1, 0, 0), (0.5, 0.25, 0.25), (1, 1, 0)])
def test_ties_of_numbers_of_any_size(size, shares):
    """Beside 1e30 a step of 2^-20 is none: who masks by such numbers has rows of ties."""
    case, op = Case.parse("amax[x=2x3;dim=-1;f32]"), load("amax")
    x = np.float64(np.float32([[size] * 3, [-size] * 3]))
    posed = make_question(case, op, Mode.GRADIENT).case_data.given(inputs=(x,))
    gradient = np.float32(posed.cotangents[0][:, None] * np.array(shares))
    right = sum(shares) == 1
    assert verdict(judge(posed, Outputs([gradient]), Rules())) == ("PASS" if right else "WRONG_GRADIENT")


def test_a_tie_in_a_sum_of_thousands_of_terms():
    """The sum may be off by its bound, the tie's share in it with it: TensorFlow's maximum in f16 is so."""
    a = Gradients("maximum[a=2x1;b=1025x1x1;f16;seed=7]")
    assert a.kinked.any()
    first = a.gradients[0].copy()
    first[1] -= 0.1  # 3 units of 16
    answer = [to_dtype(d, "f16") for d in (first, a.gradients[1])]
    assert verdict(judge(a.posed, Outputs(answer), Rules(declared="storage"))) == "PASS"
    small = Gradients("maximum[a=5x7;b=5x7;f32;fill=ties]")
    nobodys = [np.where(small.kinked, 0, d) for d in small.gradients]
    assert verdict(judge(small.posed, Outputs([to_dtype(d, "f32") for d in nobodys]), Rules())) == "WRONG_GRADIENT"
