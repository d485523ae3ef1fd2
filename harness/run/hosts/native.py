"""opproof's own host: tensors lie in an arena that it shares with the judge, or that travels in the frames."""

from __future__ import annotations

import json
import mmap
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Annotated

import msgspec
import numpy as np

from opproof.backends import MADE_OF_REFERENCES
from opproof.backends.worker import serve
from opproof.backends.worker.protocol import LONGEST, join_metadata, params_to_json, to_metadata
from opproof.backends.worker.sandbox.import_guard import REFERENCES, find_own_caches, with_compiled
from opproof.core.arrays import Array, has_same_bits
from opproof.core.dtypes import Declaration
from opproof.core.errors import BackendError
from opproof.core.text import make_plain
from opproof.core.verdicts import Destination, Mode, Verdict
from opproof.harness.judge.outputs import EarlyVerdict
from opproof.harness.run.hosts.host import About, ProcessHost, Support, check_outputs
from opproof.harness.run.hosts.process import HostFault, HostProcess
from opproof.harness.run.memory import GUARD_PAGES, TRAVEL_GUARD_PAGES, Bytes, Layout, make_layout, take_snapshot, write
from opproof.harness.run.request import Params, Request, Shapes

PROTOCOL = "1"
#: Seconds that a backend may take to load.
LOADING = 120.0

#: Bytes of an answer, where its tensors do not travel in it.
_LONGEST = 1 << 20
#: Of a backend that says nothing beforehand.
_PLAIN = Support()
#: Bytes of the arena for each of several calls at once.
_PART = 1 << 20


class _Hello(msgspec.Struct):
    """What a host says of its backend, beside names."""

    alignment: Annotated[int, msgspec.Meta(ge=1, le=1 << 20)]  # bytes
    vjp: bool
    writes: tuple[bool, bool]  # results of a forward, gradients: whether it writes them into memory it is given
    on_device: bool
    supports: bool  # it declines some calls beforehand,
    with_shapes: bool  # and looks at their shapes
    destinations: frozenset[Destination] = frozenset()
    dtypes: frozenset[str] = frozenset()
    mixed: bool = False
    threads: bool = False
    capabilities: dict[str, dict[str, str]] = {}
    declares: bool = True  # it has something to say of its results beforehand


class NativeHost(ProcessHost):
    """A host that understands places: `python -m opproof.backends.worker`, here or on another machine."""

    def __init__(
        self, process: HostProcess, memory: SharedMemory | None, hello: Mapping[str, str], patience: float = LOADING
    ) -> None:
        """`patience` is how many seconds it may take to say what it supports.

        Raises BackendError for a hello that says something else than a host of this version does.
        """
        try:
            self._about = msgspec.json.decode(hello["about"], type=_Hello)
        except (KeyError, msgspec.DecodeError) as error:
            raise BackendError(
                f"the host's hello cannot be read: {make_plain(str(error))}; update opproof there."
            ) from None
        name, version, device = (make_plain(hello.get(key, "")) for key in ("name", "version", "device"))
        said = self._about
        self.about = About(
            name, version, device, said.vjp, said.destinations, said.dtypes, said.mixed, said.threads, said.capabilities
        )
        self._process, self._memory, self._patience = process, memory, patience
        self._support: dict[tuple[str, ...], Support] = {}
        self._recent: list[tuple[Request, Layout, dict[str, str]]] = []
        self._last: tuple[Layout, list[Bytes], int] | None = None  # and where in the arena it begins

    @property
    def shares_memory(self) -> bool:
        """See Host."""
        return self._memory is not None

    def support(self, op: str, dtype: str, mode: str, params: Params, shapes: Shapes) -> Support:
        """See Host. What the backend cannot look at makes no difference, and is not asked again."""
        if not self._about.supports and not self._about.declares:
            return _PLAIN
        listed = params_to_json(params) if self._about.supports else "{}"
        named = json.dumps(shapes) if self._about.with_shapes else "[]"
        key = (op, dtype, mode, listed, named)
        if key not in self._support:
            asked = {"kind": "supports", "op": op, "dtype": dtype, "mode": mode, "params": listed, "shapes": named}
            metadata, _ = self._request_answer(asked, {}, self._patience)
            if metadata.get("kind") != "supports":
                raise EarlyVerdict(
                    Verdict.ERROR, make_plain(metadata.get("message", "it did not say what it supports"))
                )
            said = {f.name: make_plain(metadata.get(f.name, "")) or None for f in fields(Declaration)}
            self._support[key] = Support(make_plain(metadata.get("reason", "")), Declaration(**said))
        return self._support[key]

    def call(self, question: Request, timeout: float) -> list[Array | None]:
        """See Host."""
        layout, metadata = self._make_layout(question)
        if self._memory is not None:
            memory = self._memory.grow(layout.request.size)
            write(layout, memory)
            answered, _ = self._request_answer(metadata, {}, timeout)
        else:
            sent = np.zeros(layout.request.size, np.uint8)
            write(layout, sent)
            answered, tensors = self._request_answer(metadata, {"arena": sent}, timeout)
            memory = tensors.get("arena", sent[:0])
            if memory.shape != sent.shape or memory.dtype != np.uint8:
                raise HostFault(Verdict.ERROR, "the answer does not bring the arena back")
        now = take_snapshot(layout, memory)
        self._last = (layout, now, 0) if self._memory is not None else None
        return check_outputs(question, layout, now, self._answer(answered), writes=self._writes(question))

    def several(self, questions: Sequence[Request], timeout: float) -> Iterator[list[Array | None]]:
        """See Host. Small ones travel in one frame, each with a part of the arena for itself.

        Not where the backend writes to the arena by itself: what it writes late would have the next call's time.
        """
        one = questions[0]
        asked = [self._make_layout(question) for question in questions] if self._memory is not None else []
        together = len({question.posed.mode for question in questions}) == 1 < len(questions)
        part = max((layout.request.size for layout, _ in asked), default=_PART + 1)
        if part > _PART or not together or one.readable_guards or self._writes(one) or one.posed.case.destinations:
            yield from super().several(questions, timeout)
            return
        assert self._memory is not None
        memory = self._memory.grow(len(asked) * _PART)
        parts = [memory[i * _PART : (i + 1) * _PART] for i in range(len(asked))]
        for (layout, _), room in zip(asked, parts, strict=True):
            write(layout, room)
        request = join_metadata([(metadata, i * _PART) for i, (_, metadata) in enumerate(asked)])
        answers = self._process.ask(request, {}, timeout, _LONGEST, len(asked))
        seen = [take_snapshot(layout, room) for (layout, _), room in zip(asked, parts, strict=True)]
        self._last = (asked[-1][0], seen[-1], (len(asked) - 1) * _PART)
        given: dict[int, serve.WireReply] = {}  # of answers that are one
        for question, (layout, _), now, (answer, _) in zip(questions, asked, seen, answers, strict=True):
            if id(answer) not in given:
                given[id(answer)] = self._answer(answer)
            yield check_outputs(question, layout, now, given[id(answer)], writes=False)

    def _writes(self, question: Request) -> bool:
        return self._about.writes[question.posed.mode is Mode.GRADIENT]

    def _make_layout(self, question: Request) -> tuple[Layout, dict[str, str]]:
        """The layout of a question and the request; of the two questions of a case, one comes twice."""
        for known, layout, metadata in self._recent:
            if known is question:
                return layout, metadata
        asked = question.with_soft_guards() if self._about.on_device else question
        layout = make_layout(
            asked, self._about.alignment, GUARD_PAGES if self._memory is not None else TRAVEL_GUARD_PAGES
        )
        self._recent = [*self._recent[-1:], (question, layout, to_metadata(layout.request))]
        return self._recent[-1][1:]

    def late(self) -> None:
        """See Host."""
        if self._last is None or self._memory is None:
            return
        layout, then, base = self._last
        memory = self._memory.grow(base + layout.request.size)[base:]
        for buffer, before in zip(layout.buffers, then, strict=True):
            now = memory[buffer.low : buffer.high]
            if buffer.holds(now) if buffer.result is None else has_same_bits(now, before):
                continue
            if written := buffer.describe_trespass(now):
                raise EarlyVerdict(Verdict.OUT_OF_BOUNDS, f"{buffer.name}: {written}, after the call had returned")
            if changed := buffer.changed(now):
                raise EarlyVerdict(Verdict.INPUT_CHANGED, f"{buffer.name}: {changed}, or after it had returned")
            raise EarlyVerdict(
                Verdict.NOT_WRITTEN, f"{buffer.name}: it was still being written after the call had returned"
            )

    def close(self) -> None:
        """See Host."""
        self._process.stop()
        if self._memory is not None:
            self._memory.close()

    def _request_answer(
        self, metadata: Mapping[str, str], tensors: Mapping[str, Array], timeout: float
    ) -> tuple[dict[str, str], dict[str, Array]]:
        return self._process.ask(metadata, tensors, timeout, _LONGEST if self._memory is not None else LONGEST)[0]

    def _answer(self, metadata: Mapping[str, str]) -> serve.WireReply:
        try:
            given = serve.from_metadata(metadata)
        except Exception as error:  # what a backend wrote in its host's stead may hold anything
            raise HostFault(Verdict.ERROR, f"the answer cannot be read: {make_plain(str(error))}") from None
        if given.outcome is serve.CallOutcome.DEVICE_LOST:
            raise HostFault(Verdict.CRASH, f"the process lost its device; it said: {make_plain(given.message)}")
        self.impls |= {make_plain(given.impl)}
        return given


def start(
    spec: str,
    memory: int,
    *,
    references: bool = False,
    private: Iterable[str] = (),
    patience: float = LOADING,
    variables: Mapping[str, str] | None = None,
) -> NativeHost:
    """A host of the backend `spec` on this machine, of at most `memory` bytes; files that are `private` it cannot read.

    `variables` are set in its environment. Raises BackendError and OSError. What lies in the current folder is not
    imported in Python's or opproof's place.
    """
    shared = SharedMemory()
    trusted = references or spec.partition(":")[0] in MADE_OF_REFERENCES

    def command(requests: int, answers: int) -> list[str]:
        options = [f"--frames={requests},{answers}", f"--arena={shared.descriptor}", *["--references"] * trusted]
        refused = [f"--private={file}" for file in private]
        return [sys.executable, "-P", "-m", "opproof.backends.worker", *options, *refused, "--", spec]

    try:
        hidden = [] if trusted else [REFERENCES, *find_own_caches(), *with_compiled(private)]
        process = HostProcess(command, memory, [shared.descriptor], trusted=trusted, hidden=hidden, variables=variables)
    except OSError:
        shared.close()
        raise
    try:
        return NativeHost(process, shared, _read_hello(process, spec), patience)
    except BackendError:
        process.stop()
        shared.close()
        raise


def _read_hello(process: HostProcess, spec: str) -> dict[str, str]:
    """The host's hello. Raises BackendError."""
    try:
        hello, _ = process.ask({"kind": "hello", "protocol": PROTOCOL}, {}, LOADING, _LONGEST)[0]
    except HostFault as fault:
        raise BackendError(f"backend {spec!r} could not be loaded: {make_plain(fault.message)}.") from None
    if hello.get("kind") == "hello":
        return hello
    message = make_plain(hello.get("message", ""))
    raise BackendError(message or f"backend {spec!r} could not be loaded: it did not say hello.")


class SharedMemory:
    """A file without a name that judge and host have mapped; nobody can make it smaller, nor forbid its growth."""

    def __init__(self) -> None:
        if hasattr(os, "memfd_create"):
            import fcntl

            self.descriptor = os.memfd_create("opproof", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
        else:
            with tempfile.TemporaryFile() as file:
                self.descriptor = os.dup(file.fileno())
        self._memory: Bytes = np.empty(0, np.uint8)

    def grow(self, size: int) -> Bytes:
        """At least `size` bytes of it."""
        if self._memory.size < size:
            length = -(-max(size, 2 * self._memory.size, 1 << 20) // mmap.PAGESIZE) * mmap.PAGESIZE
            if os.fstat(self.descriptor).st_size < length:  # else a host has made it larger, which nobody can undo
                os.ftruncate(self.descriptor, length)
            self._memory = np.frombuffer(mmap.mmap(self.descriptor, length), np.uint8)
        return self._memory

    def close(self) -> None:
        """Give it back as far as nobody looks at it any more."""
        os.close(self.descriptor)
        self._memory = np.empty(0, np.uint8)
