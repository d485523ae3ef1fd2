"""A copy of this process that answers requests and may die of one: what a fork is good for, where there is one.

The copy has what this process had, and keeps what it makes of it from request to request. Threads do not outlive a
fork: whoever needs some asks in another way.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import resource
import signal
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any


class CopyEnded(Exception):
    """A copy gives no answer any more: the message says how it ended, `late` whether it was only waited for."""

    def __init__(self, how: str, *, late: bool = False) -> None:
        super().__init__(how)
        self.late = late


class ProcessCopy:
    """A copy of this process: `answer` is asked there, of a first request that it has already, then of those sent."""

    def __init__(self, answer: Callable[[Any], Any], first: Any) -> None:
        """Raises OSError where there can be no other process."""
        self._connection, own = Pipe()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which wait while the copy is made
            self.number = os.fork()
        if not self.number:
            self._connection.close()
            _serve(own, answer, first)
        own.close()

    def exchange(self, sent: bytes | None, seconds: float) -> Any:
        """The answer to a pickled request, or to the first. Raises CopyEnded."""
        with suppress(EOFError, OSError):
            if sent is not None:
                self._connection.send_bytes(sent)
            if not self._connection.poll(seconds):
                raise CopyEnded(f"gave no answer within {seconds:g} s", late=True)
            return pickle.loads(self._connection.recv_bytes())  # noqa: S301 - of a copy of this process
        raise CopyEnded(self._describe_end())

    def end(self) -> None:
        """End it, if it has not."""
        self._connection.close()
        with suppress(ProcessLookupError):
            os.kill(self.number, signal.SIGKILL)
        os.waitpid(self.number, 0)

    def _describe_end(self) -> str:
        ended = os.waitid(os.P_PID, self.number, os.WEXITED | os.WNOWAIT)
        if ended is None or ended.si_code == os.CLD_EXITED:
            return f"ended its process with status {0 if ended is None else ended.si_status}"
        return f"died of {signal.Signals(ended.si_status).name}"


def run_in_copy(call: Callable[[], Any], seconds: float) -> Any:
    """What it returns, called in a copy of this process that ends with it; None where that died."""
    copy = ProcessCopy(lambda _: call(), None)
    try:
        return copy.exchange(None, seconds)
    except CopyEnded:
        return None
    finally:
        copy.end()


def _serve(connection: Connection, answer: Callable[[Any], Any], request: Any) -> None:
    """Answer until the other side is gone, and end the process, whatever comes."""
    status = 1
    try:
        faulthandler.disable()  # the death is told by who asked
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        while True:
            connection.send_bytes(pickle.dumps(answer(request), pickle.HIGHEST_PROTOCOL))
            request = pickle.loads(connection.recv_bytes())  # noqa: S301 - of the process that this is a copy of
    except (EOFError, OSError):
        status = 0
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
        os._exit(status)
