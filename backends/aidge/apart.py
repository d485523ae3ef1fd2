"""A call of aidge that may damage its process: made in a child, of which nothing but the result comes back."""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import os
import pickle
import sys
import warnings
from collections.abc import Callable
from typing import TypeVar

from opproof.backends.protocol import BackendFailed

T = TypeVar("T")

#: Calls in a child: what was written past the first one's memory is met by the next.
CALLS = 3


def run_in_fork(compute: Callable[[], T]) -> T:
    """What `compute()` returns, or raises, in a fork. Where that dies, this process dies of the same signal.

    Raises BackendFailed where there is no fork (Windows).
    """
    if sys.platform == "win32":
        raise BackendFailed("not called: it may damage the process, and Windows has no fork")
    read, write = os.pipe()
    with warnings.catch_warnings():  # the host has a watching thread; the child never takes a lock of its
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        faulthandler.disable()  # it would report the death twice
        _send_answer(compute, write)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        os.kill(os.getpid(), os.WTERMSIG(status))
    value, error = pickle.loads(answer)  # noqa: S301 - of our own child
    if error is not None:
        raise error
    return value  # type: ignore[no-any-return]


def _send_answer(compute: Callable[[], T], write: int) -> None:
    """Send what `compute` gives, and why it gave nothing, once its memory has been looked through; never returns."""
    answer = b""
    try:
        try:
            for _ in range(CALLS):
                value, error = compute(), None
        except Exception as reason:
            value, error = None, reason
        gc.collect()
        getattr(ctypes.CDLL(None), "malloc_trim", lambda _: 0)(0)  # of glibc, which walks the heap
        answer = pickle.dumps((value, error))
        with os.fdopen(write, "wb") as pipe:
            pipe.write(answer)
    finally:
        os._exit(0)
