"""TVM-FFI modules: the example of examples/tvm_ffi, its broken twin, and functions that go wrong."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from _adapters import results, unexpected

from opproof.backends.load import load_backend
from opproof.backends.tvm_ffi import create
from opproof.backends.tvm_ffi.tensor import _LENT, Borrowed
from opproof.core.errors import BackendError
from opproof.harness.run.plan import Selection, make_tasks, select_cases
from opproof.harness.run.scheduler import Pool
from opproof.harness.run.task import HostLimits

os.environ.setdefault("TVM_FFI_DISABLE_TORCH_C_DLPACK", "1")  # it would import PyTorch
tvm_ffi = pytest.importorskip("tvm_ffi", reason="the TVM-FFI adapter needs pip apache-tvm-ffi")

HERE = Path(__file__).parents[1]
EXAMPLE = HERE.parent / "examples" / "tvm_ffi"
OPS = ("gelu", "softmax", "rms_norm", "matmul")

needs_cxx = pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler g++")

#: A case in float32, the mode, and the verdict and message of it in the broken twin.
FAULTS = {
    "gelu[x=7x33;approximate=none;f32]": ("gradient", "WRONG_GRADIENT", ""),
    "softmax[x=3x32;dim=0;f32]": ("forward", "WRONG_VALUE", ""),
    "neg[x=7x33;bf16]": ("forward", "PASS", ""),
    "neg[x=7x33;f16]": ("forward", "PASS", ""),
    "neg[x=7x33;f32]": ("forward", "UNSUPPORTED", "not of 32 bits"),
    "abs[x=7x33;f32]": ("forward", "UNSUPPORTED", "libbroken.so exports no opproof_abs"),
    "relu[x=7x33;f32]": ("forward", "OUT_OF_BOUNDS", "output y: 4 bytes past its end were written"),
    "sigmoid[x=7x33;f32]": ("forward", "INPUT_CHANGED", "input x: "),
    "tanh[x=7x33;f32]": ("forward", "NOT_WRITTEN", "output y: 231 of 231 elements were not written"),
    "exp[x=7x33;f32]": ("forward", "ERROR", "ValueError: no table for exp"),
    "log[x=7x33;f32]": ("forward", "ERROR", "InternalError: thrown"),
    "sin[x=7x33;f32]": ("forward", "OUT_OF_MEMORY", "MemoryError no scratch"),
    "cos[x=7x33;f32]": ("forward", "ERROR", "TypeError: "),
}


def built(target, sources="ops.cc matmul.cc"):
    """The example, built in `target` by the README's command, from other sources or with options where given."""
    (command,) = re.findall(r"^    (g\+\+ .*)$", (EXAMPLE / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    command = command.replace("libopproof_tvm.so", str(target)).replace("ops.cc matmul.cc", sources)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(
        command, shell=True, cwd=EXAMPLE, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Records of FAULTS by case."""
    library = built(tmp_path_factory.mktemp("broken") / "libbroken.so", f"-O0 -DBROKEN ops.cc {HERE}/tvm_ffi_faults.cc")
    selected = Selection(cases=tuple(FAULTS))
    with Pool(HostLimits(jobs=1, timeout=60.0, memory=2**30)) as pool:
        records = list(pool.run(make_tasks([f"tvm_ffi:{library}"], select_cases(selected), selected)))
    return {r.case: r for r in records if r.mode == FAULTS[r.case][0]}


@needs_cxx
def test_the_example_passes(tmp_path):
    spec = f"tvm_ffi:{built(tmp_path / 'libgood.so', '-O0 ops.cc matmul.cc')}"
    hard = (
        "gelu[x=3x32;approximate=tanh;f32;layout=gapped]",
        "softmax[x=2x3x65;dim=1;f32;layout=transposed]",
        "rms_norm[x=3x33;weight=33,;f32;layout=sliced]",
        "matmul[a=2x1x4x7;b=3x7x2;f32]",
        "matmul[a=17,;b=2x17x3;f32]",
    )
    records = [
        *results(spec, ops=OPS, level="smoke", dtypes=("f32", "f64")),
        *results(spec, cases=hard),
    ]
    assert {r.verdict for r in records} == {"PASS"}, unexpected(records)
    assert {(r.op, r.mode) for r in records} == {(op, mode) for op in OPS for mode in ("forward", "gradient")}
    (declined,) = results(spec, cases=("gelu[x=7x33;approximate=none;bf16]",), modes=("gradient",))
    assert (declined.verdict, declined.message) == ("UNSUPPORTED", "only float32 and float64")


@needs_cxx
@pytest.mark.parametrize("case", FAULTS)
def test_fault(found, case):
    _, verdict, said = FAULTS[case]
    assert found[case].verdict == verdict, found[case]
    assert found[case].message.startswith(said)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", ml_dtypes.bfloat16, "int64", "int32", "bool"])
def test_arrays_are_lent_where_they_lie(dtype):
    whole = np.zeros((4, 6), dtype)
    whole.flags.writeable = False
    for array in (
        whole,
        whole[1:, ::2],
        whole.T,
        np.broadcast_to(whole[0, 0], (3, 2)),
        whole[0, 0:0],
        whole[0, 0, None],
    ):
        lent = tvm_ffi.from_dlpack(Borrowed(array))
        assert str(lent.dtype) == np.dtype(dtype).name
        assert tuple(lent.shape) == array.shape
        assert tuple(s * array.itemsize for s in lent.strides) == array.strides
        if np.dtype(dtype).name != "bfloat16":
            assert np.from_dlpack(lent).ctypes.data == array.ctypes.data


def test_memory_stays_while_it_is_lent():
    array = np.ones(3)
    lent = tvm_ffi.from_dlpack(Borrowed(array))
    assert len(_LENT) == 1
    del lent
    assert not _LENT


# What cannot be loaded


def refusal(spec):
    with pytest.raises(BackendError) as caught:
        load_backend(spec)
    text = str(caught.value)
    assert text.endswith(".")
    assert "\n" not in text
    return text


def test_what_is_no_module(tmp_path):
    (tmp_path / "libtext.so").write_text("no library", encoding="utf-8")
    assert "expected tvm_ffi:./libmine.so" in refusal("tvm_ffi")
    assert "expected tvm_ffi:./libmine.so" in refusal("tvm_ffi:ops.cc")
    assert "there is no file" in refusal(f"tvm_ffi:{tmp_path / 'libnone.so'}")
    assert "could not be loaded as a TVM-FFI module" in refusal(f"tvm_ffi:{tmp_path / 'libtext.so'}")


def test_not_installed(monkeypatch, tmp_path):
    (tmp_path / "lib.so").write_text("", encoding="utf-8")
    monkeypatch.setitem(sys.modules, "tvm_ffi", None)
    with pytest.raises(BackendError, match=r"pip install .*\[tvm-ffi\]'"):
        create(str(tmp_path / "lib.so"))
