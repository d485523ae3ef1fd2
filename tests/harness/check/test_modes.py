"""modes=: the derivative along a direction and the gradient of the gradient, each with its verdict."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.core.errors import UsageError  # noqa: E402

INPUTS = [(5, 17), (17,)]


def reference(x, w):
    return torch.softmax(x * w, -1)


def verdicts(candidate, like=reference, inputs=INPUTS, modes=("jvp", "double"), **wishes):
    report = opproof.check(
        candidate, like=like, inputs=inputs, raises=False, modes=modes, **{"neighbours": False, **wishes}
    )
    return {str(r.mode): str(r.verdict) for r in report.results}, report


def online(x, w):
    e = torch.exp(x * w - (x * w).amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


ALL = {"forward": "PASS", "gradient": "PASS", "jvp": "PASS", "double": "PASS"}


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_another_formula_passes_in_all_modes(dtype):
    found, report = verdicts(online, dtype=dtype)
    assert found == ALL, report


class Skewed(torch.autograd.Function):
    """A gradient that is right, derivatives of which are not: the tangent is scaled, the backward detached."""

    @staticmethod
    def forward(x, w):
        return reference(x, w)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output)
        ctx.save_for_forward(*inputs, output)

    @staticmethod
    def backward(ctx, g):
        x, w, y = (t.detach() for t in ctx.saved_tensors)
        d = y * (g - (g * y).sum(-1, keepdim=True))
        return d * w, (d * x).sum(0)

    @staticmethod
    def jvp(ctx, dx, dw):
        x, w, y = ctx.saved_tensors
        d = dx * w + x * dw
        return y * (d - (d * y).sum(-1, keepdim=True)) * 1.001


def test_wrong_derivatives_have_their_verdict():
    found, report = verdicts(Skewed)
    assert found == {"forward": "PASS", "gradient": "PASS", "jvp": "WRONG_GRADIENT", "double": "WRONG_GRADIENT"}
    assert "jvp" in repr(report)


class NoTangent(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return reference(x, w)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        y = reference(x, w)
        d = y * (g - (g * y).sum(-1, keepdim=True))
        return d * w, (d * x).sum(0)


def test_what_has_no_forward_mode_is_not_judged():
    found, report = verdicts(NoTangent)
    assert found == {**ALL, "jvp": "UNSUPPORTED"}
    assert any("jvp" in text for text in report.not_judged)


def test_modules_have_modes_too():
    block = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.Tanh())
    found, report = verdicts(block, block, [(3, 6)])
    assert found == ALL, report


def test_wrong_calls_are_told():
    with pytest.raises(UsageError, match="unknown mode 'hessian'"):
        verdicts(reference, modes=("hessian",))
    with pytest.raises(UsageError, match="modes=jvp belongs to like="):
        opproof.check(torch.softmax, "softmax", modes=("jvp",))


def test_forward_mode_that_asks_for_shapes_alone_is_judged():
    """Of a sum of a tensor and a number it evaluates on the meta device, where nothing has a value to round."""

    def norm(x, w):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * w

    def divided(x, w, factor=1.0):
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6) * (w * factor)

    assert verdicts(divided, like=norm)[0] == ALL
    wrong, _ = verdicts(lambda x, w: divided(x, w, 1.001), like=norm)
    assert wrong["jvp"] == "WRONG_GRADIENT"
