"""A run that is stopped from outside: by the keyboard, by a system that shuts down, by a terminal that is closed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from opproof.core.errors import Stopped

#: Signals that end a process unless it asks for them; SIGINT is a KeyboardInterrupt already.
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@dataclass
class Resumption:
    """How to go on, where there is anything to go on with."""

    command: str = ""


class _Signal(KeyboardInterrupt):
    """A signal that is treated as the keyboard's is."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextmanager
def handle_interruption() -> Iterator[Resumption]:
    """Raises Stopped for an interruption of what is inside, which may say meanwhile how to go on."""
    resumption = Resumption()
    before = {n: signal.signal(n, _interrupt) for n in _SIGNALS if _is_free(n)}
    try:
        yield resumption
    except KeyboardInterrupt as stop:
        number = stop.number if isinstance(stop, _Signal) else signal.SIGINT
        how = f"stopped by {signal.Signals(number).name}" if number != signal.SIGINT else "interrupted"
        kept = f"what was measured is kept, `{resumption.command}` goes on" if resumption.command else "nothing was run"
        raise Stopped(f"{how}; {kept}.", 128 + number) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_free(number: int) -> bool:
    """Whether the signal would end the process: not for a `nohup`, and handlers are the main thread's business."""
    return threading.current_thread() is threading.main_thread() and signal.getsignal(number) == signal.SIG_DFL


def _interrupt(number: int, frame: FrameType | None) -> None:
    del frame
    signal.signal(number, signal.SIG_IGN)  # the second must not interrupt the tidying up after the first
    raise _Signal(number)
