"""opproof history: runs over time, as files that a static web server shows."""

from __future__ import annotations

from pathlib import Path

import click

_FOLDER = click.Path(path_type=Path)


@click.group("history")
def command() -> None:
    """Keep runs as small files, and a page, a badge and an index made of them."""


@command.command()
@click.argument("run", type=_FOLDER)
@click.argument("history", type=_FOLDER)
@click.option("--commit", default="", metavar="SHA", help="Of what was tested; that of git here where it is left out.")
def add(*, run: Path, history: Path, commit: str) -> None:
    """Add the run in RUN to the folder HISTORY, and write its page anew. The same run again replaces itself."""
    from opproof.core.errors import UsageError
    from opproof.reports import read_results
    from opproof.reports.history import kept
    from opproof.reports.history.page import publish

    header, results = read_results(run)
    if not results:
        raise UsageError(f"{run} holds no record: there is nothing to add.")
    path = kept.add(history, kept.kept(header, results, commit or _commit()))
    files = publish(history, kept.read(history))
    click.echo(f"{path}\n{files[0]}")


@command.command("show")
@click.argument("history", type=_FOLDER)
def show(*, history: Path) -> None:
    """Print the runs in HISTORY, the latest first, and write its page anew."""
    from tabulate import tabulate

    from opproof.reports.history import kept
    from opproof.reports.history.page import publish

    runs = kept.read(history)
    rows = [
        (r.started[:16].replace("T", " "), r.commit[:12], r.asked, f"{c.passed:,}", kept.percent(c), c.failed, c.known)
        for r in reversed(runs)
        for c in [r.count()]
    ]
    titles = ("started", "commit", "cases", "passed", "", "fail", "known")
    click.echo(tabulate(rows, titles, tablefmt="simple", disable_numparse=True))
    click.echo(publish(history, runs)[0])


def _commit() -> str:
    """The commit of git in this folder; empty where there is none."""
    import subprocess

    try:
        done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
