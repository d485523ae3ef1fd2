"""opproof merge: the shards of a run as one run."""

from __future__ import annotations

from pathlib import Path

import click

_FILE = click.Path(path_type=Path)


@click.command("merge")
@click.argument("folders", nargs=-1, required=True, type=_FILE, metavar="DIR...")
@click.option("--out", type=_FILE, required=True, metavar="DIR", help="Where the whole run goes.")
@click.option("--known", "ledger", type=_FILE, metavar="FILE", help="Ledger that the parts were run with, to check.")
@click.option("--quiet", is_flag=True, help="No table; the failures and the last line only.")
def command(*, folders: tuple[Path, ...], out: Path, ledger: Path | None, quiet: bool) -> int:
    """Join the results in DIR..., the shards of a run or runs of several backends, and report on the whole.

    Exit status: 0 nothing unexpected failed, 1 something did or is missing, 2 the parts do not fit together,
    3 no case ran.
    """
    from opproof.harness.ledger.known import built_in, read_known
    from opproof.harness.run.finish import finish
    from opproof.harness.run.merge import merge, selection_of
    from opproof.harness.run.runner import is_complete, results_file
    from opproof.reports import read_results
    from opproof.vocabulary.errors import UsageError

    if out.resolve() in [folder.resolve() for folder in folders]:
        raise UsageError(f"--out {out} is one of the parts; give another folder.")
    known = read_known(ledger) if ledger is not None else []
    merged = merge([(folder, *read_results(folder)) for folder in folders])
    backends = merged.header.options.get("backends", [])
    known += [entry for spec in backends for entry in built_in(spec)]
    with results_file(out, merged.header, merged.results):
        pass
    complete = is_complete(selection_of(merged.header)) and not merged.missing
    outcome = finish(out, merged.header, merged.results, known, quiet=quiet, complete=complete)
    for sentence in merged.missing:
        click.echo(f"missing: {sentence}")
    return 1 if merged.missing and outcome == 0 else outcome
