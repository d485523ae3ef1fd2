"""The OpenCL kernels of examples/opencl_kernels on PoCL, and their broken twins."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from _adapters import results, unexpected

cl = pytest.importorskip("pyopencl", reason="the OpenCL kernels need pip pyopencl")

FOLDER = Path(__file__).parents[2] / "examples" / "opencl_kernels"
BACKEND, BROKEN = str(FOLDER / "backend.py"), str(FOLDER / "broken.py")

TWIN = """
import os
from opproof.backends.load import load_backend

os.environ["OPPROOF_DEFECT"] = "{}"
backend = load_backend("{}")
"""


def has_device():
    try:
        return bool(cl.get_platforms())
    except cl.Error:
        return False


needs_device = pytest.mark.skipif(not has_device(), reason="there is no OpenCL driver: apt install pocl-opencl-icd")


@needs_device
def test_smoke():
    records = results(BACKEND, ops=("gelu", "matmul", "rms_norm", "softmax"), level="smoke")
    assert not unexpected(records)
    assert len([r for r in records if r.verdict == "PASS"]) == 36


@needs_device
def test_layouts_and_long_rows():
    cases = (
        "softmax[x=2x3x65;dim=1;bf16;layout=transposed]",
        "softmax[x=2x4099;dim=-1;f32]",
        "rms_norm[x=130x6;weight=6,;f16]",
        "matmul[a=2x3x4x7;b=2x1x7x2;layout=b:broadcast;f16]",
        "matmul[a=17,;b=17x9;f32]",
        "matmul[a=3x0;b=0x4;f32]",
        "gelu[x=2x3x4x7;approximate=tanh;f32;fill=wide;layout=permuted]",
    )
    records = results(BACKEND, cases=cases)
    assert not unexpected(records)
    assert len([r for r in records if r.verdict == "PASS"]) == 14


GELU, GELU_T = "gelu[x=7x33;f32]", "gelu[x=2x3x65;f32;layout=transposed]"
SOFTMAX, LONG = "softmax[x=3x5;dim=-1;f32;fill=extreme]", "softmax[x=3x97;dim=-1;f32]"
NORM, NORM_EPS = "rms_norm[x=7x33;f32]", "rms_norm[x=5x31;weight=31,;eps=0.1;f32]"
MATMUL = "matmul[a=7x33;b=33x5;f32]"

#: Defects planted together, one per operator: the case that finds each, the mode, the verdict, what is said of it.
PLANTED = [
    {
        "gelu_unbounded": (
            GELU,
            "forward",
            "OUT_OF_BOUNDS",
            "output 0: 100 bytes past its end were written, the nearest 0",
        ),
        "softmax_no_maximum": (SOFTMAX, "forward", "WRONG_VALUE", "an intermediate value overflows"),
        "rms_norm_mean_of_group": (NORM, "forward", "WRONG_VALUE", "every element of y is 1.39262 ×"),
        "matmul_whole_tiles": (MATMUL, "forward", "WRONG_VALUE", "the last slice along axis 1 of a"),
    },
    {
        "gelu_ones": (GELU, "gradient", "WRONG_GRADIENT", "the cotangent is ignored"),
        "softmax_one_element": (LONG, "forward", "NOT_WRITTEN", "99 of 291 elements were not written"),
        "rms_norm_eps_outside": (NORM_EPS, "forward", "WRONG_VALUE", ""),
        "matmul_unbounded": (MATMUL, "forward", "OUT_OF_BOUNDS", "output 0: 224 bytes past its end were written"),
    },
    {
        "gelu_row_major": (GELU_T, "forward", "WRONG_VALUE", "the strides of x are ignored"),
        "softmax_before_row": (LONG, "forward", "OUT_OF_BOUNDS", "output 0: 4 bytes before its beginning were written"),
        "rms_norm_in_place": (NORM, "forward", "INPUT_CHANGED", "input 0"),
    },
]


@needs_device
@pytest.mark.parametrize("defects", PLANTED, ids=lambda d: next(iter(d)).partition("_")[2])
def test_planted_defects_are_found(defects, tmp_path):
    twin = tmp_path / "twin.py"  # workers have the environment of their fork server, not of this process
    twin.write_text(TWIN.format(",".join(defects), BROKEN), encoding="utf-8")
    for mode in {mode for _, mode, _, _ in defects.values()}:
        expected = {case: (verdict, said) for case, m, verdict, said in defects.values() if m == mode}
        records = results(str(twin), cases=tuple(expected), modes=(mode,))
        assert {r.case: r.verdict for r in records} == {case: verdict for case, (verdict, _) in expected.items()}
        for r in records:
            assert expected[r.case][1] in r.message + r.diagnosis


def test_without_a_driver():
    environment = {**os.environ, "OCL_ICD_VENDORS": "/nonexistent"}
    call = [sys.executable, "-m", "opproof.harness", "run", "-b", BACKEND, "--case", GELU]
    done = subprocess.run(call, check=False, capture_output=True, text=True, env=environment)
    assert done.returncode == 2
    assert "there is no OpenCL device: install a driver" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
