"""What callers do to a kernel: fewer gradients, gradients of any strides, memory used again, many calls."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.core.errors import UsageError  # noqa: E402
from opproof.core.verdicts import Verdict  # noqa: E402

SHAPES = [(6, 4), (4,)]


class Scaled(torch.autograd.Function):
    """x · w, and what goes wrong on its way back by name."""

    @staticmethod
    def forward(ctx, x, w, fault):
        ctx.save_for_backward(x, w)
        ctx.fault = fault
        return x * w

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        if ctx.fault == "strides" and g.numel() and g.untyped_storage().nbytes() >= 4 * g.numel():
            g = g.as_strided(g.shape, (g.shape[1], 1))
        dw = (g * x).sum(0)
        if ctx.fault == "needs" and not ctx.needs_input_grad[0]:
            dw = dw / 2
        if ctx.fault == "raises" and not ctx.needs_input_grad[0]:
            raise RuntimeError("no dx, no dw")
        return g * w, dw, None


def scaled(fault=""):
    return lambda x, w: Scaled.apply(x, w, fault)


def judged(candidate, **options):
    return opproof.check(candidate, like=torch.mul, inputs=SHAPES, dtype="f32", raises=False, **options)


def told(report):
    return {(report.variants[r.case], str(r.verdict), str(r.mode)) for rs in report.failures.values() for r in rs}


def test_an_honest_function_passes_all_of_it():
    assert judged(scaled()).ok


def test_a_path_that_only_inference_takes():
    report = judged(lambda x, w: x * w if torch.is_grad_enabled() else x * w * 1.01, only="as given")
    assert told(report) == {("as given", "WRONG_VALUE", "forward")}
    assert "where no gradient is asked for" in str(report)
    assert "1.01 × the expected value" in str(report)


@pytest.mark.parametrize(("fault", "verdict"), [("needs", "WRONG_GRADIENT"), ("raises", "ERROR")])
def test_a_gradient_that_is_wrong_where_it_alone_is_asked_for(fault, verdict):
    report = judged(scaled(fault), only="as given")
    assert told(report) == {("as given", verdict, "gradient")}
    assert "where the gradient of x1 alone is asked for" in str(report)


def test_a_backward_that_takes_its_gradient_for_contiguous():
    report = judged(scaled("strides"))
    layouts = ("transposed", "sliced", "gapped", "broadcast")
    assert told(report) == {(layout, "WRONG_GRADIENT", "gradient") for layout in layouts}


def where(x, strides):
    """Its elements, found by strides that a kernel takes it to have."""
    return torch.as_strided(x, x.shape, strides) if x.stride(-1) == 1 else x.contiguous()


@pytest.mark.parametrize(
    ("layout", "shape", "strides"),
    [
        ("gapped", (6, 5), lambda x: (x.shape[1], 1)),
        ("cropped", (3, 6, 5), lambda x: (x.shape[1] * x.stride(1), x.stride(1), 1)),
        ("exchanged", (3, 6, 5), lambda x: (x.stride(0), x.shape[2] if x.stride(0) < x.stride(1) else x.stride(1), 1)),
    ],
)
def test_rows_taken_to_lie_where_they_do_not(layout, shape, strides):
    """With numbers of a row side by side, as of a part of a fused projection; which a kernel asks for, and no more."""
    given = {"like": torch.exp, "inputs": [shape], "dtype": "f32", "raises": False, "gradients": False}
    found = opproof.check(lambda x: where(x, strides(x)).exp(), **given, only=layout)
    assert told(found) == {(layout, "WRONG_VALUE", "forward")}
    assert opproof.check(torch.exp, **given, only=layout).ok


@pytest.mark.parametrize(("mine", "layout"), [(0, "gapped elsewhere"), (1, "gapped in places")])
def test_rows_of_one_tensor_found_by_the_strides_of_another(mine, layout):
    """Where all lie alike these are the same; a cache of keys and one of values need not."""

    def product(a, b):
        strides = (a, b)[mine].stride()
        return torch.as_strided(a, a.shape, strides) * torch.as_strided(b, b.shape, strides)

    given = {"like": torch.mul, "inputs": [(4, 4), (4, 4)], "dtype": "f32", "raises": False, "gradients": False}
    assert opproof.check(torch.mul, only=layout, **given).ok
    assert not opproof.check(product, only=layout, **given).ok
    assert opproof.check(product, only="gapped", **given).ok


class Normed(torch.autograd.Function):
    """A row over its length; what a forward saves is its own, or that of the last of all."""

    last = None

    @staticmethod
    def forward(ctx, x, own):
        size = x.square().mean(-1, keepdim=True).sqrt()
        ctx.save_for_backward(x, size)
        ctx.own, Normed.last = own, size
        return x / size

    @staticmethod
    def backward(ctx, g):
        x, size = ctx.saved_tensors
        size = size if ctx.own else Normed.last
        y = x / size
        return (g - y * (g * y).mean(-1, keepdim=True)) / size, None


def test_what_the_last_forward_saved():
    given = {"like": lambda x, _: x / x.square().mean(-1, keepdim=True).sqrt(), "dtype": "f32", "raises": False}
    report = opproof.check(Normed.apply, **given, inputs=lambda seed: [torch.randn(6, 10), False], only="as given")
    assert told(report) == {("as given", "WRONG_GRADIENT", "gradient")}
    assert "where another call comes before its backward" in str(report)
    assert opproof.check(Normed.apply, **given, inputs=lambda seed: [torch.randn(6, 10), True], only="as given").ok


class Spent(torch.autograd.Function):
    """x · w; its backward uses up what was saved: in its memory, or it lets go of it."""

    @staticmethod
    def forward(ctx, x, w, how):
        ctx.kept, ctx.how = [x.clone(), w.clone()], how
        return x * w

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.kept
        if ctx.how == "freed":
            del ctx.kept
        return g * w, x.mul_(g) if ctx.how == "written over" else x * g, None


def test_a_second_backward_through_one_graph():
    given = {"like": lambda x, w, _: x * w, "raises": False, "only": "as given"}
    for how, wrong in (("kept", False), ("freed", False), ("written over", True)):
        report = opproof.check(Spent.apply, **given, inputs=[(6, 4), (6, 4), how])
        assert bool(report.failures) is wrong, report
        assert ("where a backward through the same graph comes before its backward" in str(report)) is wrong
    assert opproof.check(Spent.apply, **given, inputs=[(6, 4), (6, 4), "written over"], reuses_outputs=True).ok


@dataclasses.dataclass
class Normal:
    """What a kernel gives by names."""

    y: torch.Tensor
    statistics: dict


def test_outputs_by_names():
    def normal(x, factor=1):
        mean = x.mean(-1, keepdim=True)
        return Normal((x - mean) * factor, {"mean": mean})

    assert opproof.check(normal, like=normal, inputs=[(6, 4)], only="as given").ok
    wrong = opproof.check(lambda x: normal(x, 1.01), like=normal, inputs=[(6, 4)], only="as given", raises=False)
    assert wrong.worst.worst.tensor == "y0"


def test_an_answer_that_the_next_call_overwrites():
    room = {}

    def static(x, w):
        out = room.setdefault(x.shape, torch.empty(x.shape))
        return out.copy_((x * w).detach())

    report = judged(static, gradients=False, only="as given")
    assert told(report) == {("as given", "NOT_REPEATABLE", "forward")}
    assert "y0 of a call before was overwritten" in str(report)
    assert judged(static, gradients=False, reuses_outputs=True).ok
    wrong = judged(lambda x, w: static(x, w).mul_(1.01), gradients=False, only="as given", reuses_outputs=True)
    assert told(wrong) == {("as given", "WRONG_VALUE", "forward")}


def in_any_order(spoilt=lambda call: False):
    """A product of matrices whose terms are added in another order at every call, as atomic additions would."""
    calls = []

    def candidate(x, w):
        calls.append(len(calls))
        order = torch.from_numpy(np.random.default_rng(len(calls)).permutation(x.shape[1]))
        some = order[1:] if spoilt(len(calls)) else order
        y = torch.zeros(x.shape[0], w.shape[1])
        for k in some:
            y = y + x[:, k, None] * w[k]
        return y

    return candidate


def test_bits_that_vary_are_declared():
    asked = {"like": lambda x, w: x @ w, "inputs": [(5, 300), (300, 3)], "only": "as given", "raises": False}
    report = opproof.check(in_any_order(), **asked)
    assert set(report.failures) == {Verdict.NOT_REPEATABLE}
    assert 'declare it with bits="vary" (--bits vary)' in str(report)
    assert opproof.check(in_any_order(), bits="vary", **asked).ok
    asked |= {"gradients": False}  # a first call, other data, these, the others again, these again
    late = opproof.check(in_any_order(lambda call: call == 5), bits="vary", **asked)
    assert set(late.failures) == {Verdict.NOT_REPEATABLE}
    assert "the same call gave a wrong answer another time" in str(late)
    early = opproof.check(in_any_order(lambda call: call == 3), bits="vary", **asked)
    assert Verdict.WRONG_VALUE in early.failures
    with pytest.raises(UsageError, match="bits='differ': expected 'vary'"):
        opproof.check(in_any_order(), bits="differ", **asked)


class Residual(torch.autograd.Function):
    """sin(x + r) and x + r, with a backward of its own that may lose what one output alone asks for."""

    @staticmethod
    def forward(ctx, x, r, loses):
        ctx.set_materialize_grads(False)
        ctx.loses = loses
        h = x + r
        ctx.save_for_backward(h)
        return h.sin(), h

    @staticmethod
    def backward(ctx, g, gh):
        (h,) = ctx.saved_tensors
        if ctx.loses and gh is None:
            return None, None, None
        d = (0 if g is None else g * h.cos()) + (0 if gh is None else gh)
        return d, d, None


def test_gradients_where_one_output_alone_is_used():
    def reference(x, r):
        return (x + r).sin(), x + r

    asked = {"like": reference, "inputs": [(3, 8), (3, 8)], "only": "as given", "raises": False}
    assert opproof.check(lambda x, r: Residual.apply(x, r, False), **asked).ok
    report = opproof.check(lambda x, r: Residual.apply(x, r, True), **asked)
    assert told(report) == {("as given", "WRONG_GRADIENT", "gradient")}
    assert "where y0 is the only output that is used, the gradient of x is another" in str(report)


class Sine(torch.autograd.Function):
    """With a backward that may write its result over the gradient that came in."""

    @staticmethod
    def forward(ctx, x, writes):
        ctx.save_for_backward(x)
        ctx.writes = writes
        return x.sin()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return (g.mul_(x.cos()) if ctx.writes else g * x.cos()), None


def test_a_cotangent_that_is_written_over():
    asked = {"like": lambda x: x.sin(), "inputs": [(3, 8)], "only": "as given", "raises": False}
    assert opproof.check(lambda x: Sine.apply(x, False), **asked).ok
    report = opproof.check(lambda x: Sine.apply(x, True), **asked)
    assert told(report) == {("as given", "INPUT_CHANGED", "gradient")}
    assert "the gradient that comes in for y0 was written over" in str(report)


def test_what_is_kept_of_the_call_between_is_no_order_of_sums():
    kept = [torch.zeros(())]

    def candidate(x, w):
        before, kept[0] = kept[0], (x @ w).sum().detach()
        return x @ w + before

    asked = {"like": lambda x, w: x @ w, "inputs": [(5, 8), (8, 3)], "only": "as given", "raises": False}
    report = opproof.check(candidate, gradients=False, **asked)
    assert set(report.failures) == {Verdict.NOT_REPEATABLE}
    assert "something was kept of the call between" in str(report)
    assert "vary" not in str(report)


def test_bits_that_vary_by_the_name_of_an_operator():
    calls = []

    def dot(a, b):
        calls.append(a.size)
        return np.cumsum(np.random.default_rng(len(calls)).permutation(a * b), dtype=np.float32)[-1:].sum()

    asked = {"dtype": "f32", "gradients": False, "seconds": 5, "raises": False}
    assert set(opproof.check(dot, "dot", **asked).failures) == {Verdict.NOT_REPEATABLE}
    assert opproof.check(dot, "dot", bits="vary", **asked).ok


def test_an_answer_that_is_part_of_an_input_is_not_overwritten():
    report = opproof.check(lambda x: x[:, :2], like=lambda x: x[:, :2], inputs=[(4, 4)], gradients=False, raises=False)
    assert Verdict.NOT_REPEATABLE not in report.failures


def test_results_that_are_kept_by_address():
    kept = {}

    def cached(x, w):
        return x * kept.setdefault(w.data_ptr(), w.detach().clone())

    report = judged(cached, gradients=False, only="as given")
    assert told(report) == {("as given", "WRONG_VALUE", "forward")}


def test_results_that_are_kept_by_the_tensor():
    """An optimiser writes new values into the weights that were there: who heeds their version is right."""
    kept = {}

    def cached(x, w):
        return x * kept.setdefault(id(w), w.detach().clone())

    def heedful(x, w):
        return x * kept.setdefault((id(w), w._version), (w, w.detach().clone()))[1]  # w lives on: no other has its id

    report = judged(cached, gradients=False, only="as given")
    assert told(report) == {("as given", "WRONG_VALUE", "forward")}
    assert judged(heedful, gradients=False, only="as given").ok


def test_results_that_a_tensor_carries():
    def carried(x, w):
        if not hasattr(w, "packed"):
            w.packed = w.detach().clone()
        return x * w.packed

    report = judged(carried, gradients=False, only="as given")
    assert told(report) == {("as given", "WRONG_VALUE", "forward")}


def test_what_the_first_call_brought_is_no_answer_to_another():
    """The first call of all looks at what the candidate takes: it has other data than the one that is judged."""
    kept = []

    def first_weights(x, w):
        kept.append(w.detach().clone())
        return x * kept[0]

    report = judged(first_weights, gradients=False, only="as given")
    assert told(report) == {("as given", "WRONG_VALUE", "forward")}


def test_one_call_in_fifty(monkeypatch):
    monkeypatch.setattr("opproof.harness.check.judge.final_pass._QUESTION_TIME_SHARE", 100.0)
    monkeypatch.setattr("opproof.harness.check.judge.final_pass._MAX_QUESTION_SECONDS", 60.0)
    calls, variants = itertools.count(1), 120

    def raced(x, w):
        n = next(calls)
        return x * w * (1.5 if n > variants and n % 50 == 0 else 1.0)

    report = judged(raced)
    assert told(report) == {("as given", "NOT_REPEATABLE", "forward")}
    assert "gave other outputs" in str(report)


def test_an_input_that_is_kept_by_its_address_is_named():
    weights = {}

    def cached(x, w):
        return x @ weights.setdefault(w.data_ptr(), w.detach().clone())

    asked = {"like": lambda x, w: x @ w, "inputs": [(5, 8), (8, 3)], "only": "as given", "raises": False}
    report = opproof.check(cached, gradients=False, **asked)
    assert told(report) == {("as given", "WRONG_VALUE", "forward")}
    assert "it is right for w of the call before" in str(report)
    wrong = opproof.check(lambda x, w: x @ w * 1.1, gradients=False, **asked)
    assert "of the call before" not in str(wrong)


def test_a_gradient_that_is_right_for_a_contiguous_one_says_so():
    assert "the strides of the gradient that comes in are not heeded" in str(judged(scaled("strides"), only="sliced"))
