"""The backends of a run that are Python files, each asked by a program of its own once all hosts are gone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from opproof.core.capabilities import backend_of
from opproof.harness.known_failures.known import Known, mark
from opproof.harness.run.reach import withdrawn
from opproof.harness.run.results.file import ResultsFile, key
from opproof.harness.run.task import Task
from opproof.reports import Result

#: Seconds after which a program begins nothing new.
SECONDS = 20.0


@dataclass(frozen=True)
class Outcome:
    """What became of a backend's file in a program of its own."""

    wrong: tuple[Result, ...] = ()  # records in the place of those that passed
    notes: tuple[str, ...] = ()  # sentences for the end of the run


def asked_by_programs(
    backends: Iterable[str],
    planned: Sequence[Task],
    file: ResultsFile,
    known: Sequence[Known],
    environments: Iterable[tuple[str, tuple[tuple[str, str], ...]]] = (),
) -> list[str]:
    """Replace the records of what is right only where a judge calls it; what else is to be said of that.

    No host is left then, which may have had a device to itself. `environments` are those of `Limits`. Raises
    ResultsError.
    """
    notes, variables = list[str](), {spec: dict(some) for spec, some in environments}
    for backend in backends:
        path = backend_of(backend)
        if path.endswith(".py") and Path(path).is_file():  # no command that ends so
            with withdrawn():
                outcome = unwatched(
                    backend, [r for r in file.results if r.backend == backend], planned, variables.get(backend, {})
                )
            for result in outcome.wrong:
                file.add(mark(result, known))
            notes += outcome.notes
    return notes


def unwatched(
    backend: str, results: Sequence[Result], planned: Iterable[Task], variables: Mapping[str, str] | None = None
) -> Outcome:
    """Ask a backend's file so, what its `results` say is right, with `variables` in its environment."""
    from opproof.harness.run.unwatched import judged, notes
    from opproof.harness.run.unwatched.asked import asked
    from opproof.harness.run.unwatched.chosen import chosen

    some = list(judged.posed(chosen(results), {key(task): task for task in planned}))
    if not some:
        return Outcome()
    program = asked(Path(backend_of(backend)), [one.pair for one in some], SECONDS, variables)
    came = [(one, answer) for one, answer in zip(some, program.answers, strict=True) if answer is not None]
    wrong = tuple(filter(None, (judged.wrong(one, answer) for one, answer in came)))
    said = [notes.left_out(backend, program.status, len(came), len(some)), notes.not_at_once(backend, came)]
    return Outcome(wrong, tuple(filter(None, [*said, "" if wrong else notes.idle(backend, came)])))
