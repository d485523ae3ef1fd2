"""Where and how a call is made: on another thread, as inference makes it, with other numbers of threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from typing import Any, TypeVar

_Answer = TypeVar("_Answer")

#: More than most machines that run a check would give.
_MANY = 5


class Setting(StrEnum):
    """How it is made; the value is how that is said."""

    USUAL = ""
    THREAD = "on another thread"
    CONSTANT = "where autograd is on and no tensor requires a gradient"
    INFERENCE = "under torch.inference_mode()"
    ONE = "with one thread (torch.set_num_threads)"
    MANY = f"with {_MANY} threads (torch.set_num_threads)"


def autograd(torch: Any, setting: Setting, *, wanted: bool) -> Any:
    """A block in which the candidate alone is called: with gradients where they are wanted, weights made before it."""
    if setting is Setting.INFERENCE:
        return torch.inference_mode()
    return torch.set_grad_enabled(wanted or setting is Setting.CONSTANT)


def made(setting: Setting, call: Callable[[], _Answer]) -> _Answer:
    """What a call gives there."""
    import torch

    if setting is Setting.THREAD:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(call).result()
    if setting in _THREADS:
        return _with_threads(torch, _THREADS[setting], call)
    return call()


_THREADS = {Setting.ONE: 1, Setting.MANY: _MANY}


def _with_threads(torch: Any, count: int, call: Callable[[], _Answer]) -> _Answer:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        return call()
    finally:
        torch.set_num_threads(before)
