"""The OpenVINO adapter: what it covers, its precision trap, and a broken twin."""

import sys

import pytest
from _adapters import results, unexpected

pytest.importorskip("onnx", reason="the OpenVINO adapter needs pip onnx")
pytest.importorskip("openvino", reason="the OpenVINO adapter needs pip openvino")

import openvino

from opproof.backends.openvino import STORES_INTERMEDIATES, create
from opproof.harness.ledger.known import built_in
from opproof.reference_ops import names
from opproof.vocabulary.errors import BackendError

BROKEN = """
from opproof.backends.openvino import create

backend = create("f32")
backend.name = "broken"
right = backend._table["layer_norm"]
backend._table["layer_norm"] = lambda m, x, *rest, eps, **params: right(m, x, *rest, eps=1e-6, **params)
"""

OPS = ("add", "gelu", "matmul", "conv2d", "softmax", "layer_norm", "transpose", "sum", "where", "upsample_bilinear")
MATMUL = "matmul[a=7x33;b=33x5;f32]"


def test_its_ledger_names_operators_that_it_has():
    table = create()._table
    assert set(table) <= set(names())
    assert set(table) >= STORES_INTERMEDIATES
    assert {entry.pattern.partition("[")[0] for entry in built_in("openvino")} <= {*table, "*"}


def test_some_operators():
    records = results("openvino:f32", "openvino:f32", ops=OPS, level="smoke", dtypes=("f32", "f16"), modes=("forward",))
    assert not unexpected(records)
    assert {r.op for r in records if r.verdict == "PASS"} == set(OPS)


def test_bfloat16_is_found_where_float32_was_asked_for():
    chosen = "BF16" in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    spec = "openvino" if chosen else "openvino:bf16"
    (record,) = results(spec, spec, cases=(MATMUL,), modes=("forward",))
    if not chosen and record.verdict == "PASS":
        pytest.skip("this CPU has no bfloat16 instructions, and OpenVINO does not heed the hint to use them")
    assert record.verdict == "WRONG_VALUE"
    assert record.diagnosis.startswith("looks like bf16 arithmetic")
    assert record.known


def test_the_hint_of_float32_is_kept():
    (record,) = results("openvino:f32", "openvino:f32", cases=(MATMUL,), modes=("forward",))
    assert record.verdict == "PASS"


def test_a_broken_twin_is_found(tmp_path):
    (tmp_path / "broken.py").write_text(BROKEN, encoding="utf-8")
    case = "layer_norm[x=7x33;normalized_shape=(33);eps=0.1;f32]"
    (record,) = results(str(tmp_path / "broken.py"), cases=(case,), modes=("forward",))
    assert record.verdict == "WRONG_VALUE"


def test_what_it_lacks_is_declined():
    lacks = {
        "xielu[x=7x33;f32]": "ONNX has no xielu",
        "cumprod[x=7x9;dim=-1;f32]": "OpenVINO: -- No conversion rule found for operations: CumProd-26",
        "celu[x=7x33;f64]": "ONNX: (op_type:Celu): X typestr: T, has unsupported type: tensor(double)",
    }
    records = results("openvino", cases=tuple(lacks), modes=("forward",))
    assert {r.case: (r.verdict, r.message) for r in records} == {c: ("UNSUPPORTED", m) for c, m in lacks.items()}


def test_a_variant():
    with pytest.raises(BackendError, match="no variant 'f16': expected openvino, openvino:f32 or openvino:bf16"):
        create("f16")


def test_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "openvino", None)
    with pytest.raises(BackendError, match=r"needs openvino, .* pip install 'opproof\[openvino\]'"):
        create()
