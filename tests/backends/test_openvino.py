"""The OpenVINO adapter: what it covers, and its precision trap."""

import pytest
from _adapters import declared, results, unexpected

pytest.importorskip("onnx", reason="the OpenVINO adapter needs pip onnx")
pytest.importorskip("openvino", reason="the OpenVINO adapter needs pip openvino")

import openvino

from opproof.backends.openvino import create
from opproof.harness.known_failures.findings import read_built_in
from opproof.reference_ops import names

OPS = ("add", "gelu", "matmul", "conv2d", "softmax", "layer_norm", "transpose", "sum", "where", "upsample_bilinear")
MATMUL = "matmul[a=7x33;b=33x5;f32]"


def test_its_ledger_names_operators_that_it_has():
    table = create().table
    assert set(table) <= set(names())
    assert declared("openvino") <= set(table)
    assert {op for entry in read_built_in("openvino") for op in entry.ops} <= {*table, "*"}


def test_some_operators():
    records = results("openvino", "openvino", ops=OPS, level="smoke", dtypes=("f32", "f16"), modes=("forward",))
    assert not unexpected(records)
    assert {r.op for r in records if r.verdict == "PASS"} == set(OPS)


def test_bfloat16_is_found_where_float32_was_asked_for():
    chosen = "BF16" in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    spec = "openvino:default" if chosen else "openvino:bf16"
    (record,) = results(spec, spec, cases=(MATMUL,), modes=("forward",))
    if not chosen and record.verdict == "PASS":
        pytest.skip("this CPU has no bfloat16 instructions, and OpenVINO does not heed the hint to use them")
    assert record.verdict == "WRONG_VALUE"
    assert record.diagnosis.startswith("looks like bf16 arithmetic")
    assert not record.known


def test_float32_is_asked_for_unless_another_is():
    (record,) = results("openvino", "openvino", cases=(MATMUL,), modes=("forward",))
    assert record.verdict == "PASS"


def test_what_it_lacks_is_declined():
    lacks = {
        "xielu[x=7x33;f32]": "ONNX has no xielu",
        "cumprod[x=7x9;dim=-1;f32]": "OpenVINO: -- No conversion rule found for operations: CumProd-26",
        "celu[x=7x33;f64]": "ONNX: (op_type:Celu): X typestr: T, has unsupported type: tensor(double)",
    }
    records = results("openvino", cases=tuple(lacks), modes=("forward",))
    assert {r.case: (r.verdict, r.message) for r in records} == {c: ("UNSUPPORTED", m) for c, m in lacks.items()}
