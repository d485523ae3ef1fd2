"""What goes to a worker and comes back: some cases, and their records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from opproof.harness.run.cluster.shipped import Shipped
from opproof.harness.run.limits import Limits
from opproof.harness.run.task import Task, by_case
from opproof.reports import Result


@dataclass(frozen=True)
class Order:
    """Whose judges, what they may use, and files that a worker may lack."""

    opproof: str  # the version of the run
    limits: Limits
    cache: int | None  # bytes of the worker's own cache; None for no cache
    files: tuple[Shipped, ...] = ()
    backends: tuple[tuple[str, str, str], ...] = ()  # spec, name and version, as the run knows them


@dataclass(frozen=True)
class Chunk:
    """Tasks of whole cases, in their order."""

    tasks: tuple[Task, ...]

    @property
    def cases(self) -> list[tuple[Task, ...]]:
        """The tasks of each case."""
        return list(by_case(self.tasks))


@dataclass(frozen=True)
class Answer:
    """The records of a chunk, or why this worker gives none."""

    worker: str
    results: Sequence[Result] = ()
    seconds: float = 0.0
    refusal: str = ""  # what is wrong with the worker
    error: str = ""  # what is wrong with the call: no worker would do better
    about: dict[str, str] = field(default_factory=dict)  # of a backend, where that was asked
