"""The child process of an exec backend: one exchange at a time, and it never outlives its worker.

One loop serves the three pipes, so neither a child that answers before it has read everything nor one
that floods stderr can block. POSIX only: Windows has no select for pipes.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import selectors
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

from opproof.backends.host.frames import HEAD, FrameError, frame_length

_CHUNK = 1 << 16
#: Characters of stderr that are kept for a message.
_TAIL = 4096


class ChildError(Exception):
    """The child died, printed what is no frame, or gave no answer in time; the text says which."""


class Child:
    """A started command. `exchange` is all there is to do with it."""

    def __init__(self, command: Sequence[str]) -> None:
        self.command, self.buffer, self.tail = command, bytearray(), b""
        with warnings.catch_warnings():
            # Python 3.12 and later warn of forking with threads; between fork and exec runs one system call
            warnings.simplefilter("ignore", DeprecationWarning)
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
                start_new_session=True, preexec_fn=_die_with_parent,  # noqa: PLW1509
            )  # fmt: skip
        self.pipes = [p.fileno() for p in (self.process.stdin, self.process.stdout, self.process.stderr) if p]
        for pipe in self.pipes:
            os.set_blocking(pipe, False)
        children.append(self)
        _end_children_on_sigterm()

    def exchange(self, request: bytes, timeout: float | None = None) -> bytes:
        """Send a frame, and return the next one. Raises ChildError, after which the child is of no more use."""
        stdin, stdout, stderr = self.pipes
        left, wanted, ends = memoryview(request), HEAD, None if timeout is None else time.monotonic() + timeout
        if self.buffer:
            raise ChildError(f"{len(self.buffer)} bytes followed the answer before; expected one frame a request")
        with selectors.DefaultSelector() as selector:
            selector.register(stdin, selectors.EVENT_WRITE)
            selector.register(stdout, selectors.EVENT_READ)
            selector.register(stderr, selectors.EVENT_READ)
            while True:
                wait = None if ends is None else ends - time.monotonic()
                if wait is not None and wait <= 0:
                    raise ChildError(f"no whole answer within {timeout:g} s; {self._received(wanted)}")
                for key, _ in selector.select(wait):
                    if key.fd == stdin:
                        left = self._write(left)
                        if not left:
                            selector.unregister(stdin)
                    elif key.fd == stderr:
                        if not self._listen():
                            selector.unregister(stderr)
                    elif not self._read():
                        raise ChildError(self._obituary(wanted))
                if wanted == HEAD and len(self.buffer) >= HEAD:
                    wanted = self._length()
                if wanted > HEAD and len(self.buffer) >= wanted:
                    return self._taken(wanted, left)

    def stop(self, grace: float = 0.0) -> bool:
        """End the child and all that it started; True where it ended by itself within `grace` seconds."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            self.process.wait(grace)
            alone = True
        except subprocess.TimeoutExpired:
            alone = False
        self.kill()
        self.process.wait()
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
        if self in children:
            children.remove(self)
        return alone

    def kill(self) -> None:
        """SIGKILL to its process group, whose leader it is."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def said(self) -> str:
        """The last line on stderr that names an error, or else the last, as the end of a sentence."""
        self._listen()
        lines = [" ".join(line.split()) for line in self.tail.decode("utf-8", errors="replace").splitlines()]
        lines = [line for line in lines if line]
        named = [line for line in lines if "error" in line.lower() or "panic" in line.lower()]
        return f"; on stderr it said: {(named or lines)[-1][:300]}" if lines else ""

    def _write(self, left: memoryview) -> memoryview:
        try:
            return left[os.write(self.pipes[0], left[:_CHUNK]) :]
        except BrokenPipeError:
            return left[:0]  # what it said before it died is read next
        except BlockingIOError:
            return left

    def _read(self) -> bool:
        """More of stdout; False at its end."""
        try:
            more = os.read(self.pipes[1], _CHUNK * 16)
        except BlockingIOError:
            return True
        self.buffer += more
        return bool(more)

    def _listen(self) -> bool:
        """Take what stderr holds; False at its end."""
        for _ in range(64):
            try:
                more = os.read(self.pipes[2], _CHUNK)
            except BlockingIOError:
                return True
            except OSError:
                return False
            if not more:
                return False
            self.tail = (self.tail + more)[-_TAIL:]
        return True

    def _length(self) -> int:
        try:
            return frame_length(bytes(self.buffer[:HEAD]))
        except FrameError as error:
            raise ChildError(f"{error} (only frames may go to stdout; print to stderr)") from None

    def _taken(self, wanted: int, left: memoryview) -> bytes:
        frame, self.buffer = bytes(self.buffer[:wanted]), self.buffer[wanted:]
        if left:
            raise ChildError("the answer came before the request was read to its end")
        if not self.buffer and self._read() and not self.buffer:
            return frame
        if self.buffer:
            raise ChildError(f"{len(self.buffer)} bytes follow the answer; expected one frame a request")
        return frame  # it has closed stdout, which the next exchange will meet

    def _received(self, wanted: int) -> str:
        have = len(self.buffer)
        if not have:
            return "nothing came on stdout"
        return f"{have} bytes came, of {wanted}" if wanted > HEAD else f"only {have} bytes came, {self.buffer.hex(' ')}"

    def _obituary(self, wanted: int) -> str:
        try:
            status = self.process.wait(1.0)
        except subprocess.TimeoutExpired:
            return f"the command closed its stdout, and goes on; {self._received(wanted)}"
        if status >= 0:
            how = f"the command exited with status {status}"
        else:
            try:
                how = f"the command died of {signal.Signals(-status).name}"
            except ValueError:
                how = f"the command died of signal {-status}"
        return f"{how} before its answer was whole; {self._received(wanted)}"


#: Those of this process that run.
children: list[Child] = []
_libc: Any = ctypes.CDLL(None) if sys.platform == "linux" else None
_PR_SET_PDEATHSIG = 1


def _die_with_parent() -> None:
    """Runs in the child before the command: the kernel kills it when the worker's thread that started it ends."""
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _end_children_on_sigterm() -> None:
    """A pool ends a hanging worker by SIGTERM first: then the children's whole process groups go too."""
    before = signal.getsignal(signal.SIGTERM)
    if getattr(before, "ends_children", False):
        return

    def handler(number: int, frame: Any) -> None:
        for child in children:
            child.kill()
        if callable(before):
            before(number, frame)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    handler.ends_children = True  # type: ignore[attr-defined]
    try:
        signal.signal(signal.SIGTERM, handler)
    except ValueError:
        return  # not the main thread: a death by SIGTERM then leaves the work to the kernel
