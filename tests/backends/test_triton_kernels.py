"""The Triton kernels of examples/triton_kernels in Triton's interpreter, compiled for a GPU, and broken."""

import os
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from _adapters import results, unexpected

pytest.importorskip("torch", reason="the Triton kernels need pip torch")
pytest.importorskip("triton", reason="the Triton kernels need pip triton")

FOLDER = Path(__file__).parents[2] / "examples" / "triton_kernels"
BACKEND, BROKEN = str(FOLDER / "backend.py"), str(FOLDER / "broken.py")

TWIN = """
import os
from opproof.backends.load import load_backend

os.environ["OPPROOF_DEFECT"] = "{}"
backend = load_backend("{}")
"""


def test_values_and_gradients():
    cases = (
        "gelu[x=7x33;bf16]",
        "gelu[x=2x3x4x7;approximate=tanh;f32;fill=wide;layout=permuted]",
        "softmax[x=2x3x5;dim=1;f16;layout=transposed]",
        "softmax[x=2x1031;dim=-1;f32]",
        "rms_norm[x=18x6;weight=6,;f32]",
        "layer_norm[x=3x4x7;weight=4x7;bias=4x7;normalized_shape=(4,7);bf16;layout=weight:gapped,bias:transposed]",
        "matmul[a=2x3x4x7;b=2x1x7x2;layout=b:broadcast;bf16]",
        "matmul[a=17,;b=17x9;f16]",
        "matmul[a=5x67;b=67x3;f32;layout=a:sliced]",
    )
    records = results(BACKEND, cases=(*cases, "relu[x=7x33;f32]"))
    assert not unexpected(records)
    assert len([r for r in records if r.verdict == "PASS"]) == 18
    assert {(r.op, r.message) for r in records if r.verdict == "UNSUPPORTED"} == {
        ("relu", "there is no kernel for relu")
    }


#: Defects planted together, one per operator: the case that finds each, the verdict, what is said of it.
PLANTED = {
    "forward": {
        "softmax_tail_unmasked": ("softmax[x=7x33;dim=-1;f32]", "OUT_OF_BOUNDS", "a read past the end"),
        "rms_norm_mean_of_block": ("rms_norm[x=7x33;f32]", "WRONG_VALUE", "every element of y is 1.39262 ×"),
        "gelu_grid_rounded_down": ("gelu[x=1x1031;f32]", "NOT_WRITTEN", "7 of 1031 elements were not written"),
    },
    "gradient": {
        "softmax_one_block": ("softmax[x=2x1031;dim=-1;f32]", "NOT_WRITTEN", "14 of 2062 elements were not written"),
        "gelu_ones": ("gelu[x=7x33;f32]", "WRONG_GRADIENT", "the cotangent is ignored"),
    },
}


@pytest.mark.parametrize("mode", PLANTED)
def test_planted_defects_are_found(mode, tmp_path):
    twin = tmp_path / "twin.py"  # workers have the environment of their fork server, not of this process
    twin.write_text(TWIN.format(",".join(PLANTED[mode]), BROKEN), encoding="utf-8")
    expected = {case: (verdict, said) for case, verdict, said in PLANTED[mode].values()}
    records = results(str(twin), cases=tuple(expected), modes=(mode,))
    assert {r.case: r.verdict for r in records} == {case: verdict for case, (verdict, _) in expected.items()}
    for r in records:
        assert expected[r.case][1] in r.message + r.diagnosis


def test_every_kernel_compiles_for_a_gpu_that_is_not_here(tmp_path):
    """The launches too: sizes of 1 become constants, tuples are taken apart, as on a GPU."""
    environment = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path), "TRITON_DEFAULT_FP_FUSION": "1"}
    environment.pop("TRITON_INTERPRET", None)
    environment.pop("PYTHONSAFEPATH", None)  # the file imports its neighbours
    call = [sys.executable, str(FOLDER / "compile_for.py"), "cuda:90", "bfloat16"]
    done = subprocess.run(call, check=False, capture_output=True, text=True, env=environment)
    assert done.stdout.startswith("11 kernels compiled for cuda:90"), done.stderr


# Guard zones, which a GPU's buffers have: here around memory of the CPU


@pytest.fixture
def guard_zones(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    import guard_zones

    return guard_zones


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_zoned_tensors_keep_their_strides(guard_zones, dtype):
    base = np.arange(60).reshape(3, 4, 5).astype(dtype)
    for array in (base, base.T, base[:, ::2, 1:4], base[:1].repeat(2, 0)[::2], base[:0], base[0, 0]):
        zoned = guard_zones.zoned("x", array, "cpu", written=False)
        assert (zoned.tensor.float().numpy() == array.astype(np.float32)).all()
        assert zoned.tensor.stride() == zoned.host.stride()
        guard_zones.check(zoned)


@pytest.mark.parametrize(
    ("written", "at", "said"),
    [
        (True, 0, "y: 4 bytes past its end were written, the nearest 0 bytes away"),
        (True, -8, "y: 4 bytes before its beginning were written, the nearest 16 bytes away"),
        (False, 3, "y: 4 bytes past its end were written, the nearest 12 bytes away"),
        (False, -1, "y: 2 bytes"),
    ],
)
def test_what_is_written_outside_is_found(guard_zones, written, at, said):
    from opproof.backends import BackendFailed

    zoned = guard_zones.zoned("y", np.zeros(3, np.float32), "cpu", written=written)
    flat = zoned.whole.view(zoned.host.dtype)
    flat[guard_zones.ZONE // 4 + 3 + at] = 1.5
    with pytest.raises(BackendFailed, match=f"^{said}$"):
        guard_zones.check(zoned)
