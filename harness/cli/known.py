"""opproof known: whether a list of known failures is as narrow as what it explains, by cases that it covers alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opproof.core.verdicts import Mode
from opproof.harness.cli.options import PATH, SECONDS, split_values
from opproof.harness.known_failures.known import Known
from opproof.harness.run.plan import Selection, make_tasks, select_cases, with_known
from opproof.harness.run.scheduler import Pool
from opproof.harness.run.task import Task
from opproof.reports import Result

if TYPE_CHECKING:
    from opproof.harness.known_failures.findings import EntryCheck


@click.group("known")
def known_command() -> None:
    """Look after ledgers of known failures."""


@known_command.command("check")
@click.argument("folder", required=False, type=PATH, metavar="[DIR]")
@click.option("-b", "--backend", help="As of run, instead of the results in DIR.")
@click.option("--known", "ledger", type=PATH, metavar="FILE", help="Not the backend's own, but this list.")
@click.option("--seeds", type=click.IntRange(min=1), default=3, show_default=True, help="How many: 0, 1, 2, ...")
@click.option("-o", "--op", "names", multiple=True, metavar="OP[,OP...]", help="Only what it says of these operators.")
@click.option("--ops", "folders", multiple=True, metavar="DIR", help="Operators of your own.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Worker processes; all cores by default.")
@click.option("--timeout", type=SECONDS, default=30.0, show_default=True, help="Seconds a case.")
@click.option("--write", is_flag=True, help="Set units and rms to at most twice what was seen; all else stays.")
def check(
    *, folder: Path | None, backend: str | None, ledger: Path | None, seeds: int, names: tuple[str, ...],
    folders: tuple[str, ...], jobs: int | None, timeout: float, write: bool,
) -> int:  # fmt: skip
    """Say what entries of a list of known failures explained.

    Of the results in DIR, those of `opproof run`: entries that explained nothing or only raised, and failures of their
    operators that nothing explains; after a run of some cases it speaks of their entries alone. With -b, the cases of
    the standard level that the list covers are run, and no other, with several seeds.

    Prints of each entry how many records it covers, fail and pass, and the largest error; then what to object: too
    wide (more cases pass than fail), too high (units or rms above twice what was seen), not seen (nothing failed so),
    raised (a function of its cause), unexplained (a failure that no entry explains).

    Exit status: 0 nothing to object, 1 something, 2 the call is wrong.
    """
    from opproof.core.errors import UsageError

    if (folder is None) == (backend is None):
        raise UsageError("give DIR, the folder of a run, or -b BACKEND, whose cases are run then; one of them.")
    if folder is not None:
        if write:
            raise UsageError("--write sets limits from several seeds; give -b BACKEND in place of DIR.")
        return _check_results(folder, ledger, set(split_values(names)))
    return _check_backend(str(backend), ledger, seeds, set(split_values(names)), folders, jobs, timeout, write=write)


def _check_results(folder: Path, ledger: Path | None, ops: set[str]) -> int:
    from opproof.harness.known_failures.findings import Extent, check_entries, of_versions, read_built_in
    from opproof.harness.known_failures.known import read_known
    from opproof.harness.run.finish import selection_of
    from opproof.harness.run.plan import scope_of
    from opproof.reports import read_results

    header, results = read_results(folder)
    specs = [b.get("spec", "") for b in header.backends]
    entries = read_known(ledger) if ledger is not None else [e for spec in specs for e in read_built_in(spec)]
    known, silent = of_versions(entries, header.backends)
    found = check_entries([e for e in known if not ops or e.ops & ops], [r for r in results if not ops or r.op in ops])
    if scope_of(selection_of(header)) is not Extent.ALL:  # of what was not run nothing is said
        found = [c for c in found if c.finding.covered]
    return _print_checks(found, silent, 1)


def _check_backend(
    backend: str, ledger: Path | None, seeds: int, ops: set[str], folders: tuple[str, ...],
    jobs: int | None, timeout: float, *, write: bool,
) -> int:  # fmt: skip
    """Run what a list covers, with several seeds, and check it by that."""
    from opproof.core.system import count_cores
    from opproof.harness.known_failures.findings import check_entries, find_entries, of_versions, rewrite
    from opproof.harness.run.task import HostLimits, op_name_of

    with Pool(HostLimits(count_cores() if jobs is None else jobs, timeout, 4096 * 2**20)) as pool:
        about = [pool.describe(backend)]
        path, entries = find_entries(backend, ledger)
        _, silent = of_versions((entry for _, entry in entries), about)
        speaking = [(n, e) for n, e in entries if of_versions([e], about)[0] and (not ops or e.ops & ops)]
        known = [entry for _, entry in speaking]
        planned = plan_tasks(backend, known, seeds, folders)
        results = run_planned(pool, [t for t in planned if not ops or op_name_of(t) in ops])
    found = check_entries(known, results)
    changes = {place: c.changes for (place, _), c in zip(speaking, found, strict=True) if c.changes}
    if write and changes:
        rewrite(path, changes)
        click.echo(f"{path}: new limits of {len(changes)} of {len(known)} entries")
        known = [replace(e, **changes.get(n, {})) for n, e in speaking]  # type: ignore[arg-type]
        found = check_entries(known, results)
    return _print_checks(found, silent, seeds)


def _print_checks(found: Sequence[EntryCheck], silent: Sequence[str], seeds: int) -> int:
    from opproof.harness.known_failures.findings import format_summary, format_table

    click.echo(format_table(found))
    for sentence in [*(said for c in found for said in c.sentences), *silent, format_summary(found, seeds)]:
        click.echo(sentence)
    return int(any(c.objections for c in found))


def plan_tasks(backend: str, known: Sequence[Known], seeds: int, folders: tuple[str, ...] = ()) -> list[Task]:
    """The tasks of the standard level that an entry covers, with the seeds 0, 1, and so on."""
    covered = []
    for seed in range(seeds):
        selection = Selection(seed=seed, folders=folders)
        chosen = [case for case in select_cases(selection) if any(e.covers_case(str(case)) for e in known)]
        tasks = make_tasks([backend], chosen, selection)
        covered += [t for t in tasks if any(e.covers_mode(Mode(t.mode)) and e.covers_case(t.case) for e in known)]
    return with_known(covered, known)


def run_planned(pool: Pool, planned: Sequence[Task]) -> list[Result]:
    """What became of the tasks; a bar shows how far they are."""
    from tqdm import tqdm

    found: dict[tuple[str, str], Result] = {}
    with tqdm(total=len(planned), unit="rec", disable=None, leave=False) as bar:
        for result in pool.run(planned):
            found[result.case, result.mode] = result  # a second one replaces the first
            bar.update(1)
    return list(found.values())
