"""Commands on what runs leave behind: report renders their results again, merge joins shards, cache looks after it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from opproof.core.errors import UsageError
from opproof.harness.cli.options import PATH
from opproof.harness.run.cache.store import CacheStore, locate_folder, place
from opproof.reports import Header, Result
from opproof.reports.remarks import Remarks


@click.command("report")
@click.argument("folder", type=PATH, metavar="DIR")
@click.option("--html", type=PATH, metavar="FILE", help="Write the HTML report.")
@click.option("--markdown", type=PATH, metavar="FILE", help="Write the Markdown report, for a pull-request comment.")
@click.option("--junit", type=PATH, metavar="FILE", help="Write JUnit XML, which CI servers show.")
@click.option("--csv", type=PATH, metavar="FILE", help="Write a table of the records as CSV.")
@click.option("--github", is_flag=True, help="Print GitHub annotations, and append to $GITHUB_STEP_SUMMARY.")
@click.option("--all", "everything", is_flag=True, help="Print every cause of failures, not the first few.")
@click.option("--baseline", type=PATH, metavar="DIR", help="An earlier run that the HTML report compares with.")
def report_command(*, folder: Path, github: bool, everything: bool, baseline: Path | None, **files: Path | None) -> int:
    """Print the summary of the results in DIR, and write the reports asked for.

    Exit status: as of run; 1 also where planned records did not run.
    """
    from opproof.harness.run.finish import status_of
    from opproof.reports import read_results, terminal
    from opproof.reports._text import format_line
    from opproof.reports.colour import paint_text
    from opproof.reports.remarks import read_remarks

    if baseline is not None and files["html"] is None:
        raise UsageError("--baseline is for the HTML report: add --html FILE, or use `opproof compare`.")
    header, results = read_results(folder)
    remarks = read_remarks(folder)
    for kind, file in files.items():
        if file is not None:
            _write(kind, file, header, results, remarks, baseline)
    if github:
        _print_annotations(header, results, remarks)
    else:
        limit = {"limit": None} if everything else {}
        click.echo(paint_text(terminal.format_summary(header, results, folder=folder, **limit)))
        for sentence in remarks.every:
            click.echo(format_line(sentence))
    return status_of(results, remarks.failing, missing=max(0, header.cases - len(results)))


def _write(
    kind: str, file: Path, header: Header, results: Sequence[Result], remarks: Remarks, baseline: Path | None
) -> None:
    from opproof.harness.run.finish import render_page
    from opproof.reports import junit, markdown, tables
    from opproof.reports.baseline import read_run
    from opproof.reports.changes import compare_runs
    from opproof.reports.files import replacing, write

    if kind == "html":
        since = None if baseline is None else compare_runs(read_run(baseline), (header, results))
        write(file, render_page(header, results, changes=since, remarks=remarks.every))
    elif kind == "markdown":
        write(file, markdown.render(header, results, remarks=remarks.every))
    elif kind == "junit":
        write(file, junit.render(header, results, remarks.failing))
    else:
        with replacing(file) as fresh, fresh.open("w", encoding="utf-8", newline="") as opened:
            tables.write_csv(results, opened)


def _print_annotations(header: Header, results: Sequence[Result], remarks: Remarks) -> None:
    """Annotations on stdout; nothing else there, since GitHub reads commands from it."""
    from opproof.reports import github
    from opproof.reports.files import writable

    click.echo(github.format_annotations(header, results, remarks.failing))
    if name := os.environ.get("GITHUB_STEP_SUMMARY"):
        file = Path(name)
        with writable(file), file.open("a", encoding="utf-8") as opened:
            opened.write(github.format_job_summary(header, results, remarks.every))


@click.command("merge")
@click.argument("folders", nargs=-1, required=True, type=PATH, metavar="DIR...")
@click.option("--out", type=PATH, required=True, metavar="DIR", help="Where the whole run goes.")
@click.option("--known", "ledger", type=PATH, metavar="FILE", help="Ledger that the parts were run with, to check.")
@click.option("--quiet", is_flag=True, help="No table; the failures and the last line only.")
def merge_command(*, folders: tuple[Path, ...], out: Path, ledger: Path | None, quiet: bool) -> int:
    """Join the results in DIR..., the shards of a run or runs of several backends, and report on the whole.

    A folder that holds another run is left as it is; the next free name is used then, and said.
    Exit status: as of run; 1 also where records are missing, 2 where the parts do not fit together.
    """
    from opproof.harness.run.finish import Exit, merge_folders

    missing, status = merge_folders(folders, out, ledger, quiet=quiet)
    for sentence in missing:
        click.echo(f"missing: {sentence}")
    return Exit.FAILED if missing else status


@click.group("cache")
def cache_command() -> None:
    """What is known of cases from earlier runs: data, expected values, bounds.

    It lies in OPPROOF_CACHE, or in the folder of the user's caches. What an operator or opproof itself made before a
    change of it is not used any more.
    """


@cache_command.command("info")
def show_info() -> int:
    """Say where it is and how much it holds."""
    store = _store()
    held = store.info()
    store.close()
    click.echo(f"{held.path}\n{held.entries:,} entries, {held.bytes / 2**20:,.1f} MiB")
    if held.foreign:
        click.echo(f"{held.foreign:,} entries were not believed: this user's opproof had not written them, or not so")
    return 0


@cache_command.command("clear")
def clear() -> int:
    """Remove all of it."""
    _store().clear()
    return 0


def _store() -> CacheStore:
    here = place()
    if here is None:
        raise UsageError(f"there is no cache: {locate_folder()}, or the key beside it, can be neither read nor made.")
    return CacheStore(here)
