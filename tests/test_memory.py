"""Guarded memory: one step too far faults, canaries tell of writes, poison tells of elements not written."""

import signal
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

from opproof.harness.run.memory import CANARY, POISON, guarded, poison, unwritten

posix = pytest.mark.skipif(sys.platform == "win32", reason="guards need mprotect")

TOUCH = """
import ctypes
from opproof.harness.run.memory import guarded
b = guarded({nbytes}, at_end={at_end}, soft={soft}, alignment={alignment})
address = b.data.ctypes.data + {offset}
print("ready", flush=True)
if {write}:
    ctypes.memset(address, 7, 1)
else:
    ctypes.string_at(address, 1)
print(b.trespass(), flush=True)
"""


def touched(offset, *, at_end, write=False, soft=False, nbytes=64, alignment=64):
    """Exit status and what was said of touching one byte `offset` bytes from the beginning of a buffer."""
    code = TOUCH.format(**locals())
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    ready, _, said = done.stdout.partition("\n")
    assert ready == "ready", done.stderr
    return done.returncode, said.strip()


FAULTS = (-signal.SIGSEGV, -signal.SIGBUS) if sys.platform != "win32" else ()


@posix
@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize(("offset", "at_end"), [(64, True), (-1, False)])
def test_one_byte_too_far_faults(offset, at_end, write):
    assert touched(offset, at_end=at_end, write=write)[0] in FAULTS


@posix
@pytest.mark.parametrize(("offset", "at_end"), [(64 + 60000, True), (-60000, False), (-4096, True), (8192, False)])
def test_far_too_far_faults(offset, at_end):
    assert touched(offset, at_end=at_end)[0] in FAULTS


@posix
def test_alignment_of_one_byte_leaves_no_slack():
    assert touched(33, at_end=True, nbytes=33, alignment=1)[0] in FAULTS
    assert touched(33, at_end=True, nbytes=33, alignment=64) == (0, "")


def test_soft_guards_can_be_touched_and_tell():
    assert touched(64, at_end=True, soft=True) == (0, "")
    assert touched(64, at_end=True, soft=True, write=True) == (
        0,
        "1 bytes past its end were written, the nearest 0 bytes away",
    )
    said = "1 bytes before its beginning were written, the nearest 4 bytes away"
    assert touched(-5, at_end=False, soft=True, write=True) == (0, said)


def test_canaries_in_the_slack():
    b = guarded(40, at_end=True, soft=False)
    assert b.after.size == 24  # up to the alignment of 64
    assert (b.after == CANARY).all()
    assert b.trespass() == ""
    b.after[3:5] = 0
    assert b.trespass() == "2 bytes past its end were written, the nearest 3 bytes away"
    b.after[3:5] = CANARY
    b.before[-2] ^= 1
    assert b.trespass() == "1 bytes before its beginning were written, the nearest 1 bytes away"


@pytest.mark.parametrize("nbytes", [0, 1, 63, 64, 65, 4096, 4097, 100_000])
@pytest.mark.parametrize("at_end", [True, False])
@pytest.mark.parametrize("soft", [True, False])
def test_buffers_are_aligned_and_whole(nbytes, at_end, soft):
    b = guarded(nbytes, at_end=at_end, soft=soft)
    assert b.data.size == nbytes
    assert b.data.ctypes.data % 64 == 0
    b.data[...] = 255
    assert b.trespass() == ""


DTYPES = ["float64", "float32", "float16", ml_dtypes.bfloat16, "int64", "int32", "bool"]


@pytest.mark.parametrize("shape", [(3, 5), (1,), ()])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_poison_is_seen_until_written(dtype, shape):
    dtype = np.dtype(dtype)
    size = int(np.prod(shape))
    b = guarded(size * dtype.itemsize, at_end=True, soft=False)
    poison(b, dtype)
    array = np.ndarray(shape, dtype, b.data)
    assert unwritten(array).all()
    assert unwritten(array).shape == shape
    last = (-1,) * len(shape)
    array[last] = 0
    assert unwritten(array).sum() == size - 1
    assert not unwritten(array)[last]
    array[...] = 1
    assert not unwritten(array).any()


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", ml_dtypes.bfloat16], ids=str)
def test_results_are_never_taken_for_poison(dtype):
    """NaN of any arithmetic, that from adding to poison too, is another NaN."""
    dtype = np.dtype(dtype)
    with np.errstate(all="ignore"):
        nans = np.array([np.nan, -np.nan, np.inf - np.inf, np.float64(0) / 0]).astype(dtype)
    assert not unwritten(nans).any()
    b = guarded(4 * dtype.itemsize, at_end=True, soft=False)
    poison(b, dtype)
    accumulator = np.ndarray((4,), dtype, b.data)
    with np.errstate(all="ignore"):
        assert np.isnan(accumulator.astype(np.float64)).all()
        accumulator += np.ones(4, dtype)
    assert not unwritten(accumulator).any()


def test_poison_is_a_signalling_nan():
    for name, bits in POISON.items():
        dtype = np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
        mantissa = {"float64": 52, "float32": 23, "float16": 10, "bfloat16": 7}[name]
        with np.errstate(invalid="ignore"):
            assert np.isnan(np.array(bits, f"u{dtype.itemsize}").view(dtype).astype(np.float64))
        assert not bits >> (mantissa - 1) & 1


def test_empty_arrays_lack_nothing():
    for dtype in DTYPES:
        b = guarded(0, at_end=True, soft=False)
        poison(b, np.dtype(dtype))
        assert unwritten(np.ndarray((0, 3), dtype, b.data)).size == 0
