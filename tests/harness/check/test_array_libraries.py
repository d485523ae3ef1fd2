"""Functions of JAX and MLX are judged as they are: right ones pass, values and gradients, and planted errors fail."""

import pytest
import torch
from _runs import completed

import opproof
from opproof.core.errors import UsageError

jax = pytest.importorskip("jax")
mx = pytest.importorskip("mlx.core")


def softmax(x):
    return torch.softmax(x, -1)


def topk(x):
    return torch.topk(x, 3)


def jax_softmax(x):
    e = jax.numpy.exp(x - jax.numpy.max(x, -1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def mlx_softmax(x):
    return mx.softmax(x, axis=-1)


def wrong_past_32(x):
    return jax.numpy.where(jax.numpy.arange(x.shape[-1]) < 32, jax.nn.softmax(x), 0)


def without_maximum(x):
    return mx.exp(x) / mx.sum(mx.exp(x), axis=-1, keepdims=True)


@jax.custom_vjp
def wrong_gradient(x):
    return jax.nn.softmax(x)


wrong_gradient.defvjp(lambda x: (jax.nn.softmax(x),) * 2, lambda y, g: (y * g,))


def judged(candidate, like=softmax, **more):
    return opproof.check(candidate, like=like, inputs=[(7, 33)], raises=False, neighbours=False, **more)


@pytest.mark.parametrize(
    "candidate", [jax.nn.softmax, jax.jit(jax_softmax), mlx_softmax], ids=["jax.nn", "jitted", "mlx"]
)
def test_right_ones_pass_with_their_gradients(candidate):
    report = judged(candidate)
    assert report.ok, report
    assert {(str(r.mode), str(r.verdict)) for r in report.results} == {("forward", "PASS"), ("gradient", "PASS")}


@pytest.mark.parametrize(
    ("candidate", "failures"),
    [
        (wrong_past_32, {("forward", "WRONG_VALUE"), ("gradient", "WRONG_GRADIENT")}),
        (wrong_gradient, {("gradient", "WRONG_GRADIENT")}),
    ],
)
def test_planted_errors_fail(candidate, failures):
    report = judged(candidate)
    assert {(str(r.mode), str(r.verdict)) for r in report.results if r.verdict != "PASS"} == failures


def test_an_overflow_of_mlx_is_found_at_large_values():
    report = opproof.check(without_maximum, like=softmax, inputs=[(7, 33)], raises=False, only="large values")
    assert "WRONG_VALUE" in {str(r.verdict) for r in report.results}


def test_bfloat16_is_judged_by_what_is_declared():
    assert not judged(jax.nn.softmax, dtype="bf16").ok
    assert judged(jax.nn.softmax, dtype="bf16", compute="storage").ok


def test_float64_is_computed_as_such():
    assert judged(jax.nn.softmax, dtype="f64").ok
    assert not judged(mlx_softmax, dtype="f64").ok  # MLX computes it in float32


def test_indices_of_32_bits_are_those_of_pytorch():
    assert judged(lambda x: jax.lax.top_k(x, 3), topk).ok


def test_an_operator_by_name():
    def kernel(x, *, dim=-1):
        return jax.nn.softmax(x, axis=dim)

    report = opproof.check(kernel, "softmax", dtype="f32", seconds=2, raises=False)
    assert report.ok
    assert {"forward", "gradient"} <= {str(r.mode) for r in report.results if r.verdict == "PASS"}


def test_a_reference_of_jax_is_a_wrong_call():
    with pytest.raises(UsageError, match="like is a function of JAX: expected one of PyTorch"):
        judged(softmax, like=jax.nn.softmax)


REFERENCE = """
import torch


def reference(x):
    return torch.softmax(x, -1)


def inputs(seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(7, 33, generator=generator, dtype=dtype)]
"""


@pytest.mark.parametrize(("factor", "code"), [("1.0", 0), ("1.001", 1)])
def test_files(tmp_path, factor, code):
    (tmp_path / "reference.py").write_text(REFERENCE, encoding="utf-8")
    text = f"import jax\n\n\ndef candidate(x):\n    return jax.nn.softmax(x) * {factor}\n"
    (tmp_path / "candidate.py").write_text(text, encoding="utf-8")
    done = completed("check", "reference.py", "candidate.py", "--only", "as given", cwd=tmp_path)
    assert done.returncode == code, done.stdout + done.stderr
