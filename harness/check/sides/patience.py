"""A call that is ended after a while: a loop may follow numbers that were changed, and never come to its end.

A while of processors: on a busy machine it has as many steps as on an idle one.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from opproof.harness.clock import Allowed, Clock

#: Seconds added to what is waited for, so that little that is left is no hundred waits.
_ROUND = 0.001
#: The name of the threads that wait for the end.
WATCHING = "opproof-patience"


class NoEnd(BaseException):
    """It took too long. No Exception, which the code that it ends may catch and go on."""

    def __str__(self) -> str:
        """How long, as far as it is known: one that strikes between the end and this module's own says nothing."""
        return super().__str__() or "it did not end in time"


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raises NoEnd in what is inside once it has taken so many seconds, as soon as that runs Python's own code.

    Of its processors, as `Clock` counts them.
    """
    if math.isinf(seconds):
        yield
        return
    thread, lock, ended = threading.get_ident(), threading.Lock(), threading.Event()

    allowed = Allowed(seconds, Clock(alone=True))

    def end() -> None:
        while (left := allowed.left) > 0:
            if ended.wait(min(left + _ROUND, threading.TIMEOUT_MAX)):
                return
        with lock:
            if not ended.is_set():
                _raise(thread, NoEnd)

    threading.Thread(target=end, name=WATCHING, daemon=True).start()
    try:
        yield
    except NoEnd:
        raise NoEnd(f"it did not end within {seconds:g} s") from None
    finally:
        with lock:
            ended.set()
            _raise(thread, None)  # one that has not come yet would end what follows


def _raise(thread: int, error: type[BaseException] | None) -> None:
    given = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), given)
