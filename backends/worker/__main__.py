"""The process that has the backend: `python -m opproof.backends.worker SPEC`.

It loads the backend, and answers frames until they end. Frames come and go on stdin and stdout, or on the descriptors
that --frames names; 0, 1 and 2 are the backend's all the same. With --arena, tensors lie in a file that the judge
has mapped too; without, the arena travels in the frames, both ways, as it does to another machine.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from opproof.backends import MADE_OF_REFERENCES
from opproof.backends.load import load_backend
from opproof.backends.loaded import Loaded, resolve_members
from opproof.backends.worker import serve
from opproof.backends.worker.memory import Arena
from opproof.backends.worker.protocol import HEAD, WireRequest, decode, encode, length_of_frame, params_of, several_of
from opproof.backends.worker.sandbox.import_guard import install_import_guard
from opproof.core.arrays import Array
from opproof.core.errors import BackendError
from opproof.core.system import uncollected

PROTOCOL = "1"
#: Seconds within which answers to several calls are written together: each wakes the judge.
_SOON = 0.005
_now = time.monotonic  # as it was before a backend was loaded


def main() -> None:
    """Serve one backend until the frames end."""
    parser = argparse.ArgumentParser("opproof.backends.worker", description=__doc__)
    parser.add_argument("spec", help="the backend, as after -b")
    parser.add_argument("--frames", help="two descriptors: requests are read from the first, answers go to the second")
    parser.add_argument("--arena", type=int, default=-1, help="descriptor of the memory that is shared with the judge")
    parser.add_argument("--references", action="store_true", help="the backend may use opproof's references")
    parser.add_argument("--private", action="append", default=[], help="a file of the judge's, not to be read here")
    options = parser.parse_args()
    source, sink = _open_streams(options.frames)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.argv = ["opproof-host"]
    if not options.references and options.spec.partition(":")[0] not in MADE_OF_REFERENCES:
        install_import_guard(options.private)
    _serve(options.spec, source, sink, Arena(options.arena), shared=options.arena >= 0)


def _open_streams(named: str | None) -> tuple[int, int]:
    """Descriptors of requests and of answers; where they are 0 and 1, others, which the backend does not print to."""
    if named is not None:
        source, _, sink = named.partition(",")
        return int(source), int(sink)
    streams = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return streams


def _serve(spec: str, source: int, sink: int, arena: Arena, *, shared: bool) -> None:
    process, backend = os.getpid(), None
    while (frame := _read_frame(source)) is not None:
        metadata, tensors = decode(frame)
        answers: Iterable[dict[str, str]]
        if metadata["kind"] == "hello":
            backend, hello = _make_hello(spec, shared=shared)
            answers = [hello]
        elif backend is None:
            answers = [{"kind": "failed", "message": "the first request was no hello"}]
        elif metadata["kind"] == "supports":
            answers = [_check_support(backend, metadata)]
        else:
            if not shared:
                tensors = {"arena": _fill(arena, tensors["arena"])}
            answers = _run_calls(backend, several_of(metadata), arena)
        frames, since, last, told = b"", _now(), dict[str, str](), b""
        for answer in answers:
            if os.getpid() != process:
                os._exit(0)  # a copy that the backend forked and let return: the answer is the original's
            if not shared and tensors:
                arena.guard(())  # it is read whole, to travel back
            if tensors or answer is not last:  # several calls are mostly answered alike
                last, told = answer, encode({**answer, "id": metadata.get("id", "")}, tensors)
            frames += told
            if _now() - since > _SOON:
                _write(sink, frames)
                frames, since = b"", _now()
        _write(sink, frames)


def _run_calls(backend: Loaded, calls: Sequence[tuple[WireRequest, int]], arena: Arena) -> Iterator[dict[str, str]]:
    """An answer to each call; after one that went wrong there are no more."""
    made, last, told = True, None, dict[str, str]()
    for request, base in calls:
        given = (
            serve.serve_request(backend, request, arena, base) if made else serve.WireReply(serve.CallOutcome.NOT_MADE)
        )
        made = given.outcome is serve.CallOutcome.DONE
        if given != last:
            last, told = given, serve.to_metadata(given)
        yield told


def _fill(arena: Arena, sent: Array) -> Array:
    arena.grow(sent.size)
    arena.guard(())
    arena.memory[: sent.size] = sent
    return arena.memory[: sent.size]


def _make_hello(spec: str, *, shared: bool) -> tuple[Loaded | None, dict[str, str]]:
    try:
        with uncollected(kept=True):
            backend = resolve_members(load_backend(spec), spec)
    except BackendError as error:
        return None, {"kind": "failed", "message": str(error)}
    except BaseException as error:  # whatever loading it raises
        return None, {"kind": "failed", "message": serve.describe_error(error)}
    about = {
        "alignment": backend.alignment,
        "vjp": backend.differentiates,
        "writes": [backend.writes(gradient=False), backend.writes(gradient=True)],
        "on_device": backend.device_memory is not None,
        "supports": backend.supports is not None,
        "declares": any((backend.compute, backend.rounding, backend.bits)),
        "with_shapes": backend.with_shapes,
        "dtypes": sorted(backend.dtypes),
        "mixed": backend.mixed,
        "destinations": sorted(backend.destinations),
        "threads": backend.set_threads is not None,
        "capabilities": backend.capabilities,
    }
    hello = {"name": backend.name, "version": backend.version, "device": backend.device}
    return backend, {"kind": "hello", **hello, "arena": "shared" if shared else "frames", "about": json.dumps(about)}


def _check_support(backend: Loaded, metadata: dict[str, str]) -> dict[str, str]:
    """Whether the backend declines, and what it declares."""
    op, dtype, mode = metadata["op"], metadata["dtype"], metadata["mode"]
    try:
        shapes = [None if s is None else tuple(s) for s in json.loads(metadata["shapes"])]
        reason = backend.declines(op, dtype.split("+"), params_of(metadata["params"]), shapes)
        declared = asdict(backend.declared(op, dtype, mode))
    except BaseException as error:  # as of a call
        return {"kind": "failed", "message": serve.describe_error(error)}
    said = {name: "" if word is None else str(word) for name, word in declared.items()}
    return {"kind": "supports", "reason": reason, **said}


def _read_frame(source: int) -> bytes | None:
    head = _read(source, HEAD)
    if head is None:
        return None
    rest = _read(source, length_of_frame(head) - HEAD)
    return None if rest is None else head + rest


def _read(source: int, count: int) -> bytes | None:
    parts: list[bytes] = []
    while count:
        part = os.read(source, min(count, 1 << 20))
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _write(sink: int, frame: bytes) -> None:
    view = memoryview(frame)
    while view:
        view = view[os.write(sink, view) :]


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main()
    os._exit(0)  # without the backend's own farewells, which nobody waits for
