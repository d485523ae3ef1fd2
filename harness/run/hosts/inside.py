"""A backend in the judge's own process: a debugger works, and nothing keeps it from the judge. Records say so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opproof.backends.load import load_backend
from opproof.backends.loaded import Loaded, settle
from opproof.backends.worker import serve
from opproof.backends.worker.memory import Arena
from opproof.core.arrays import Array
from opproof.core.text import plain
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.run.arena.layout import NEAR, lay_out, snapshot, write
from opproof.harness.run.hosts.host import About, Support
from opproof.harness.run.hosts.looked import looked_at
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.question import Question, Settled


class Inside:
    """The same requests, layouts and checks as across processes; no limits, and guards that can be touched."""

    in_process = True
    shares_memory = False
    alive = True

    def __init__(self, backend: Loaded) -> None:
        self._backend, self._arena = backend, Arena()
        name, version, device = plain(backend.name), plain(backend.version), plain(backend.device)
        told = backend.set_threads is not None
        self.about = About(
            name, version, device, backend.differentiates, backend.destinations, backend.dtypes, backend.mixed, told,
            backend.capabilities,
        )  # fmt: skip

    def support(
        self, op: str, dtype: str, mode: str, params: Mapping[str, Any], shapes: Sequence[Sequence[int] | None]
    ) -> Support:
        """See Host."""
        try:
            reason = self._backend.declines(op, dtype.split("+"), params, shapes)
            declared = self._backend.declared(op, dtype, mode)
        except Exception as error:  # of whatever kind, it is the backend's
            raise Settled(Verdict.ERROR, plain(serve.described(error))) from None
        return Support(plain(reason), declared)

    def call(self, question: Question, timeout: float) -> list[Array | None]:
        """See Host. `timeout` is nobody's to enforce here."""
        del timeout
        question = question.softened()  # a read out of bounds would end this process, a write is seen all the same
        layout = lay_out(question, self._backend.alignment, NEAR)
        self._arena.grow(layout.request.size)
        write(layout, self._arena.memory)
        given = serve.answer(self._backend, layout.request, self._arena, interrupts=True)
        if given.outcome is serve.Outcome.DEVICE_LOST:
            raise Settled(Verdict.CRASH, f"the device is lost: {plain(given.message)}")
        now = snapshot(layout, self._arena.memory)
        gradient = question.posed.mode is Mode.GRADIENT
        return looked_at(question, layout, now, given, writes=self._backend.writes(gradient))

    def several(self, questions: Sequence[Question], timeout: float) -> Iterator[list[Array | None]]:
        """See Host."""
        return (self.call(question, timeout) for question in questions)

    def fault(self) -> HostFault:
        """See Host. Nothing can be said of a process from inside."""
        return HostFault(Verdict.CRASH, "the process died")

    def late(self) -> None:
        """See Host."""

    def close(self) -> None:
        """See Host."""


def start(spec: str) -> Inside:
    """The backend `spec` in this process. Raises BackendError."""
    return Inside(settle(load_backend(spec), spec))
