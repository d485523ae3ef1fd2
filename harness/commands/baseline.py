"""opproof baseline: what a run found, as small files that git keeps and people review."""

from __future__ import annotations

from pathlib import Path

import click

_FOLDER = click.Path(path_type=Path)


@click.group("baseline")
def command() -> None:
    """Keep baselines, which `opproof compare` compares with, as small sorted text files."""


@command.command("save")
@click.argument("run", type=_FOLDER)
@click.argument("baseline", type=_FOLDER)
def save(*, run: Path, baseline: Path) -> None:
    """Write what the run in RUN found to the folder BASELINE, whose old contents it replaces."""
    from opproof.reports import read_results
    from opproof.reports._summary import own_faults, provisos
    from opproof.reports.baseline import write_baseline

    header, results = read_results(run)
    _whole(run, header.cases, len(results))
    write_baseline(baseline, header, results)
    faults = own_faults(results)
    click.echo(f"{baseline}: {len(results):,} records{f'; {faults}' if faults else ''}")
    if text := provisos(results):
        click.echo(text)


@command.command("show")
@click.argument("baseline", type=_FOLDER)
def show(*, baseline: Path) -> None:
    """Print what BASELINE holds: operators, failures, largest errors."""
    from opproof.reports import terminal
    from opproof.reports._text import bound, described, line, options
    from opproof.reports.baseline import read_baseline

    header, results = read_baseline(baseline)
    for backend in dict.fromkeys(r.backend for r in results):
        click.echo(described(header, backend))
    asked = "; ".join(f"{name} {value}" for name, value in options(header).items())
    click.echo(f"opproof {line(header.opproof)}, allowed {bound(header)}; {asked}\n")
    click.echo(terminal.summary(header, results, folder=baseline))


@command.command("update")
@click.argument("run", type=_FOLDER)
@click.argument("baseline", type=_FOLDER)
@click.option("--prune", is_flag=True, help="Drop the records that RUN did not try.")
def update(*, run: Path, baseline: Path, prune: bool) -> None:
    """Take the run in RUN over into BASELINE: only lines of what changed change.

    A figure stays as it was while the error is within a factor of 2 of it, and records that RUN did not try stay.
    """
    from opproof.core.errors import UsageError
    from opproof.reports import read_results
    from opproof.reports.baseline import read_baseline, updated, write_baseline
    from opproof.reports.changes import changes, unlike
    from opproof.reports.changes import text as changes_text

    before, after = read_baseline(baseline), read_results(run)
    if differ := unlike(before[0], after[0]):
        raise UsageError(f"{baseline} is unlike {run}: {'; '.join(differ)}. Use `opproof baseline save` instead.")
    _whole(run, after[0].cases, len(after[1]))
    write_baseline(baseline, after[0], updated(before[1], after[1], prune=prune))
    click.echo(changes_text.text(changes(before, after)))


def _whole(run: Path, planned: int, count: int) -> None:
    from opproof.core.errors import UsageError

    if planned > count or not count:
        raise UsageError(
            f"{run} holds {count:,} of {planned:,} records; finish it with `opproof run --resume {run}` first."
        )
