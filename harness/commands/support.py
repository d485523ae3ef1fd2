"""opproof support: operators × backends."""

from __future__ import annotations

from pathlib import Path

import click

from opproof.cases._registry import LEVELS
from opproof.harness.commands._values import Choice, listed
from opproof.reports import Result

_FILE = click.Path(path_type=Path)


@click.command("support")
@click.argument("folders", nargs=-1, type=_FILE, metavar="[DIR]...")
@click.option("-b", "--backend", "backends", multiple=True, help="Run this backend now; several times for several.")
@click.option("-o", "--op", "names", multiple=True, metavar="OP[,OP...]", help="Only these operators.")
@click.option("--level", type=Choice(LEVELS), default="smoke", show_default=True, help="Of the run with -b.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Worker processes; all cores by default.")
@click.option("--markdown", "markdown_file", type=_FILE, metavar="FILE", help="Write the table as Markdown.")
def command(
    *,
    folders: tuple[Path, ...],
    backends: tuple[str, ...],
    names: tuple[str, ...],
    level: str,
    jobs: int | None,
    markdown_file: Path | None,
) -> int:
    """Print operators × backends from the results in each DIR, or from a short run of each -b.

    Forward / gradient of each operator: pass, FAIL, known (a ledger says why), harness error (opproof's own fault),
    no evidence, – (declined), nothing (not run).
    Exit status: 0, 2 the call is wrong, 3 there is no record.
    """
    from opproof.core.errors import UsageError
    from opproof.reports import read_results, support
    from opproof.reports._summary import provisos
    from opproof.reports.files import write

    if bool(folders) == bool(backends):
        raise UsageError("give folders of results, such as opproof-report, or backends with -b; one or the other.")
    wanted = listed(names)
    if backends:
        results = _run(backends, wanted, level, jobs)
    else:
        results = [r for folder in folders for r in read_results(folder)[1] if not wanted or r.op in wanted]
    if not results:
        click.echo("opproof: no record, so there is nothing to tabulate.", err=True)
        return 3
    cells, unproved = support.matrix(results), provisos(results)
    click.echo(support.terminal(cells, unproved))
    if markdown_file is not None:
        write(markdown_file, support.markdown(cells, unproved))
    return 0


def _run(backends: tuple[str, ...], names: tuple[str, ...], level: str, jobs: int | None) -> list[Result]:
    """The records of a run whose reports nobody asked for."""
    import contextlib
    import io
    import tempfile

    from opproof.core.system import cores
    from opproof.harness.run import runner
    from opproof.harness.run.plan import Selection
    from opproof.harness.run.results.resume import Settings
    from opproof.reports import read_results

    with tempfile.TemporaryDirectory(prefix="opproof-support-") as folder:
        settings = Settings(
            backends=backends,
            selection=Selection(ops=names, level=level),
            jobs=cores() if jobs is None else jobs,
            out=Path(folder),
            quiet=True,
        )
        with contextlib.redirect_stdout(io.StringIO()):
            status = runner.run(settings)
        return [] if status == 3 and not (Path(folder) / "results.jsonl").exists() else read_results(Path(folder))[1]
