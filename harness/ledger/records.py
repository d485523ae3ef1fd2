"""Records of the cases that a ledger covers, and of no other, over some seeds."""

from __future__ import annotations

from collections.abc import Sequence

from opproof.core.verdicts import Mode
from opproof.harness.known_failures.known import Known
from opproof.harness.run.plan import Selection, cases, tasks, with_known
from opproof.harness.run.scheduler import Pool
from opproof.harness.run.task import Task
from opproof.reports import Result


def planned(backend: str, known: Sequence[Known], seeds: int, folders: tuple[str, ...] = ()) -> list[Task]:
    """The tasks of the standard level that an entry covers, with the seeds 0, 1, and so on."""
    covered = []
    for seed in range(seeds):
        selection = Selection(seed=seed, folders=folders)
        chosen = [case for case in cases(selection) if any(e.covers_case(str(case)) for e in known)]
        covered += [t for t in tasks([backend], chosen, selection) if any(_covers(e, t) for e in known)]
    return with_known(covered, known)


def _covers(entry: Known, task: Task) -> bool:
    return entry.covers_mode(Mode(task.mode)) and entry.covers_case(task.case)


def records(pool: Pool, planned: Sequence[Task]) -> list[Result]:
    """What became of the tasks; a bar shows how far they are."""
    from tqdm import tqdm

    found: dict[tuple[str, str], Result] = {}
    with tqdm(total=len(planned), unit="rec", disable=None, leave=False) as bar:
        for result in pool.run(planned):
            found[result.case, result.mode] = result  # a second one replaces the first
            bar.update(1)
    return list(found.values())
