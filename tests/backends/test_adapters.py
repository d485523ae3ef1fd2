"""What all adapters owe alike: broken twins are found; what is not there, variant or library, is a sentence."""

import importlib
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from _adapters import results

from opproof.backends import Unsupported, table
from opproof.backends.load import load_backend
from opproof.core.errors import BackendError

BOTH = {"forward": "WRONG_VALUE", "gradient": "WRONG_GRADIENT"}
VALUES = {"forward": "WRONG_VALUE", "gradient": "UNSUPPORTED"}  # of libraries without gradients

#: Another function in a backend's table: the backend, the operator, the function, a case, its verdicts.
CHANGED = [
    ("array_api:array_api_strict", "sum", "lambda x, **p: right(1.01 * x, **p)", "sum[x=7x33;dim=-1;f32]", VALUES),
    ("array_api:array_api_strict", "amin", "lambda x, **p: right(abs(x), **p)", "amin[x=7x33;dim=-1;f32]", VALUES),
    ("array_api:array_api_strict", "std", "lambda x, **p: right(x, **{**p, 'correction': 0})",
     "std[x=7x33;dim=-1;f32]", VALUES),
    ("autograd", "logsumexp", "lambda x, **p: right(1.01 * x, **p)", "logsumexp[x=7x33;dim=-1;f32]", BOTH),
    ("candle", "softmax", "lambda x, *, dim: right(x, dim=0)", "softmax[x=4x7;dim=1;f32]", VALUES),
    ("candle", "amax", "lambda x, **p: right(x.abs(), **p)", "amax[x=7x33;dim=-1;f32]", VALUES),
    ("candle", "tanh", "lambda x: right(x.to_dtype('f16')).to_dtype('f32')", "tanh[x=7x33;f32]", VALUES),
    ("jax", "softmax", "lambda x, *, dim: right(x, dim=0)", "softmax[x=4x7;dim=1;f32]", BOTH),
    ("mlx", "layer_norm", "lambda *xs, eps, **p: right(*xs, eps=1e-6, **p)",
     "layer_norm[x=7x33;normalized_shape=(33);eps=0.1;f32]", BOTH),
    ("onnxruntime", "layer_norm", "lambda *xs, eps, **p: right(*xs, eps=1e-6, **p)",
     "layer_norm[x=7x33;normalized_shape=(33);eps=0.1;f32]", VALUES),
    ("openvino", "layer_norm", "lambda *xs, eps, **p: right(*xs, eps=1e-6, **p)",
     "layer_norm[x=7x33;normalized_shape=(33);eps=0.1;f32]", VALUES),
    ("tinygrad:python", "softmax", "lambda x, **p: right(1.01 * x, **p)", "softmax[x=7x33;dim=-1;f32]", BOTH),
]  # fmt: skip
CHANGE = """
from opproof.backends.load import load_backend

backend = load_backend({spec!r})
right = backend.table[{op!r}]
backend.table[{op!r}] = {function}
"""

#: aidge's defect of broadcasting in the backward of Mul, as its own test has it: the first row of g for the sum.
UNSUMMED = """
import numpy as np
from opproof.backends.aidge import create, run

class Unsummed(run.Run):
    def gradients(self, cotangents):
        only = np.zeros_like(cotangents[0])
        only[0] = cotangents[0][0]
        return {0: super().gradients([only])[0], 1: super().gradients(cotangents)[1]}

run.Run = Unsummed
backend = create()
"""
TAN_FOR_SIN = """
from dataclasses import replace

import warp as wp
from opproof.backends.warp import create

backend = create()
from opproof.backends.warp.functions import POINTWISE

POINTWISE["sin"] = replace(POINTWISE["sin"], function=wp.tan)
"""


def installed(backend):
    """Skip the test where a backend's library is not there."""
    name = backend.partition(":")[0]
    modules = {"aidge": ("aidge_core", "aidge_backend_cpu"), "mlx": ("mlx.core",)}
    modules |= {"array_api": ("array_api_strict",)}
    modules |= {"onnxruntime": ("onnx", "onnxruntime"), "openvino": ("onnx", "openvino")}
    for module in modules.get(name, (name,)):
        pytest.importorskip(module, reason=f"backend {name} needs {module}")


@pytest.mark.parametrize(("spec", "op", "function", "case", "verdicts"), CHANGED, ids=[c[0] for c in CHANGED])
def test_a_twin_with_another_function_is_found(tmp_path, spec, op, function, case, verdicts):
    installed(spec)
    (tmp_path / "broken.py").write_text(CHANGE.format(spec=spec, op=op, function=function), encoding="utf-8")
    assert {r.mode: r.verdict for r in results(str(tmp_path / "broken.py"), cases=(case,))} == verdicts


@pytest.mark.parametrize(
    ("backend", "text", "case", "verdicts"),
    [
        ("aidge", UNSUMMED, "mul[a=1x3;b=4x3;f32]", {"forward": "PASS", "gradient": "WRONG_GRADIENT"}),
        ("warp", TAN_FOR_SIN, "sin[x=7x33;f32]", BOTH),
    ],
    ids=["aidge", "warp"],
)
def test_a_broken_twin_is_found(tmp_path, backend, text, case, verdicts):
    installed(backend)
    (tmp_path / "broken.py").write_text(text, encoding="utf-8")
    assert {r.mode: r.verdict for r in results(str(tmp_path / "broken.py"), cases=(case,))} == verdicts


@pytest.mark.parametrize(
    ("backend", "expected"),
    {
        "aidge": "aidge",
        "autograd": "autograd or autograd:each",
        "candle": "candle",
        "jax": "jax, jax:jit, jax:eager or jax:gpu",
        "mlx": "mlx, mlx:compile or mlx:gpu",
        "numpy": "numpy",
        "onednn": "onednn or onednn:plain",
        "onnxruntime": "onnxruntime",
        "openvino": "openvino, openvino:default or openvino:bf16",
        "tinygrad": "tinygrad, tinygrad:x86 or tinygrad:python",
        "torch": "torch, torch:cpu, torch:inductor, torch:cuda, torch:mps or torch:xpu",
        "warp": "warp",
    }.items(),
)
def test_an_unknown_variant(backend, expected):
    """It is refused before the library is looked for."""
    with pytest.raises(BackendError) as caught:
        load_backend(f"{backend}:fast")
    assert str(caught.value) == f"backend {backend} has no variant 'fast': expected {expected}."


@pytest.mark.parametrize(
    ("spec", "module"),
    [
        ("aidge", "aidge_backend_cpu"),
        ("aidge", "aidge_core"),
        ("autograd", "autograd"),
        ("candle", "candle"),
        ("jax", "jax"),
        ("mlx", "mlx.core"),
        ("onnxruntime", "onnx"),
        ("onnxruntime", "onnxruntime"),
        ("openvino", "onnx"),
        ("openvino", "openvino"),
        ("tinygrad:python", "tinygrad"),
        ("torch", "torch"),
        ("warp", "warp"),
    ],
)
def test_not_installed(monkeypatch, tmp_path, spec, module):
    monkeypatch.chdir(tmp_path)  # no clone
    if module != "aidge_backend_cpu":  # which comes first, and is no stranger to Python's import machinery
        monkeypatch.setitem(sys.modules, "aidge_backend_cpu", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "onnx", SimpleNamespace())
    monkeypatch.setitem(sys.modules, module, None)
    name = spec.partition(":")[0]
    with pytest.raises(
        BackendError, match=rf"backend {name} needs .*, which is not installed; pip install 'opproof\[{name}\]'\."
    ):
        load_backend(spec)


# What they share


def test_tables_are_joined_and_asked():
    whole = table.join_tables(SimpleNamespace(TABLE={"add": np.add}), SimpleNamespace(TABLE={"neg": np.negative}))
    assert list(whole) == ["add", "neg"]
    assert table.supports(whole, "add", "NumPy") is True
    assert table.supports(whole, "gelu", "NumPy") == "NumPy has no gelu"
    assert table.function_of(whole, "neg", "NumPy") is np.negative
    with pytest.raises(Unsupported, match="^NumPy has no gelu$"):
        table.function_of(whole, "gelu", "NumPy")


def test_gradients_stand_where_they_are_needed():
    """Of a function of three tensors, one absent, with two outputs, one of integers: for the second tensor alone."""
    seen = []

    def pull(f, leaves, gs):
        seen.append((f(*leaves), leaves, gs))
        return [10 * g for g in gs]

    found = table.pull_back(pull, lambda a, b, c: (a + b, c is None), [1, 2, None], [5, None], [False, True, False])
    assert found == [None, 50, None]
    assert seen == [([3], [2], [5])]


def test_gradients_of_other_outputs_than_asked_for_are_an_error():
    with pytest.raises(ValueError, match="zip"):
        table.pull_back(lambda f, leaves, gs: f(*leaves), lambda a: a, [1], [5, None], [True])


def test_a_module_of_a_library_is_imported(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # no clone
    assert table.import_library("json", "mine", "JSON") is importlib.import_module("json")
    with pytest.raises(BackendError) as caught:
        table.import_library("no_such_module", "my_one", "My One")
    hint = "backend my_one needs My One, which is not installed; pip install 'opproof[my-one]'."
    assert str(caught.value) == hint


@pytest.mark.parametrize("line", ['backend = "cuda"', "def backend(): ..."])
def test_a_file_may_use_the_name_of_a_backend_for_something_else(tmp_path, line):
    path = tmp_path / "mine.py"
    path.write_text(f"{line}\ndef forward(op, inputs, params):\n    return inputs\n", encoding="utf-8")
    assert load_backend(str(path)).forward("relu", [1], {}) == [1]
