"""Guarded memory: one step too far faults, canaries tell of writes, poison tells of elements not written."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from opproof.backends.worker.memory import PAGE, Arena
from opproof.cases import Case
from opproof.core.verdicts import Mode
from opproof.harness.reference.question import Question
from opproof.harness.run.hosts.native import SharedMemory
from opproof.harness.run.memory import CANARY, POISON, find_unwritten, make_layout, poison, take_snapshot, write
from opproof.harness.run.request import Request, Wanted
from opproof.reference_ops import load

posix = pytest.mark.skipif(sys.platform == "win32", reason="guards need mprotect")


def image_of(buffer):
    """What lies from the beginning to the end of a buffer before the call, canaries and all."""
    room = np.empty(buffer.high - buffer.low, np.uint8)
    buffer.lay(room)
    return room


def laid_out(nbytes, *, at_end=True, soft=False, alignment=64, dtype=np.uint8, count=1):
    """The layout of `count` results of so many bytes each, and nothing else."""
    posed = Question(Case.parse("relu[x=1,;f32]"), load("relu"), Mode.FORWARD, (), (), (), ())
    dtype = np.dtype(dtype)
    wanted = tuple(Wanted(f"output {i}", (nbytes // dtype.itemsize,), dtype) for i in range(count))
    return make_layout(Request(posed, wanted, at_end, soft), alignment)


def in_memory(layout, arena=None):
    """The layout written to an arena, guards up, and its first buffer."""
    arena = arena or Arena()
    arena.grow(layout.request.size)
    write(layout, arena.memory)
    arena.guard(layout.request.guards, 0, layout.request.size)
    return arena.memory, layout.buffers[0]


def own(memory, b):
    """The bytes of the buffer itself."""
    return memory[b.start : b.end]


def trespass(memory, b):
    return b.describe_trespass(memory[b.low : b.high])


TOUCH = """
import ctypes, sys
sys.path.insert(0, {folder!r})
from test_guards import in_memory, laid_out, trespass
from opproof.backends.worker.memory import Arena
from opproof.harness.run.hosts.native import SharedMemory
layout = laid_out({nbytes}, at_end={at_end}, soft={soft}, alignment={alignment})
shared = SharedMemory() if {shared} else None
if shared:
    shared.grow(layout.request.size)
memory, b = in_memory(layout, Arena(shared.descriptor) if shared else None)
address = memory.ctypes.data + b.start + {offset}
print("ready", flush=True)
if {write}:
    ctypes.memset(address, 7, 1)
else:
    ctypes.string_at(address, 1)
print(trespass(memory, b), flush=True)
"""


def touched(offset, *, at_end, write=False, soft=False, nbytes=64, alignment=64, shared=False):
    """Exit status and what was said of touching one byte `offset` bytes from the beginning of a buffer."""
    code = TOUCH.format(folder=str(Path(__file__).parent), **locals())
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    ready, _, said = done.stdout.partition("\n")
    assert ready == "ready", done.stderr
    return done.returncode, said.strip()


FAULTS = (-signal.SIGSEGV, -signal.SIGBUS) if sys.platform != "win32" else ()


@posix
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize(("offset", "at_end"), [(64, True), (-1, False)])
def test_one_byte_too_far_faults(offset, at_end, write, shared):
    assert touched(offset, at_end=at_end, write=write, shared=shared)[0] in FAULTS


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
    memory, b = in_memory(laid_out(40))
    after, before = memory[b.end : b.high], memory[b.low : b.start]
    assert after.size == 24  # up to the alignment of 64
    assert (after == CANARY).all()
    assert trespass(memory, b) == ""
    after[3:5] = 0
    assert trespass(memory, b) == "2 bytes past its end were written, the nearest 3 bytes away"
    after[3:5] = CANARY
    before[-2] ^= 1
    assert trespass(memory, b) == "1 bytes before its beginning were written, the nearest 1 bytes away"


@pytest.mark.parametrize("nbytes", [0, 1, 63, 64, 65, 4096, 4097, 100_000])
@pytest.mark.parametrize("at_end", [True, False])
@pytest.mark.parametrize("soft", [True, False])
def test_buffers_are_aligned_and_whole(nbytes, at_end, soft):
    memory, b = in_memory(laid_out(nbytes, at_end=at_end, soft=soft))
    assert own(memory, b).size == nbytes
    assert (memory.ctypes.data + b.start) % 64 == 0
    own(memory, b)[...] = 255
    assert trespass(memory, b) == ""


@pytest.mark.parametrize("soft", [True, False])
def test_buffers_lie_apart(soft):
    layout = laid_out(4097, soft=soft, count=3)
    edges = [edge for b in layout.buffers for edge in (b.low, b.start, b.end, b.high)]
    assert edges == sorted(edges)
    assert 0 <= edges[0] <= edges[-1] <= layout.request.size
    for (_, end), b, (start, _) in zip(
        layout.request.guards, () if soft else layout.buffers, layout.request.guards[1:], strict=False
    ):
        assert (end, start) == (b.low, b.high)
        assert (end % PAGE, start % PAGE) == (0, 0)
    assert len(layout.request.guards) == (0 if soft else 4)


@posix
def test_guards_of_the_call_before_are_gone():
    """Pages that were a guard hold what the next call needs; the judge's view of them has none."""
    shared = SharedMemory()
    host = Arena(shared.descriptor)
    for nbytes, soft in ((100_000, False), (60, False), (100_000, True)):
        layout = laid_out(nbytes, soft=soft, count=2)
        memory = shared.grow(layout.request.size)
        write(layout, memory)
        host.grow(layout.request.size)
        host.guard(layout.request.guards, 0, layout.request.size)
        for b in layout.buffers:
            assert np.array_equal(host.memory[b.low : b.high], image_of(b))
        memory[: layout.request.size] = 0
    shared.close()


@posix
def test_guards_that_stay_are_not_made_again(monkeypatch):
    """Between one-page tensors they lie alike in every call, whatever of the call before lies past the end."""
    arena, made = Arena(), []
    arena.grow(1 << 20)
    monkeypatch.setattr(Arena, "_protect", lambda self, start, end, how: made.append((start, end, how)))
    counts = []
    for count, nbytes in ((3, 60), (3, 4000), (2, 60), (3, 8), (3, 9000)):
        layout = laid_out(nbytes, count=count)
        arena.guard(layout.request.guards, 0, layout.request.size)
        counts.append(len(made))
        del made[:]
    assert counts == [4, 0, 0, 0, 6]  # the last: three others in place of three


@posix
def test_pages_are_as_the_last_call_wants_them_whatever_came_before(monkeypatch):
    """Three calls lie in parts of the arena, or one call in all of it: a part that is as it was is not looked at."""
    arena, closed, rng = Arena(), set[int](), np.random.default_rng(0)
    arena.grow(1 << 20)

    def protect(self, start, end, how):
        (closed.difference_update if how else closed.update)(range(start // PAGE, end // PAGE))

    monkeypatch.setattr(Arena, "_protect", protect)
    for _ in range(400):
        size, low = (8, 8 * int(rng.integers(3))) if rng.random() < 0.8 else (24, 0)
        first = int(rng.integers(3)) * 2
        ranges = [[first * PAGE, (first + 1) * PAGE]] if rng.random() < 0.8 else []
        arena.guard(ranges, low * PAGE, (low + size) * PAGE)
        assert closed & set(range(low, low + size)) == ({low + first} if ranges else set())


def test_what_is_written_after_a_snapshot_is_not_seen():
    layout = laid_out(64)
    memory, b = in_memory(layout)
    (then,) = take_snapshot(layout, memory)
    own(memory, b)[...] = 1
    assert np.array_equal(then, image_of(b))


def test_shared_memory_grows_and_cannot_be_made_smaller():
    shared = SharedMemory()
    memory = shared.grow(10)
    memory[:10] = 7
    larger = shared.grow(5 * 2**20)
    assert larger.size >= 5 * 2**20
    assert (larger[:10] == 7).all()
    host = Arena(os.dup(shared.descriptor))
    host.grow(5 * 2**20)
    host.memory[-1] = 9
    assert larger[-1] == 9
    if hasattr(os, "memfd_create"):
        with pytest.raises(PermissionError):
            os.ftruncate(shared.descriptor, 0)
    shared.close()


DTYPES = ["float64", "float32", "float16", ml_dtypes.bfloat16, "int64", "int32", "bool"]


@pytest.mark.parametrize("shape", [(3, 5), (1,), ()])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_poison_is_seen_until_written(dtype, shape):
    dtype = np.dtype(dtype)
    size = int(np.prod(shape))
    b = laid_out(size * dtype.itemsize, dtype=dtype).buffers[0]
    array = np.ndarray(shape, dtype, image_of(b).data, b.start - b.low)
    assert find_unwritten(array).all()
    assert find_unwritten(array).shape == shape
    last = (-1,) * len(shape)
    array[last] = 0
    assert find_unwritten(array).sum() == size - 1
    assert not find_unwritten(array)[last]
    array[...] = 1
    assert not find_unwritten(array).any()


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", ml_dtypes.bfloat16], ids=str)
def test_results_are_never_taken_for_poison(dtype):
    """NaN of any arithmetic, that from adding to poison too, is another NaN."""
    dtype = np.dtype(dtype)
    with np.errstate(all="ignore"):
        nans = np.array([np.nan, -np.nan, np.inf - np.inf, np.float64(0) / 0]).astype(dtype)
    assert not find_unwritten(nans).any()
    accumulator = np.zeros(4, dtype)
    poison(accumulator.view(np.uint8), dtype)
    with np.errstate(all="ignore"):
        assert np.isnan(accumulator.astype(np.float64)).all()
        accumulator += np.ones(4, dtype)
    assert not find_unwritten(accumulator).any()


def test_poison_is_a_signalling_nan():
    for name, bits in POISON.items():
        dtype = np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
        mantissa = {"float64": 52, "float32": 23, "float16": 10, "bfloat16": 7}[name]
        with np.errstate(invalid="ignore"):
            assert np.isnan(np.array(bits, f"u{dtype.itemsize}").view(dtype).astype(np.float64))
        assert not bits >> (mantissa - 1) & 1


def test_empty_arrays_lack_nothing():
    for dtype in DTYPES:
        empty = np.empty((0, 3), dtype)
        poison(empty.reshape(-1).view(np.uint8), np.dtype(dtype))
        assert find_unwritten(empty).size == 0
