"""The ONNX Runtime adapter: what it covers, and the smoke level."""

import pytest
from _adapters import declared, results, unexpected

pytest.importorskip("onnx", reason="the ONNX Runtime adapter needs pip onnx")
pytest.importorskip("onnxruntime", reason="the ONNX Runtime adapter needs pip onnxruntime")

from opproof.backends.onnxruntime import create
from opproof.harness.known_failures.findings import read_built_in
from opproof.reference_ops import names


def test_it_covers_80_operators_and_no_other():
    table = create().table
    assert len(table) >= 80
    assert set(table) <= set(names())
    assert declared("onnxruntime") <= set(table)
    assert {op for entry in read_built_in("onnxruntime") for op in entry.ops} <= set(table)


def test_smoke():
    records = results("onnxruntime", "onnxruntime", level="smoke", dtypes=("f32",), modes=("forward",))
    assert not unexpected(records)
    assert len({r.op for r in records if r.verdict == "PASS"}) >= 130


def test_other_dtypes():
    ops, dtypes = (
        ("add", "gelu", "conv2d", "matmul", "transpose", "scaled_dot_product_attention"),
        ("f64", "f16", "bf16"),
    )
    records = results("onnxruntime", "onnxruntime", ops=ops, level="smoke", dtypes=dtypes, modes=("forward",))
    assert not unexpected(records)
    assert {r.dtype for r in records if r.op == "transpose" and r.verdict == "PASS"} == set(dtypes)


def test_codes_of_float16_are_of_quotients_of_float32():
    """Of quotients of float16, ONNX's default, nine cases have codes that are one off."""
    cases = ("quantize_linear[x=16x64;scale=16x1;type=i8;f16]", "quantize_linear[x=64x128;scale=64x4;type=f8e4m3;f16]")
    records = results("onnxruntime", "onnxruntime", cases=cases, modes=("forward",))
    assert [r.verdict for r in records] == ["PASS", "PASS"]


def test_memory_of_the_caller_that_it_writes_is_found():
    case = "batch_norm[x=4x3x7;running_mean=3,;running_var=3,;training=true;f32;layout=offset]"
    (record,) = results("onnxruntime", "onnxruntime", cases=(case,), modes=("forward",))
    assert record.verdict == "INPUT_CHANGED"
    assert record.known


def test_a_clip_without_a_bound_keeps_infinities():
    """ONNX's default bounds are the largest numbers."""
    cases = ("clamp[x=4095,;min=None;max=-0.5;f64;fill=infinite]", "clamp[x=2x8x256x1;min=-0.5;f16;fill=infinite]")
    records = results("onnxruntime", "onnxruntime", cases=cases, modes=("forward",))
    assert [r.verdict for r in records] == ["PASS", "PASS"]


def test_causes_of_drawn_cases():
    cases = (
        "addmm[x=48x48;a=48x2;b=2x48;beta=0.5;alpha=1.00432;f64]",
        "batch_norm_training[x=48x1x13x2;running_mean=1,;running_var=1,;unbiased=false;eps=0.1;f64]",
        "dropout[x=1x4095;p=0.87;key=1;f32]",
        "dropout[x=64x64;key=0;f32]",
        "fft[re=2x1023;im=2x1023;dim=-1;inverse=true;f64]",
        "group_norm[x=255x2x8;bias=2,;num_groups=2;f32;fill=offset-1e4]",
        "gru_cell[x=127x1;h=127x13;weight_ih=39x1;weight_hh=39x13;f32;fill=wide]",
        "log_softmax[x=16x100;dim=-1;f64;fill=special-rows]",
        "rfft[x=1x1023;f64]",
        "softshrink[x=256x16;lambd=0.50216;f64;fill=halves]",
        "upsample_nearest[x=13x1x1x270;size=(7,9);f32]",
    )
    records = results("onnxruntime", "onnxruntime", cases=cases, modes=("forward",))
    assert {r.case: r.verdict for r in records if not r.known} == {}


def test_what_it_lacks_is_declined():
    pooled = "max_pool1d[x=1x2x9;kernel_size=2;padding=2;dilation=3;f32]"
    lacks = {
        pooled: "ONNX Runtime: Pad should be smaller than kernel.",
        "xielu[x=7x33;f32]": "ONNX has no xielu",
        "exp[x=7x33;bf16]": "ONNX Runtime: Could not find an implementation for Exp(13) node with name ''",
        "celu[x=7x33;f64]": "ONNX: (op_type:Celu): X typestr: T, has unsupported type: tensor(double)",
        "local_response_norm[x=2x7x5;size=3;alpha=0.5;f32]": "ONNX Runtime: X_shape.NumDimensions() == 4 was false.",
    }
    records = results("onnxruntime", cases=tuple(lacks), modes=("forward",))
    assert {r.case: (r.verdict, r.message) for r in records} == {c: ("UNSUPPORTED", m) for c, m in lacks.items()}


def test_it_has_no_gradients():
    (record,) = results("onnxruntime", cases=("exp[x=7x33;f32]",), modes=("gradient",))
    assert (record.verdict, record.message) == ("UNSUPPORTED", "the backend has no vjp")


@pytest.mark.parametrize(
    "case",
    [
        "rope[x=2x9x3x64;positions=9,;n_dims=64;mode=neox;freq_base=1000000.0;f32]",
        "rope[x=1x1025x1x2;positions=1025,;n_dims=2;f16]",
    ],
)
def test_a_table_of_angles_has_a_row_for_every_position(case):
    (record,) = results("onnxruntime", cases=(case,), modes=("forward",))
    assert record.verdict == "PASS"
