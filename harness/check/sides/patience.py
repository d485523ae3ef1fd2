"""A call that is ended after a while: a loop may follow numbers that were changed, and never come to its end."""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class NoEnd(BaseException):
    """It took too long. No Exception, which the code that it ends may catch and go on."""

    def __str__(self) -> str:
        """How long, as far as it is known: one that strikes between the end and this module's own says nothing."""
        return super().__str__() or "it did not end in time"


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raises NoEnd in what is inside once it has taken so many seconds, as soon as that runs Python's own code."""
    if math.isinf(seconds):
        yield
        return
    thread, lock, ended = threading.get_ident(), threading.Lock(), threading.Event()

    def end() -> None:
        with lock:
            if not ended.is_set():
                _raise(thread, NoEnd)

    timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except NoEnd:
        raise NoEnd(f"it did not end within {seconds:g} s") from None
    finally:
        timer.cancel()
        with lock:
            ended.set()
            _raise(thread, None)  # one that has not come yet would end what follows


def _raise(thread: int, error: type[BaseException] | None) -> None:
    given = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), given)
