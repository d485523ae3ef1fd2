"""What is right where a judge calls and wrong where others do: in a net, with 33 threads, read late or otherwise."""

from functools import partial

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness.check.call.isolated import load_pair  # noqa: E402
from opproof.harness.check.options import CheckOptions  # noqa: E402
from opproof.harness.check.run import check_candidate  # noqa: E402


def reference(x):
    return torch.tanh(x) * 2


judged = partial(opproof.check, like=reference, inputs=[(5, 24)], seconds=0.1, raises=False)


def report_of(folder, text):
    """Of both sides in one file, the candidate in a process of its own."""
    file = folder / "both.py"
    file.write_text(text, encoding="utf-8")
    both = load_pair(file, file, 0)
    return check_candidate(both.candidate, both.reference, both.inputs, CheckOptions(seconds=0.5))


def failed(report):
    return {(r.verdict, r.mode) for rs in report.failures.values() for r in rs}


class _Roots:
    later = False


class InANet(torch.autograd.Function):
    """Half the gradient where it is not what autograd begins with."""

    @staticmethod
    def forward(ctx, x):
        y = torch.tanh(x)
        ctx.save_for_backward(y)
        return 2 * y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return 2 * g * (1 - y * y) * (0.5 if _Roots.later else 1)


def test_a_gradient_that_is_another_where_a_loss_comes_later(monkeypatch):
    usual = torch.autograd.grad

    def grad(ys, *args, **kwargs):
        _Roots.later = torch.is_tensor(ys)
        return usual(ys, *args, **kwargs)

    monkeypatch.setattr(torch.autograd, "grad", grad)
    report = judged(InANet.apply)
    assert failed(report) == {("WRONG_GRADIENT", "gradient")}
    assert "as a layer of a network, with a trained weight and a loss behind it" in str(report)


def test_a_result_that_is_made_of_its_inputs_when_somebody_reads_it(monkeypatch):
    """As of memory that computes when it is touched: here PyTorch's own conversion to NumPy does."""
    late = []

    def kernel(x):
        y = torch.zeros_like(x)
        if not x.requires_grad and not torch.is_inference_mode_enabled():
            late.append((y, x))
        else:
            y = reference(x)
        return y

    from opproof.harness.check.call import perform

    usual = perform._make_reply_tensor

    def answered(y, tensors, after=()):
        for made, x in late:
            if made is y:
                made.copy_(reference(x))
        late.clear()
        return usual(y, tensors, after)

    monkeypatch.setattr(perform, "_make_reply_tensor", answered)
    report = judged(kernel)
    assert failed(report) == {("WRONG_VALUE", "forward")}
    assert "where its inputs are overwritten once it has returned" in str(report)
    assert judged(reference).ok


def test_partial_sums_of_few_threads():
    report = judged(lambda x: reference(x) * (1 if torch.get_num_threads() <= 16 else 2))
    assert failed(report) == {("WRONG_VALUE", "forward")}
    assert "with 33 threads" in str(report)


def test_a_ring_of_buffers_beside_gradients():
    ring, calls = {}, []

    class Kernel(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = torch.tanh(x)
            ctx.save_for_backward(y)
            calls.append(None)
            return ring.setdefault((len(calls) % 70, y.shape), torch.empty_like(y)).copy_(2 * y)

        @staticmethod
        def backward(ctx, g):
            return 2 * g * (1 - ctx.saved_tensors[0] ** 2)

    report = judged(lambda x: Kernel.apply(x) if x.requires_grad else reference(x), seconds=20)
    assert failed(report) == {("NOT_REPEATABLE", "forward")}
    assert "of a call before was overwritten" in str(report)


@pytest.mark.parametrize("name", ["detach", "numpy"])
def test_a_method_of_tensors_that_is_replaced(monkeypatch, name):
    usual = getattr(torch.Tensor, name)

    def kernel(x):
        setattr(torch.Tensor, name, lambda t, *a, **k: usual(t.view_as(t), *a, **k))
        return reference(x)

    report = judged(kernel)
    assert ("INPUT_CHANGED", "forward") in failed(report)
    assert f"torch.Tensor.{name} was replaced: results are read by it" in str(report)
    assert getattr(torch.Tensor, name) is usual


def test_another_answer_under_autocast_is_told():
    report = judged(lambda x: reference(x) * (1 if not torch.is_autocast_enabled("cpu") else 2), seconds=1)
    assert report.ok
    assert any(text.startswith("under torch.autocast: the candidate gives something") for text in report.advisories)
    assert not judged(reference, seconds=1).advisories


@pytest.mark.parametrize("count", [6, 8])
def test_choices_of_gradients(count):
    class Sum(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *xs):
            ctx.save_for_backward(*xs)
            return sum(x * x for x in xs)

        @staticmethod
        def backward(ctx, g):
            n = ctx.needs_input_grad
            wrong = not n[0] and not n[1] and n[3] and n[5]
            return tuple(2 * g * x * (1.5 if wrong and i == 3 else 1) for i, x in enumerate(ctx.saved_tensors))

    report = judged(Sum.apply, like=lambda *xs: sum(x * x for x in xs), inputs=[(3, 5)] * count)
    assert failed(report) == {("WRONG_GRADIENT", "gradient")}
    assert "alone are asked for" in str(report)


TOLD = """
import torch
def reference(x, i, j, mask):
    return torch.softmax(x[i] - x[j] * 0.5 + mask, -1)
def inputs(seed, dtype):
    g = torch.Generator().manual_seed(seed)
    i = torch.randint(0, 6, (7,), generator=g)
    mask = torch.zeros(7, 9).masked_fill(torch.rand(7, 9, generator=g) < 0.3, -1e9)
    return [torch.randn(6, 9, generator=g).to(dtype), i, i.clone(), mask.to(dtype)]
def candidate(x, i, j, mask):
    return reference(x, i, {j}, {mask})
"""


@pytest.mark.parametrize(
    ("j", "mask", "said"),
    [("i", "mask", "j unlike i"), ("j", "mask * (mask < -1e3)", "numbers in the mask mask"), ("j", "mask", "")],
)
def test_what_all_draws_hold_together_is_told(tmp_path, j, mask, said):
    report = report_of(tmp_path, TOLD.format(j=j, mask=mask))
    assert not report.failures
    found = " ".join(report.advisories)
    assert not said or f"{said}: the candidate gives something else" in found
    assert said or ("unlike" not in found and "numbers in the mask" not in found)


PADDED = """
import torch
def reference(x, mask):
    places = torch.arange(mask.shape[1]) * (mask != 0)
    return x[torch.arange(len(x)), places.argmax(-1)] * 2
def inputs(seed, dtype):
    g = torch.Generator().manual_seed(seed)
    mask = (torch.arange(9) < torch.randint(2, 10, (5, 1), generator=g)).long()
    return [torch.randn(5, 9, 3, generator=g).to(dtype), mask]
def candidate(x, mask):
    return x[torch.arange(len(x)), mask.sum(-1) - 1] * 2
"""


def test_padding_on_the_other_side_is_told(tmp_path):
    report = report_of(tmp_path, PADDED)
    assert not report.failures
    assert any(text.startswith("mask turned round: the candidate gives something") for text in report.advisories)


SECONDS = """
import torch
def reference(x, then, now):
    return torch.exp(-(now[:, None] - then).abs().to(x.dtype) / 40000) @ x
def inputs(seed, dtype):
    g = torch.Generator().manual_seed(seed)
    then, now = (torch.randint(0, 86400, (n,), generator=g) for n in (9, 4))
    return [torch.randn(9, 3, generator=g).to(dtype), then, now]
def candidate(x, then, now):
    return torch.exp(-(now.float()[:, None] - then.float()).abs().to(x.dtype) / 40000) @ x
"""


def test_seconds_past_what_float32_counts_to_are_told(tmp_path):
    report = report_of(tmp_path, SECONDS)
    assert not report.failures
    said = "68719476736 more in then and now: the candidate gives something else"
    assert any(text.startswith(said) for text in report.advisories)


class Stream(torch.nn.Module):
    """The last three numbers of a chunk come before the next one's."""

    def __init__(self, wrong=False):
        super().__init__()
        self.wrong = wrong
        self.register_buffer("state", torch.zeros(2, 3))

    def forward(self, x):
        whole = torch.cat([self.state, x], -1)
        y = whole[:, 3:] + 0.5 * whole[:, :-3]
        with torch.no_grad():
            short = torch.nn.functional.pad(x, (max(0, 3 - x.shape[-1]), 0))
            self.state.copy_((short if self.wrong else whole)[:, -3:])
        return y


def test_a_stream_s_state_is_one_that_a_call_has_left():
    streams = partial(opproof.check, like=Stream(), seconds=20, raises=False, dtype="f32")

    def inputs(seed, dtype):
        return [torch.randn(2, 16, generator=torch.Generator().manual_seed(seed)).to(dtype)]

    assert streams(Stream(), inputs=inputs).ok
    report = streams(Stream(wrong=True), inputs=inputs)
    assert report.failures
    assert "state after the call" in str(report)
