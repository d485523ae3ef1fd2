"""opproof compare: what is worse, and what is better, than in a baseline."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import click

_FILE = click.Path(path_type=Path)
_FACTOR = click.FloatRange(min=1)


def _number(_: click.Context, option: click.Parameter, value: float | None) -> float | None:
    """The value of an option, which nan is not: it is neither below nor above the least that is allowed."""
    if value is not None and math.isnan(value):
        raise click.BadParameter("nan is not in the range x>=1.", param=option)
    return value


@click.command("compare")
@click.argument("baseline", type=_FILE)
@click.argument("new", type=_FILE)
@click.option(
    "--max-units-growth", type=_FACTOR, default=8.0, show_default=True, metavar="X", callback=_number,
    help="An operator whose largest error grows more than this is a regression, though it still passes.",
)  # fmt: skip
@click.option(
    "--max-rms-growth", type=_FACTOR, default=3.0, show_default=True, metavar="X", callback=_number,
    help="So is one of which the RMS or the bias of an array grows more than this.",
)  # fmt: skip
@click.option(
    "--max-slowdown", type=_FACTOR, metavar="X", callback=_number,
    help="So is one that takes X times as long (between two runs on one machine; not looked at by default).",
)  # fmt: skip
@click.option("--markdown", "markdown_file", type=_FILE, metavar="FILE", help="Write the comparison as Markdown.")
@click.option("--html", "html_file", type=_FILE, metavar="FILE", help="Write the HTML report of NEW with its changes.")
@click.option("--anyway", is_flag=True, help="Compare also runs of other versions or rules.")
def command(
    *,
    baseline: Path,
    new: Path,
    max_units_growth: float,
    max_rms_growth: float,
    max_slowdown: float | None,
    markdown_file: Path | None,
    html_file: Path | None,
    anyway: bool,
) -> int:
    """Compare the run in NEW with the run or baseline in BASELINE, or two benches: what is slower is worse.

    Exit status: 0 nothing is worse, 1 something is, 2 the call is wrong or the two cannot be compared,
    3 they have no record in common, 4 nothing is worse but opproof itself failed on records of NEW.
    """
    from opproof.core.errors import UsageError
    from opproof.core.system import uncollected
    from opproof.harness.run.finish import Exit
    from opproof.reports import bench
    from opproof.reports._results import Texts
    from opproof.reports.baseline import read_run
    from opproof.reports.changes import Change, changes, unlike
    from opproof.reports.changes import text as changes_text
    from opproof.reports.files import write

    if bench.is_bench(baseline) and bench.is_bench(new):
        return _compare_benches(baseline, new)
    with uncollected():
        texts = None if html_file is not None else Texts()  # a page shows all of a record
        before, after = (read_run(path, brief=texts) for path in (baseline, new))
        differ = unlike(before[0], after[0])
        if differ and not anyway:
            raise UsageError(
                f"{baseline} and {new} cannot be compared: {'; '.join(differ)}. "
                "Make the baseline anew, or compare what they have in common with --anyway."
            )
        since = changes(before, after, units_growth=max_units_growth, rms_growth=max_rms_growth, slowdown=max_slowdown)
        if since.conditions:
            click.echo(since.conditions)
        if markdown_file is not None:
            write(markdown_file, changes_text.markdown(since))
        if html_file is not None:
            from opproof.harness.repro.script import docs_of, scripts_of
            from opproof.reports import html

            header, results = after
            scripts = scripts_of(header, results)
            write(html_file, html.render(header, results, docs=docs_of(results), scripts=scripts, changes=since))
        for why in differ:
            click.echo(f"Beware: {why}.")
        click.echo(changes_text.text(replace(since, conditions="")))  # which was said first
        if not since.compared:
            return Exit.NO_EVIDENCE
        if since.regressions:
            return Exit.FAILED
        return Exit.HARNESS_ERROR if since.of(Change.HARNESS_ERROR) else Exit.PASSED


def _compare_benches(baseline: Path, new: Path) -> int:
    """Print what is slower and faster; the exit status."""
    from opproof.harness.run.finish import Exit
    from opproof.reports.bench import compare, record
    from opproof.reports.changes.conditions import difference_of_hosts

    old, now = record.read(baseline), record.read(new)
    if conditions := difference_of_hosts(old.host, now.host):
        click.echo(conditions)
    times = compare.changes(old, now)
    click.echo(compare.text(times))
    return Exit.FAILED if times.worse else Exit.PASSED if times.compared else Exit.NO_EVIDENCE
