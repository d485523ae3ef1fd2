"""A PyTorch function and rows are an operator: no formula, no vjp."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from opproof.core.errors import OpError  # noqa: E402
from opproof.harness.check.by_operator import make_function_check, results_of  # noqa: E402
from opproof.reference_ops import load_file  # noqa: E402

NORM = """
import torch

OUTPUTS = ("y", "h")
rows = ["x=7x33;residual=7x33;weight=33,", "x=3x17;residual=3x17;weight=17,;eps=0.1;fill=wide;layout=transposed"]


def reference(x, residual, weight, *, eps=1e-6):
    h = x + residual
    return h * torch.rsqrt(h.square().mean(-1, keepdim=True) + eps) * weight, h
"""

RECTIFIED = """
import torch

reference = torch.nn.functional.relu
rows = ["input=5x9", "input=4x16;fill=zeros"]
"""


@pytest.fixture
def file(tmp_path):
    def written(name, text):
        path = tmp_path / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        return path

    return written


def kernel(x, residual, weight, *, eps, outside=False):
    h = x + residual
    mean = np.mean(np.square(h), axis=-1, keepdims=True, dtype=h.dtype)
    root = np.sqrt(mean) + h.dtype.type(eps) if outside else np.sqrt(mean + h.dtype.type(eps))
    return h / root * weight, h


def gradient(g, x, residual, weight, *, eps, factor=1.0):
    h = x + residual
    rate = 1 / np.sqrt(np.mean(np.square(h), axis=-1, keepdims=True, dtype=h.dtype) + h.dtype.type(eps))
    d = g[0] * weight
    dh = rate * (d - h * rate * rate * np.mean(d * h, axis=-1, keepdims=True, dtype=h.dtype)) + g[1]
    return dh, dh * h.dtype.type(factor), np.sum(g[0] * h * rate, axis=0)


def verdicts(path, fn, vjp=None, **options):
    results = results_of(make_function_check(fn, path.stem, vjp=vjp, dtypes="f32,f64", ops=[str(path)], **options))[1]
    return [(str(r.mode), str(r.verdict)) for r in results], results


def test_values_and_gradients_are_judged_by_noise_at_dispatch(file):
    path = file("add_rms_norm", NORM)
    found, results = verdicts(path, kernel, gradient)
    assert len(found) == 6
    assert {v for _, v in found} == {"PASS"}, results
    outside, _ = verdicts(path, lambda *t, eps: kernel(*t, eps=eps, outside=True))
    assert ("forward", "WRONG_VALUE") in outside
    doubled, _ = verdicts(path, kernel, lambda *t, eps: gradient(*t, eps=eps, factor=1.001))
    assert [v for m, v in doubled if m == "gradient"] == ["WRONG_GRADIENT"] * 3


def test_a_function_of_torch_tells_its_tensors_and_parameters(file):
    op = load_file(file("rectified", RECTIFIED))
    assert op.tensors == ("input",)
    assert dict(op.params) == {"inplace": False}
    assert op.rows["smoke"] == ("input=5x9",)
    assert op.rows["standard"] == ("input=4x16;fill=zeros",)
    assert op.doc == "rectified: a function of PyTorch."


def test_functions_that_tell_nothing_are_refused(file):
    builtin = file("told", "import torch\nreference = torch.softmax\n")
    with pytest.raises(OpError, match="does not tell its arguments"):
        load_file(builtin)
    with pytest.raises(OpError, match="takes no tensor"):
        load_file(file("none", "def reference(*, n=3): return n\n"))
    with pytest.raises(OpError, match="no function `forward`"):
        load_file(file("empty", ""))


def test_an_operation_without_a_rule_is_named(file):
    path = file("vectors", "import torch\nrows = ['x=4x4']\ndef reference(x): return torch.geqrf(x)[0]\n")
    found, results = verdicts(path, lambda x: x)
    assert {v for _, v in found} == {"HARNESS_ERROR"}
    assert "the reference of vectors: aten." in results[0].message
