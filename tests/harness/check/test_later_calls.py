"""What later calls show: results that are held, masks drawn again, what is kept by rounded numbers or aside."""

from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness.check.call.exchange import Setting  # noqa: E402
from opproof.harness.check.call.serve import describe_shared_weights  # noqa: E402

judged = partial(opproof.check, raises=False, dtype="f32", seconds=0.5)
INPUTS = [(5, 24), (5, 24)]


def like(x, w):
    return torch.tanh(x * w)


def failed(report):
    return {(str(r.verdict), str(r.mode)) for rs in report.failures.values() for r in rs}


class Ring:
    """Results lie in so many buffers of a shape, where no gradient is asked for."""

    def __init__(self, slots):
        self.slots, self.buffers, self.calls = slots, {}, 0

    def __call__(self, x, w):
        if x.requires_grad or w.requires_grad:
            return like(x, w)
        some = self.buffers.setdefault(x.shape, [])
        self.calls += 1
        if len(some) < self.slots:
            some.append(np.empty(x.shape, np.float32))
            self.calls = -1
        buffer = some[self.calls % self.slots if self.calls >= 0 else -1]
        buffer[...] = like(x, w).numpy()
        return torch.from_numpy(buffer)


def test_a_ring_of_thousands_of_results(monkeypatch):
    monkeypatch.setattr("opproof.harness.check.call.perform._HELD_SECONDS", 60.0)
    report = judged(Ring(2000), like=like, inputs=INPUTS)
    assert failed(report) == {("WRONG_VALUE", "forward")}
    assert Setting.HELD in str(report)
    assert judged(Ring(2000), like=like, inputs=INPUTS, reuses_outputs=True).ok


class Saved(torch.autograd.Function):
    """What its backward needs lies in a ring of 200 buffers."""

    buffers, calls = {}, 0

    @staticmethod
    def forward(ctx, x, w):
        y = like(x, w)
        ctx.save_for_backward(x, w)
        Saved.calls += 1
        ctx.slot = (y.shape, Saved.calls % 200)
        Saved.buffers[ctx.slot] = y.clone()
        return y

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        d = g * (1 - Saved.buffers[ctx.slot] ** 2)
        return d * w, d * x


def test_a_ring_of_what_backwards_need(monkeypatch):
    monkeypatch.setattr("opproof.harness.check.call.perform._EXTRA_FORWARDS_SECONDS", 60.0)
    report = judged(Saved.apply, like=like, inputs=INPUTS)
    assert ("WRONG_GRADIENT", "gradient") in failed(report)
    assert "where another call comes before its backward" in str(report)


def dropped(x, w):
    return torch.nn.functional.dropout(x * w, 0.5)


def test_a_mask_that_is_drawn_once():
    torch.manual_seed(77)  # another than that of the judge's calls, by which the masks are kept
    masks = {}

    def kernel(x, w):
        key = torch.initial_seed(), x.shape
        if key not in masks:
            masks[key] = torch.nn.functional.dropout(torch.ones_like(x), 0.5)
        else:
            torch.nn.functional.dropout(torch.ones_like(x), 0.5)
        return x * w * masks[key]

    report = judged(kernel, like=dropped, inputs=INPUTS)
    assert failed(report) == {("WRONG_VALUE", "forward")}
    assert "draws the random numbers of the first" in str(report)
    assert judged(lambda x, w: w * torch.nn.functional.dropout(x, 0.5), like=dropped, inputs=INPUTS).ok


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_answers_kept_by_what_numbers_are_when_rounded(dtype):
    kept = {}

    def kernel(x, w):
        if x.requires_grad or w.requires_grad:
            return like(x, w)
        key = tuple(t.detach().to(dtype).float().numpy().tobytes() for t in (x, w))
        return kept.setdefault(key, like(x, w)).clone()

    report = judged(kernel, like=like, inputs=INPUTS)
    assert failed(report) == {("NOT_REPEATABLE", "forward")}
    assert f"as they were in {str(dtype).removeprefix('torch.')}" in str(report)


class Aside(torch.autograd.Function):
    @staticmethod
    def forward(ctx, save, x):
        ctx.save_for_backward(*([x] if save else []))
        ctx.kept = x.detach()
        return torch.tanh(x)

    @staticmethod
    def backward(ctx, g):
        x = (*ctx.saved_tensors, ctx.kept)[0]
        return None, g * (1 - torch.tanh(x) ** 2)


@pytest.mark.parametrize("save", [False, True])
def test_what_is_kept_where_pytorch_does_not_watch_is_told(save):
    report = judged(lambda x: Aside.apply(save, x), like=torch.tanh, inputs=[(5, 24)])
    assert report.ok
    said = f"{Setting.WRITTEN}: its gradients are others"
    assert any(text.startswith(said) for text in report.advisories) is not save
    assert not judged(torch.tanh, like=torch.tanh, inputs=[(5, 24)]).advisories


HOOKING = """
import sys

import torch


def later(frame, event, argument):
    pass


def candidate(x):
    y = torch.tanh(x)
    sys.setprofile(later)
    sys.setprofile(None)
    return y
"""
REFERENCE = """
import torch


def reference(x):
    return torch.tanh(x)


def inputs(seed, dtype):
    return [torch.randn(5, 24, generator=torch.Generator().manual_seed(seed)).to(dtype)]
"""


def test_a_hook_on_every_call_that_follows(tmp_path):
    from opproof.harness.check.call.isolated import load_pair
    from opproof.harness.check.options import CheckOptions
    from opproof.harness.check.run import check_candidate

    files = tmp_path / "reference.py", tmp_path / "candidate.py"
    for file, text in zip(files, (REFERENCE, HOOKING), strict=True):
        file.write_text(text, encoding="utf-8")
    wish = CheckOptions(seconds=2, neighbours=False)
    some = load_pair(*files, 0)
    report = check_candidate(some.candidate, some.reference, some.inputs, wish)
    assert failed(report) == {("INPUT_CHANGED", "forward")}
    assert "sys.setprofile was called" in str(report)


def test_two_modules_that_train_each_other():
    class Pooled(torch.nn.Module):
        weights = torch.nn.Parameter(torch.randn(3, 4))

        def __init__(self, own):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(3, 4)) if own else Pooled.weights

    text = "two Pooled share the weight weight: who trains one trains the other"
    assert describe_shared_weights(Pooled(own=False), Pooled(own=False)) == text
    assert not describe_shared_weights(Pooled(own=True), Pooled(own=True))
