"""A host as a process: one exchange of frames at a time, limits from outside, and it never outlives its judge.

A supervisor (backends/worker/sandbox/supervisor.py) stands between: it starts the command, watches the memory of the
whole family and ends it with all its descendants. One loop serves the pipes, so neither a host that answers before it
has read everything nor one that floods its output can block.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, TypeAlias

import opproof.backends.worker
from opproof.backends.worker.protocol import HEAD, LONGEST, FrameError, decode, encode, length_of_frame
from opproof.backends.worker.sandbox.import_guard import find_libraries
from opproof.core.arrays import Array
from opproof.core.text import make_plain
from opproof.core.verdicts import Verdict

SUPERVISOR = Path(opproof.backends.worker.__file__).with_name("sandbox") / "supervisor.py"
_CHUNK = 1 << 16
#: Bytes of what the host prints that are kept for a message.
_TAIL = 4096
#: Seconds in which a supervisor may tell how its host ended, and in which it may end itself.
_MAX_EXIT_REPORT_SECONDS = 2.0
_MAX_SHUTDOWN_SECONDS = 8.0
#: Milliseconds after which time is looked at again, however long the limit.
_LONGEST_POLL = 1e6
#: Memory of the frames' pipes, so that most requests are one write.
_PIPE = 1 << 20


#: Set to "allowed" for opproof's own tests, whose faulty backends are made of the references.
REFERENCES = "OPPROOF_REFERENCES"


def references_allowed() -> bool:
    """Whether every backend may import the references."""
    return os.environ.get(REFERENCES) == "allowed"


class HostFault(Exception):
    """The host died, printed what is no frame, or gave no answer in time: it is of no more use."""

    def __init__(self, verdict: Verdict, message: str, *, guard: bool = False) -> None:
        super().__init__(message)
        self.verdict, self.message = verdict, message
        self.guard = guard  # it died of a signal that an unreadable page sends


#: A command that speaks frames on stdin and stdout; or, given two descriptors to read and to write them, one that
#: speaks on these, so that 0, 1 and 2 are the backend's.
Command: TypeAlias = Sequence[str] | Callable[[int, int], Sequence[str]]


def make_supervisor_command(
    control: int, status: int, memory: int, name: str, *, is_builtin: bool, hidden: Sequence[Path]
) -> list[str]:
    """The command line of a supervisor (backends/worker/sandbox/supervisor.py), before the command that it keeps.

    Where anything is `hidden`, Python's libraries are not to be written.
    """
    paths = [str(path.resolve()) for path in hidden]
    sealed = [str(path) for path in find_libraries()] if paths else []
    told = [str(control), str(status), str(memory), name, str(int(is_builtin))]
    return [sys.executable, "-I", "-S", str(SUPERVISOR), *told, str(len(paths)), *paths, str(len(sealed)), *sealed]


class HostProcess:
    """A started command, which may use `memory` bytes, and inherits the descriptors `kept`.

    Where not `trusted`, nothing that it starts can import the references. Files and folders that are `hidden` are empty
    for a command of opproof's own and all that it starts, and Python's libraries are not to be written, where the
    system lets them be so. `variables` are set in the environment of the command, and in no other.
    """

    #: The supervisors of this process that have not been ended.
    supervisors: ClassVar[set[int]] = set()

    def __init__(
        self,
        command: Command,
        memory: int,
        kept: Sequence[int] = (),
        *,
        trusted: bool = True,
        hidden: Iterable[Path] = (),
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """Raises OSError where no process can be started at all."""
        self.memory, self._buffer, self._tail, self._numbers = memory, bytearray(), b"", itertools.count()
        requests, self._requests = os.pipe()
        self._answers, answers = os.pipe()
        self._status, status = os.pipe()
        control, self._control = os.pipe()
        printed, chatter = os.pipe()
        self._chatter = printed
        apart = callable(command)
        kept = [control, status, *([requests, answers] if apart else []), *kept]
        name = "opproof-trusted" if trusted else "opproof-keeper"
        hidden, words = [*hidden], command(requests, answers) if callable(command) else command
        given = (control, status, memory, name)
        supervisor = make_supervisor_command(*given, is_builtin=apart or bool(hidden), hidden=hidden)
        try:
            self._supervisor = subprocess.Popen(
                [*supervisor, *make_env_prefix(variables), *words],
                stdin=subprocess.DEVNULL if apart else requests,
                stdout=chatter if apart else answers,
                stderr=chatter,
                pass_fds=kept,
                start_new_session=True,
            )
        except OSError:
            for descriptor in (self._requests, self._answers, self._status, self._control, self._chatter):
                os.close(descriptor)
            raise
        finally:
            for descriptor in (requests, answers, status, control, chatter):
                os.close(descriptor)
        for descriptor in (self._requests, self._answers, self._status, self._chatter):
            os.set_blocking(descriptor, False)
        _widen(self._requests, self._answers)
        self._poll = select.poll()
        self._poll.register(self._answers, select.POLLIN)
        self._poll.register(self._chatter, select.POLLIN)
        self._poll.register(self._status, select.POLLIN)
        self._ended = ""
        self.supervisors.add(self._supervisor.pid)

    def exchange(self, request: bytes, timeout: float) -> bytes:
        """Send a frame, and return the next one. Raises HostFault, after which the host is of no more use."""
        return self.exchange_several(request, timeout, LONGEST, 1)[0]

    def exchange_several(self, request: bytes, timeout: float, longest: int, count: int) -> list[bytes]:
        """Send a frame, and return the next `count`, of at most `longest` bytes.

        Each has `timeout` seconds after the one before. Raises HostFault, as exchange does.
        """
        try:
            return self._send_and_read(request, timeout, longest, count)
        except HostFault:
            raise
        except Exception as error:  # the judge's own, such as its time that ran out: who knows what comes next
            raise HostFault(Verdict.HARNESS_ERROR, f"{type(error).__name__} in an exchange: {error}") from None

    def ask(
        self, metadata: Mapping[str, str], tensors: Mapping[str, Array], timeout: float, longest: int = LONGEST,
        count: int = 1,
    ) -> list[tuple[dict[str, str], dict[str, Array]]]:  # fmt: skip
        """Metadata and tensors of each of the `count` frames that answer a request. Raises HostFault; see exchange."""
        number = str(next(self._numbers))
        frames = self.exchange_several(encode({**metadata, "id": number}, tensors), timeout, longest, count)
        read = {frame: self._decode(frame, number) for frame in dict.fromkeys(frames)}  # most say the same
        return [read[frame] for frame in frames]

    def _decode(self, frame: bytes, number: str) -> tuple[dict[str, str], dict[str, Array]]:
        try:
            answer, arrays = decode(frame)
        except FrameError as error:
            raise HostFault(Verdict.ERROR, f"{make_plain(str(error))}{self.last_line()}") from None
        if answer.get("id") != number:
            got = make_plain(repr(answer.get("id")))
            raise HostFault(Verdict.ERROR, f"the answer has id {got}; expected {number!r}, that of the request")
        return answer, arrays

    def _send_and_read(self, request: bytes, timeout: float, longest: int, count: int) -> list[bytes]:
        if self._buffer:
            raise HostFault(
                Verdict.ERROR, f"{len(self._buffer)} bytes followed the answer before; expected one frame a request"
            )
        frames: list[bytes] = []
        left, wanted, ends = self._write(memoryview(request)), HEAD, time.monotonic() + timeout
        if left:
            self._poll.register(self._requests, select.POLLOUT)
        try:
            while True:
                wait = ends - time.monotonic()
                if wait <= 0:
                    part = f"; {self._read_bytes(wanted)}" if self._buffer else ""
                    raise HostFault(Verdict.TIMEOUT, f"no answer within {timeout:g} s{part}{self.last_line()}")
                for descriptor, _ in self._poll.poll(min(wait * 1000 + 1, _LONGEST_POLL)):
                    if descriptor == self._requests:
                        left = self._write(left)
                        if not left:
                            self._poll.unregister(self._requests)
                    elif descriptor == self._chatter:
                        self._read_printed()
                    elif descriptor == self._status:
                        self._poll.unregister(self._status)  # ready ever after
                        if self._read_status() == _NO_SUPERVISOR:
                            raise self._explain_death(wanted)
                    elif not self._read():
                        raise self._explain_death(wanted)
                while len(self._buffer) >= wanted:
                    if wanted == HEAD:
                        wanted = self._read_length(longest)
                        continue
                    frames.append(self._taken(wanted, left, last=len(frames) + 1 == count))
                    if len(frames) == count:
                        return frames
                    wanted, ends = HEAD, time.monotonic() + timeout
        finally:
            if left:
                self._poll.unregister(self._requests)

    @property
    def number(self) -> int:
        """Of the process, its supervisor's, below which the host and all that it starts are."""
        return self._supervisor.pid

    @property
    def alive(self) -> bool:
        """Whether it still runs, and has said nothing since its last answer."""
        if not self._ended and not self._buffer and not self._poll.poll(0):
            return True
        self._read_status()
        return not self._ended and self._read() and not self._buffer

    def fault(self) -> HostFault:
        """How it ended while nothing was asked of it."""
        if self._buffer:
            return HostFault(Verdict.ERROR, f"{len(self._buffer)} bytes came that nobody had asked for")
        return self._explain_death(HEAD)

    def stop(self, grace: float = 0.0) -> bool:
        """End the host and all that it started; True where it ended by itself within `grace` seconds."""
        os.close(self._requests)
        ends = time.monotonic() + grace
        while not self._read_status() and time.monotonic() < ends:
            time.sleep(0.005)
        alone = bool(self._ended)
        os.close(self._control)
        try:
            self._supervisor.wait(_MAX_SHUTDOWN_SECONDS)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._supervisor.pid, signal.SIGKILL)
            self._supervisor.kill()
            self._supervisor.wait()
        self.supervisors.discard(self._supervisor.pid)
        for descriptor in (self._answers, self._status, self._chatter):
            os.close(descriptor)
        return alone

    def last_line(self) -> str:
        """The last line that it printed which names an error, or else the last, as the end of a sentence."""
        self._read_printed()
        lines = [" ".join(line.split()) for line in self._tail.decode("utf-8", errors="replace").splitlines()]
        lines = [line for line in lines if line]
        named = [line for line in lines if "error" in line.lower() or "panic" in line.lower()]
        return f"; it said: {(named or lines)[-1][:300]}" if lines else ""

    def _write(self, left: memoryview) -> memoryview:
        try:
            return left[os.write(self._requests, left) :]
        except BrokenPipeError:
            return left[:0]  # what it said before it died is read next
        except BlockingIOError:
            return left

    def _read(self) -> bool:
        try:
            more = os.read(self._answers, _CHUNK * 16)
        except BlockingIOError:
            return True
        self._buffer += more
        return bool(more)

    def _read_printed(self) -> None:
        """Take what it printed, and at the end listen no more."""
        for _ in range(64):
            try:
                more = os.read(self._chatter, _CHUNK)
            except BlockingIOError:
                return
            if not more:
                with contextlib.suppress(KeyError):
                    self._poll.unregister(self._chatter)
                return
            self._tail = (self._tail + more)[-_TAIL:]

    def _read_length(self, longest: int) -> int:
        try:
            return length_of_frame(bytes(self._buffer[:HEAD]), longest)
        except FrameError as error:
            raise HostFault(
                Verdict.ERROR, f"{error} (only frames may go there; print to stderr){self.last_line()}"
            ) from None

    def _taken(self, wanted: int, left: memoryview, *, last: bool) -> bytes:
        frame, self._buffer = bytes(self._buffer[:wanted]), self._buffer[wanted:]
        if left:
            raise HostFault(Verdict.ERROR, "the answer came before the request was read to its end")
        if last and self._buffer:
            raise HostFault(
                Verdict.ERROR,
                f"{len(self._buffer)} bytes follow the answer; expected one frame a request{self.last_line()}",
            )
        return frame

    def _read_bytes(self, wanted: int) -> str:
        have = len(self._buffer)
        if not have:
            return "nothing came"
        return (
            f"{have} bytes came, of {wanted}" if wanted > HEAD else f"only {have} bytes came, {self._buffer.hex(' ')}"
        )

    def _read_status(self) -> str:
        if not self._ended:
            try:
                line = os.read(self._status, 64).decode("ascii", errors="replace").strip()
                self._ended = line or _NO_SUPERVISOR
            except BlockingIOError:
                return ""
        return self._ended

    def _explain_death(self, wanted: int) -> HostFault:
        """Why no answer comes any more."""
        ends = time.monotonic() + _MAX_EXIT_REPORT_SECONDS
        while not self._read_status() and time.monotonic() < ends:
            time.sleep(0.002)
        kind, _, number = self._ended.partition(" ")
        if kind == "memory":
            limit = f"{self.memory / 2**20:.0f} MiB"
            return HostFault(Verdict.OUT_OF_MEMORY, f"the process outgrew its limit of {limit}")
        if kind != "exit":
            how = "the process closed what it answers on" if not kind else "the process's supervisor was killed"
            return HostFault(Verdict.CRASH, f"{how}; {self._read_bytes(wanted)}{self.last_line()}")
        status = int(number)
        part = f" before its answer was whole; {self._read_bytes(wanted)}" if self._buffer else ""
        return HostFault(
            Verdict.CRASH, f"{_describe_status(status)}{part}{self.last_line()}", guard=-status in _GUARD_SIGNALS
        )


def make_env_prefix(variables: Mapping[str, str] | None) -> list[str]:
    """What stands before a command to set variables for it alone: its supervisor must not read them."""
    return [shutil.which("env") or "/usr/bin/env", *(f"{n}={v}" for n, v in variables.items())] if variables else []


#: A status that ends without a word: the supervisor itself was killed.
_NO_SUPERVISOR = "no supervisor"

_GUARD_SIGNALS = {signal.SIGSEGV, signal.SIGBUS}


def _describe_status(status: int) -> str:
    if status >= 0:
        return f"the process exited with status {status}"
    try:
        return f"the process died of {signal.Signals(-status).name}"
    except ValueError:
        return f"the process died of signal {-status}"


def _widen(*pipes: int) -> None:
    if sys.platform == "linux":
        import fcntl

        for pipe in pipes:
            with contextlib.suppress(OSError):
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)
