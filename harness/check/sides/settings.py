"""Where and how a call is made: on another thread, beside other calls, as inference makes it, with more threads."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from opproof.harness.check.tensors import Tensor

_Answer = TypeVar("_Answer")

#: More than most machines that run a check would give, and than many kernels have room for sums of.
_MANY, _MOST = 5, 33
#: Calls that may follow while a result is held.
HELD = 5000


class Setting(StrEnum):
    """How it is made; the value is how that is said."""

    USUAL = ""
    REWRITTEN = "right after a call with other numbers in the same memory"
    RENEWED = "right after a call with other tensors at the same addresses, as memory that was freed has"
    THREAD = "on another thread"
    CONSTANT = "where autograd is on and no tensor requires a gradient"
    INFERENCE = "under torch.inference_mode()"
    ONE = "with one thread (torch.set_num_threads)"
    TWO = "with 2 threads (torch.set_num_threads)"
    MANY = f"with {_MANY} threads (torch.set_num_threads)"
    MOST = f"with {_MOST} threads (torch.set_num_threads)"
    LATE = "where its inputs are overwritten once it has returned"
    HELD = f"where it is held while up to {HELD:,} calls follow"
    AGAIN = "in a second call, without a new seed"
    WRITTEN = "where its inputs are written in place between its forward and its backward"
    NET = "as a layer of a network, with a trained weight and a loss behind it"
    AUTOCAST = "under torch.autocast"
    BESIDE = "while another thread calls it with other numbers"


#: Of so many elements a call has one thread: more would wait for one another, and for all who use the other cores.
_SMALL = 1 << 17


@contextmanager
def threads_for(tensors: Sequence[Tensor]) -> Iterator[None]:
    """A block in which PyTorch has one thread for tensors that are small, and its own number for others."""
    import torch

    before = torch.get_num_threads()
    if before == 1 or sum(t.values.size for t in tensors) > _SMALL:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def autograd(torch: Any, setting: Setting, *, wanted: bool) -> Iterator[None]:
    """A block in which the candidate alone is called: with gradients where they are wanted, weights made before it."""
    with ExitStack() as blocks:
        if setting is Setting.INFERENCE:
            blocks.enter_context(torch.inference_mode())
        else:
            blocks.enter_context(torch.set_grad_enabled(wanted or setting is Setting.CONSTANT))
        if setting is Setting.AUTOCAST:
            blocks.enter_context(torch.autocast("cpu", torch.bfloat16))
        yield


def made(setting: Setting, call: Callable[[], _Answer]) -> _Answer:
    """What a call gives there."""
    import torch

    if setting is Setting.THREAD:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(call).result()
    if setting in _THREADS:
        return _with_threads(torch, _THREADS[setting], call)
    return call()


_THREADS = {Setting.ONE: 1, Setting.TWO: 2, Setting.MANY: _MANY, Setting.MOST: _MOST}


def _with_threads(torch: Any, count: int, call: Callable[[], _Answer]) -> _Answer:
    """What a call gives with so many threads of PyTorch, and of every OpenMP that a kernel has brought with it."""
    before, runtimes = torch.get_num_threads(), [(r, r.omp_get_max_threads()) for r in _openmp()]
    torch.set_num_threads(count)
    for runtime, _ in runtimes:
        runtime.omp_set_num_threads(count)
    try:
        return call()
    finally:
        for runtime, own in runtimes:
            runtime.omp_set_num_threads(own)
        torch.set_num_threads(before)


def _openmp() -> list[Any]:
    """The OpenMP runtimes that this process has loaded; none where it cannot say."""
    try:
        lines = Path("/proc/self/maps").read_text(errors="replace").splitlines()
    except OSError:
        return []
    paths = dict.fromkeys(line.split(maxsplit=5)[-1] for line in lines)
    return [ctypes.CDLL(p) for p in paths if Path(p).name.startswith(("libgomp", "libomp", "libiomp"))]
