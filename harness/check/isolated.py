"""A candidate in a process of its own: out of reach of the judge, and free to die."""

from __future__ import annotations

import contextlib
import inspect
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opproof.harness.check import frames
from opproof.harness.check.call import Reply, Request
from opproof.harness.check.sides import Ask, Reference
from opproof.vocabulary.errors import UsageError
from opproof.vocabulary.verdicts import Verdict


@dataclass(frozen=True)
class Located:
    """Where a candidate stands: a file and a name in it; `init`: what a class is made with."""

    file: Path
    label: str
    init: tuple[Any, ...] | None = None
    seconds: float = 60.0  # a call may take

    @property
    def __name__(self) -> str:
        return self.label


def function_of(candidate: Any) -> Located:
    """Where a function stands. Raises UsageError where another process could not find it."""
    name = getattr(candidate, "__qualname__", "")
    file = inspect.getsourcefile(candidate) if inspect.isfunction(candidate) else None
    if file is None or not name.isidentifier() or not Path(file).is_file():
        raise UsageError("isolate=True needs a function at the top of a file: another process loads it from there.")
    return Located(Path(file), name)


@contextlib.contextmanager
def isolated(located: Located, reference: Reference, seed: int = 0) -> Iterator[Ask]:
    """A block in which requests can be put to the candidate."""
    command = [sys.executable, "-m", "opproof.harness.check.served", str(located.file), located.label]
    process: list[subprocess.Popen[bytes]] = []

    def ask(request: Request) -> Reply:
        if process and process[0].poll() is not None:
            _ended(process.pop())
        if not process:
            process[:] = [_started([*command, _how(located, reference, seed)])]
        return _answer(process[0], request, located.seconds)

    try:
        yield ask
    finally:
        for p in process:
            _ended(p)


def _ended(process: subprocess.Popen[bytes]) -> None:
    """End a process and close its pipes, of which one may hold what nobody reads any more."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _started(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def _how(located: Located, reference: Reference, seed: int) -> str:
    from torch.utils._pytree import treespec_dumps

    form = reference.form
    arguments = form.arguments
    how = {
        "rest": arguments.rest, "places": arguments.places, "spec": treespec_dumps(arguments.spec), "seed": seed,
        "count": form.count, "parameters": form.parameters, "buffers": form.buffers, "init": located.init,
    }  # fmt: skip
    try:
        return json.dumps(how)
    except TypeError as error:
        raise UsageError(
            f"an argument cannot be sent to another process ({error}): give tensors, numbers, texts."
        ) from None


def _answer(process: subprocess.Popen[bytes], request: Request, seconds: float) -> Reply:
    """The reply; a process that is silent for too long, or dies, or says what is no reply, is told by its cause."""
    late = threading.Event()

    def stop() -> None:
        late.set()
        process.kill()

    assert process.stdin is not None
    assert process.stdout is not None
    timer = threading.Timer(seconds, stop)
    timer.start()
    try:
        frames.request_out(process.stdin, request)
        return frames.reply_in(process.stdout)
    except (EOFError, OSError):
        status = process.wait()
        if late.is_set():
            return Reply(error=f"no answer within {seconds:g} s", cause=Verdict.TIMEOUT)
        return Reply(error=f"the process died with status {status}", cause=Verdict.CRASH)
    except (ValueError, KeyError, TypeError) as error:
        process.kill()
        return Reply(error=f"what came is no reply: {type(error).__name__}", cause=Verdict.ERROR)
    finally:
        timer.cancel()
