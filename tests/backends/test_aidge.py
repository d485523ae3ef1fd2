"""The aidge adapter: what it covers, the smoke level, and the Mul of aidge's own history."""

import importlib.util
import signal
import subprocess
import sys

import numpy as np
import pytest
from _adapters import declared, results, unexpected

from opproof.backends.aidge import create
from opproof.backends.aidge.apart import run_in_fork
from opproof.harness.known_failures.findings import read_built_in
from opproof.reference_ops import names

# It imports matplotlib: three seconds of each process that collects tests.
missing = [name for name in ("aidge_core", "aidge_backend_cpu") if importlib.util.find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")

#: aidge's defect of broadcasting in the backward of Mul, as its own test has it.
MUL = "mul[a=1x3;b=4x3;f32]"


def test_it_covers_100_operators_and_no_other():
    table = create().table
    assert len(table) >= 100
    assert set(table) <= set(names())
    assert declared("aidge") <= set(table)
    assert {op for entry in read_built_in("aidge") for op in entry.ops} <= set(table)


def test_smoke():
    quick = tuple(op for op in create().table if op not in ("upsample_bicubic", "upsample_bilinear"))
    records = results("aidge", "aidge", ops=quick, level="smoke", dtypes=("f32",))
    assert not unexpected(records)
    assert len({r.op for r in records if r.verdict == "PASS" and r.mode == "forward"}) >= 90
    assert len({r.op for r in records if r.verdict == "PASS" and r.mode == "gradient"}) >= 30


def test_other_dtypes():
    records = results(
        "aidge", "aidge", ops=("add", "exp", "concat", "conv1d", "sqrt"), level="smoke", dtypes=("f64", "f16")
    )
    assert not unexpected(records)
    assert len([r for r in records if r.verdict == "PASS"]) >= 8


def test_the_gradient_of_a_broadcast_mul():
    records = results("aidge", cases=(MUL,))
    assert {r.mode: r.verdict for r in records} == {"forward": "PASS", "gradient": "PASS"}


def test_the_wrong_gradient_of_sin_is_found():
    """aidge 0.10.1 has the backward of atan in its place."""
    (record,) = results("aidge", "aidge", cases=("sin[x=7x33;f32]",), modes=("gradient",))
    assert record.verdict == "WRONG_GRADIENT"
    assert "atan" in record.known


def test_what_aidge_lacks_is_declined():
    cases = ("gelu[x=7x33;f32]", "add[a=7x33;b=7x33;f16]", "add[a=7x33;b=7x33;bf16]", "exp[x=0x3;f32]")
    said = {r.case: (r.verdict, r.message) for r in results("aidge", cases=cases, modes=("forward",))}
    assert {verdict for verdict, _ in said.values()} == {"UNSUPPORTED"}
    assert [said[case][1] for case in cases] == [
        "aidge has no gelu",
        "aidge's CPU backend has no kernel for f16",
        "aidge's CPU backend has no bfloat16",
        "aidge has no empty tensors: it calls them undefined",
    ]


def test_an_operator_without_a_backward_is_declined():
    (record,) = results("aidge", cases=("abs[x=7x33;f32]",), modes=("gradient",))
    assert (record.verdict, record.message.split(" for ")[0]) == (
        "UNSUPPORTED",
        "aidge: Backward not yet implemented",
    )


def test_a_depthwise_convolution_of_one_channel_is_one_too():
    """Conv2D, which answers it as well, has a kernel for f16, and another defect there."""
    shapes = "x=2x1x3x4;weight=1x1x1x1;bias=1,"
    records = results("aidge", cases=tuple(f"conv2d_depthwise[{shapes};{dtype}]" for dtype in ("f32", "f16")))
    assert {(r.dtype, r.mode): r.verdict for r in records} == {
        ("f32", "forward"): "PASS",
        ("f32", "gradient"): "UNSUPPORTED",
        ("f16", "forward"): "UNSUPPORTED",
        ("f16", "gradient"): "UNSUPPORTED",
    }


def test_a_transposed_convolution_is_not_asked_for_its_backward():
    """aidge would run the backward of Pad, which may damage the process, before it says that Conv has none."""
    case = "conv_transpose2d[x=1x3x2x5;weight=3x3x1x3;stride=(3,2);padding=(0,1);output_padding=(2,1);f32]"
    said = {r.mode: (r.verdict, r.message) for r in results("aidge", cases=(case,))}
    assert said["forward"][0] == "PASS"
    assert said["gradient"] == ("UNSUPPORTED", "aidge's transposed convolutions have no backward")


def test_a_pad_that_adds_and_takes_away_is_called_apart():
    x = np.ones((2, 3), np.float32)
    pads = {(1, 1): False, (-1, -1): False, (-1, 2): True}
    assert {p: create().table["pad"](x, pad=p, mode="constant", value=0.0).damages for p in pads} == pads


def test_fold2d_is_called_where_it_damages_its_process():
    """Of one case three calls may all go unnoticed by the heap, of three hardly."""
    cases = tuple(f"col2im[x=1x8x130;output_size=(3,66);kernel_size=2;f32;seed={seed}]" for seed in range(1, 4))
    records = results("aidge", "aidge", cases=cases, modes=("forward",))
    assert {r.verdict for r in records} <= {"CRASH", "PASS"}
    assert any(r.verdict == "CRASH" and "Fold2D" in r.known for r in records)


def test_what_is_called_apart_answers_raises_and_dies(tmp_path):
    assert run_in_fork(lambda: [1, 2]) == [1, 2]
    with pytest.raises(RuntimeError, match="no kernel"):
        run_in_fork(_refuses)
    program = "import os\nfrom opproof.backends.aidge.apart import run_in_fork\nrun_in_fork(os.abort)\n"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == -signal.SIGABRT


def _refuses():
    raise RuntimeError("no kernel")
