"""Operators of torch.library: what opcheck objects to is a record of its own, beside the values and gradients."""

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402

INPUTS = [(4, 8), (8,)]
SCHEMA = "(Tensor x, Tensor w) -> Tensor"


def reference(x, w):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * w


def kernel(x, w):
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w


def gradient(ctx, g):
    with torch.enable_grad():
        inputs = [t.detach().requires_grad_() for t in ctx.saved_tensors]
        return torch.autograd.grad(kernel(*inputs), inputs, g)


def like(x, w):
    return torch.empty_like(x)


def operator(name, body=kernel, fake=like, backward=gradient):
    made = torch.library.custom_op(f"opproof_custom::{name}", body, mutates_args=(), schema=SCHEMA)
    if fake is not None:
        made.register_fake(fake)
    if backward is not None:
        made.register_autograd(backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))
    return made


def writing(x, w):
    x.add_(1)
    return kernel(x, w)


@pytest.fixture(scope="module")
def library():
    """Operators of a schema and an implementation, as C++ extensions register them."""
    made = torch.library.Library("opproof_defined", "DEF")
    for name, key in (("values", "CPU"), ("composite", "CompositeImplicitAutograd")):
        made.define(name + SCHEMA)
        made.impl(name, kernel, key)
    yield torch.ops.opproof_defined
    made._destroy()


def verdicts(candidate):
    report = opproof.check(candidate, like=reference, inputs=INPUTS, raises=False, neighbours=False)
    assert "torch.library.opcheck" in report.tried
    found = [str(r.verdict) for r in report.results if not r.message.startswith("torch.library.opcheck")]
    said = [r.message for r in report.results if r.message.startswith("torch.library.opcheck")]
    assert all(str(r.verdict) == "ERROR" for r in report.results if r.message in said)
    assert report.ok == (not said and set(found) == {"PASS"})
    return found, [text.split(", ")[1].partition(":")[0] for text in said], report


def test_a_right_operator_passes_in_all_its_forms(library):
    right = operator("right")
    forms = right, torch.ops.opproof_custom.right, torch.ops.opproof_custom.right.default, library.composite
    for candidate in forms:
        assert verdicts(candidate)[:2] == (["PASS", "PASS"], [])
    assert verdicts(right)[2].candidate == "right"
    assert verdicts(forms[2])[2].candidate == "right"


@pytest.mark.parametrize(
    ("name", "change", "values", "objections"),
    [
        ("no_fake", {"fake": None}, ["PASS", "PASS"], ["test_faketensor"]),
        ("fake_shape", {"fake": lambda x, w: x.new_empty(4)}, ["PASS", "PASS"], ["test_faketensor"]),
        ("fake_dtype", {"fake": lambda x, w: like(x, w).double()}, ["PASS", "PASS"], ["test_faketensor"]),
        ("schema", {"body": writing}, ["INPUT_CHANGED"], ["test_schema"]),
        ("no_gradient", {"backward": None}, ["PASS", "ERROR"], []),
        ("half_gradient", {"backward": lambda ctx, g: (gradient(ctx, g)[0], None)}, ["PASS", "WRONG_GRADIENT"], []),
        ("values", {"body": lambda x, w: kernel(x, w) * 1.001}, ["WRONG_VALUE", "PASS"], []),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_by_its_check(name, change, values, objections):
    assert verdicts(operator(name, **change))[:2] == (values, objections)


def test_a_missing_registration_of_autograd_is_told(library):
    found, objections, report = verdicts(library.values)
    assert "test_autograd_registration" in objections
    assert "test_faketensor" in objections
    assert found[0] == "PASS"
    assert set(report.failures) == {"ERROR"}


def test_a_conjugate_that_is_not_made_yet_is_read_as_one_in_an_operator_of_python():
    """In a mode of PyTorch's dispatch, as fences and noise are, it is read as it lies in memory."""
    from opproof.harness.check.call.guard_regions import Fence, Fences, fenced

    def turned(x, w):
        pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(pairs * torch.polar(torch.ones(4).double(), w[:4].double()).conj()).flatten(-2).to(x)

    made = operator("turned", turned, backward=None)
    x, w = torch.randn(4, 8), torch.randn(8)
    with fenced(torch, Fences(Fence.BYTES)):
        within = made(x, w)
    assert torch.equal(within, turned(x, w))
    assert opproof.check(made, like=turned, inputs=INPUTS, gradients=False, raises=False, neighbours=False).ok
