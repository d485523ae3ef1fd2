"""Candidates of every kind: right ones pass, broken ones fail with their verdict."""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.core.errors import BackendError, UsageError  # noqa: E402

INPUTS = [(5, 17), (17,)]


def reference(x, w):
    return torch.softmax(x * w, -1)


def verdicts(candidate, like=reference, inputs=INPUTS, **wishes):
    report = opproof.check(candidate, like=like, inputs=inputs, raises=False, **{"neighbours": False, **wishes})
    return [str(r.verdict) for r in report.results], report


class Own(torch.autograd.Function):
    factor = 1.0

    @staticmethod
    def forward(ctx, x, w):
        y = reference(x, w)
        ctx.save_for_backward(x, w, y)
        return y

    @classmethod
    def backward(cls, ctx, g):
        x, w, y = ctx.saved_tensors
        d = y * (g - (g * y).sum(-1, keepdim=True)) * cls.factor
        return d * w, (d * x).sum(0)


class Wrong(Own):
    factor = 1.001


def test_a_torch_autograd_function():
    found, report = verdicts(Own)
    assert found == ["PASS", "PASS"]
    assert report.candidate == "Own"
    assert verdicts(Wrong)[0] == ["PASS", "WRONG_GRADIENT"]


def soft(x, w, factor=1.0):
    z = x * w
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True) * e.dtype.type(factor)).astype(x.dtype)


def soft_vjp(g, x, w):
    y = soft(x, w)
    d = y * (g - (g * y).sum(axis=-1, keepdims=True))
    return d * w, (d * x).sum(axis=0)


def test_a_function_of_numpy_arrays():
    assert verdicts(soft)[0] == ["PASS", "UNSUPPORTED"]
    assert verdicts(soft, vjp=soft_vjp)[0] == ["PASS", "PASS"]
    assert verdicts(lambda x, w: soft(x, w, 1.001))[0][0] == "WRONG_VALUE"
    assert verdicts(soft, vjp=lambda g, x, w: soft_vjp(g, x, -w))[0] == ["PASS", "WRONG_GRADIENT"]
    assert verdicts(np.square, torch.square, [(4, 9)], dtype="bf16")[0] == ["PASS", "UNSUPPORTED"]
    assert verdicts(np.abs, torch.square, [(4, 9)])[0][0] == "WRONG_VALUE"


SOURCE = """
#include <stdint.h>
static void f(const float *a, const float *b, float *y, int64_t n, float by) {
    for (int64_t i = 0; i < n; i++) y[i] = a[i] * b[i] * by;
}
void right(const float *a, const float *b, float *y, int64_t rows, int64_t n) { f(a, b, y, rows * n, 1); }
void scaled(const float *a, const float *b, float *y, int64_t rows, int64_t n) { f(a, b, y, rows * n, 1.001f); }
void tail(const float *a, const float *b, float *y, int64_t rows, int64_t n) { f(a, b, y, rows * n / 4 * 4, 1); }
int refuses(const float *a, const float *b, float *y, int n) { return 7; }
int counted(const float *a, const float *b, float *y, int n) { f(a, b, y, n, 1); return 0; }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    folder = tmp_path_factory.mktemp("c")
    (folder / "k.c").write_text(SOURCE, encoding="utf-8")
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "k.c", "-o", "k.so"], cwd=folder, check=True)
    return folder / "k.so"


def test_a_symbol_of_c(library):
    inputs = [(5, 7), (5, 7)]
    assert verdicts(f"c:{library}:right", torch.mul, inputs)[0] == ["PASS", "UNSUPPORTED"]
    assert verdicts(f"c:{library}:scaled", torch.mul, inputs)[0][0] == "WRONG_VALUE"
    found, report = verdicts(f"c:{library}:tail", torch.mul, inputs)
    assert found[0] == "WRONG_VALUE"
    assert "nan" in repr(report)
    with pytest.raises(UsageError, match="has no symbol 'none'"):
        verdicts(f"c:{library}:none", torch.mul, inputs)
    with pytest.raises(UsageError, match="cannot load the library"):
        verdicts("c:./nowhere.so:none", torch.mul, inputs)


def test_a_function_of_ctypes(library):
    inputs = [(5, 7), (5, 7)]
    loaded = ctypes.CDLL(str(library))
    for name, verdict in (("counted", "PASS"), ("refuses", "ERROR")):
        function = getattr(loaded, name)
        function.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int]
        assert verdicts(function, torch.mul, inputs)[0][0] == verdict


class Doubled:
    name = "doubled"

    def __init__(self, factor):
        self.factor = factor

    def forward(self, op, inputs, params):
        return [np.maximum(inputs[0], 0) * inputs[0].dtype.type(self.factor)]

    def vjp(self, op, inputs, params, cotangents, needs):
        return [cotangents[0] * (inputs[0] > 0)]


def test_a_backend_by_an_operators_name():
    report = opproof.check(Doubled(1), "relu", dtype="f32", seconds=2, raises=False)
    assert report.ok
    assert {str(r.mode) for r in report.results} == {"forward", "gradient"}
    assert set(opproof.check(Doubled(2), "relu", dtype="f32", seconds=2, raises=False).failures) == {"WRONG_VALUE"}
    report = opproof.check("torch", "relu", dtype="f32", seconds=1)
    assert report.candidate == "torch"


@torch.library.custom_op("opproof_tests::right", mutates_args=())
def right(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return reference(x, w)


@right.register_fake
def _(x, w):
    return torch.empty_like(x)


right.register_autograd(
    Own.backward,
    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs, output),
)


@torch.library.custom_op("opproof_tests::misshapen", mutates_args=())
def misshapen(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return reference(x, w)


@misshapen.register_fake
def _(x, w):
    return x.new_empty(x.shape[0])


@torch.library.custom_op("opproof_tests::writes", mutates_args=())
def writes(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    y = reference(x, w)
    w.mul_(1.5)
    return y


def test_operators_of_torch_library_are_opchecked():
    found, report = verdicts(right)
    assert found == ["PASS", "PASS"], report
    assert "torch.library.opcheck" in report.tried
    assert verdicts(torch.ops.opproof_tests.right.default)[0] == ["PASS", "PASS"]
    found, report = verdicts(misshapen)
    assert found == ["PASS", "ERROR", "ERROR"]  # no autograd is registered
    assert "opcheck, test_faketensor" in report.results[-1].message
    assert not report.ok
    found, report = verdicts(writes, gradients=False)
    assert found[0] == "INPUT_CHANGED"
    assert "opcheck, test_schema" in report.results[1].message


def test_a_candidate_gets_its_tensors_on_its_device():
    from opproof.harness.check.api import device_of

    assert device_of(torch.nn.Linear(2, 3, device="meta"), [(4, 2)], None) == "meta"
    assert device_of(np.abs, [(4, 2), torch.empty(3, device="meta")], None) == "meta"
    assert device_of(np.abs, lambda: None, None) == "cpu"
    seen = []

    def candidate(x, w):
        seen.append(str(x.device))
        return reference(x, w)

    assert verdicts(candidate, device="meta", gradients=False)[0] == ["ERROR"]  # of meta tensors no value can be had
    assert set(seen) == {"meta"}
    with pytest.raises(BackendError, match="device='nowhere'"):
        verdicts(candidate, device="nowhere")


def test_what_is_no_candidate_is_told():
    with pytest.raises(UsageError, match="expected a function, a module or 'c:"):
        verdicts(3)
    with pytest.raises(UsageError, match="expected a function, a module or a backend"):
        opproof.check(3, "softmax")
