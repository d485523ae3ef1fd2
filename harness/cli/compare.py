"""Commands that hold runs against each other: compare, baseline, history."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from opproof.core.errors import UsageError
from opproof.harness.cli.options import PATH, Finite

_FACTOR = Finite(min=1)


@click.command("compare")
@click.argument("baseline", type=PATH)
@click.argument("new", type=PATH)
@click.option(
    "--max-units-growth", type=_FACTOR, default=8.0, show_default=True, metavar="X",
    help="An operator whose largest error grows more than this is a regression, though it still passes.",
)  # fmt: skip
@click.option(
    "--max-rms-growth", type=_FACTOR, default=3.0, show_default=True, metavar="X",
    help="So is one of which the RMS or the bias of an array grows more than this.",
)  # fmt: skip
@click.option("--markdown", "markdown_file", type=PATH, metavar="FILE", help="Write the comparison as Markdown.")
@click.option("--html", "html_file", type=PATH, metavar="FILE", help="Write the HTML report of NEW with its changes.")
@click.option("--anyway", is_flag=True, help="Compare also runs of other versions or rules.")
def compare_command(
    *,
    baseline: Path,
    new: Path,
    max_units_growth: float,
    max_rms_growth: float,
    markdown_file: Path | None,
    html_file: Path | None,
    anyway: bool,
) -> int:
    """Compare the run in NEW with the run or baseline in BASELINE, or two benches: what is slower is worse.

    Exit status: 0 nothing is worse, 1 something is, 2 the call is wrong or the two cannot be compared,
    3 they have no record in common, 4 nothing is worse but opproof itself failed on records of NEW.
    """
    from opproof.core.system import uncollected
    from opproof.harness.run.finish import Exit, render_page
    from opproof.reports import bench
    from opproof.reports._results import Texts
    from opproof.reports.baseline import read_run
    from opproof.reports.changes import Change, compare_runs, explain_incomparable
    from opproof.reports.changes import text as changes_text
    from opproof.reports.files import write

    if bench.is_bench(baseline) and bench.is_bench(new):
        return _compare_benches(baseline, new)
    with uncollected():
        texts = None if html_file is not None else Texts()  # a page shows all of a record
        before, after = (read_run(path, brief=texts) for path in (baseline, new))
        differ = explain_incomparable(before[0], after[0])
        if differ and not anyway:
            raise UsageError(
                f"{baseline} and {new} cannot be compared: {'; '.join(differ)}. "
                "Make the baseline anew, or compare what they have in common with --anyway."
            )
        since = compare_runs(before, after, units_growth=max_units_growth, rms_growth=max_rms_growth)
        if since.conditions:
            click.echo(since.conditions)
        if markdown_file is not None:
            write(markdown_file, changes_text.format_markdown(since))
        if html_file is not None:
            write(html_file, render_page(*after, changes=since))
        for why in differ:
            click.echo(f"Beware: {why}.")
        click.echo(changes_text.format_text(replace(since, conditions="")))  # which was said first
        if not since.compared:
            return Exit.NO_EVIDENCE
        if since.regressions:
            return Exit.FAILED
        return Exit.HARNESS_ERROR if since.of(Change.HARNESS_ERROR) else Exit.PASSED


def _compare_benches(baseline: Path, new: Path) -> int:
    from opproof.harness.run.finish import Exit
    from opproof.reports.bench import compare, record
    from opproof.reports.changes.conditions import difference_of_hosts

    old, now = record.read(baseline), record.read(new)
    if conditions := difference_of_hosts(old.host, now.host):
        click.echo(conditions)
    times = compare.compare_benches(old, now)
    click.echo(compare.format_changes(times))
    return Exit.FAILED if times.worse else Exit.PASSED if times.compared else Exit.NO_EVIDENCE


@click.group("baseline")
def baseline_command() -> None:
    """Keep baselines, which `opproof compare` compares with, as small sorted text files."""


@baseline_command.command("save")
@click.argument("run", type=PATH)
@click.argument("baseline", type=PATH)
def save(*, run: Path, baseline: Path) -> None:
    """Write what the run in RUN found to the folder BASELINE, whose old contents it replaces."""
    from opproof.reports import read_results
    from opproof.reports._summary import describe_own_faults, describe_provisos
    from opproof.reports.baseline import write_baseline

    header, results = read_results(run)
    _check_whole(run, header.cases, len(results))
    write_baseline(baseline, header, results)
    faults = describe_own_faults(results)
    click.echo(f"{baseline}: {len(results):,} records{f'; {faults}' if faults else ''}")
    if text := describe_provisos(results):
        click.echo(text)


@baseline_command.command("update")
@click.argument("run", type=PATH)
@click.argument("baseline", type=PATH)
@click.option("--prune", is_flag=True, help="Drop the records that RUN did not try.")
def update(*, run: Path, baseline: Path, prune: bool) -> None:
    """Take the run in RUN over into BASELINE: only lines of what changed change.

    A figure stays as it was while the error is within a factor of 2 of it, and records that RUN did not try stay.
    """
    from opproof.reports import read_results
    from opproof.reports.baseline import read_baseline, update_records, write_baseline
    from opproof.reports.changes import compare_runs, explain_incomparable
    from opproof.reports.changes import text as changes_text

    before, after = read_baseline(baseline), read_results(run)
    if differ := explain_incomparable(before[0], after[0]):
        raise UsageError(f"{baseline} is unlike {run}: {'; '.join(differ)}. Use `opproof baseline save` instead.")
    _check_whole(run, after[0].cases, len(after[1]))
    write_baseline(baseline, after[0], update_records(before[1], after[1], prune=prune))
    click.echo(changes_text.format_text(compare_runs(before, after)))


def _check_whole(run: Path, planned: int, count: int) -> None:

    if planned > count or not count:
        raise UsageError(
            f"{run} holds {count:,} of {planned:,} records; finish it with `opproof run --resume {run}` first."
        )


@click.group("history")
def history_command() -> None:
    """Keep runs as small files, and a page, a badge and an index made of them."""


@history_command.command()
@click.argument("run", type=PATH)
@click.argument("history", type=PATH)
@click.option("--commit", default="", metavar="SHA", help="Of what was tested; that of git here where it is left out.")
def add(*, run: Path, history: Path, commit: str) -> None:
    """Add the run in RUN to the folder HISTORY, and write its page anew. The same run again replaces itself."""
    from opproof.reports import read_results
    from opproof.reports.history import kept
    from opproof.reports.history.page import publish

    header, results = read_results(run)
    if not results:
        raise UsageError(f"{run} holds no record: there is nothing to add.")
    path = kept.add(history, kept.make_history_run(header, results, commit or _find_commit()))
    files = publish(history, kept.read(history))
    click.echo(f"{path}\n{files[0]}")


def _find_commit() -> str:
    """The commit of git in this folder; empty where there is none."""
    import subprocess

    try:
        done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
