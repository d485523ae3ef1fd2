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

    A folder that holds another run is left as it is; the next free name is used then, and said.
    Exit status: as of run; 1 also where records are missing, 2 where the parts do not fit together.
    """
    from opproof.core.errors import UsageError
    from opproof.harness.known_failures.findings import built_in, of_versions
    from opproof.harness.known_failures.known import read_known
    from opproof.harness.run.finish import Exit, finish
    from opproof.harness.run.merge import merge, selection_of
    from opproof.harness.run.plan import Extent, extent
    from opproof.harness.run.results.file import results_file
    from opproof.harness.run.results.folder import claimed
    from opproof.reports import read_results
    from opproof.reports.remarks import of_parts, read_remarks

    if out.resolve() in [folder.resolve() for folder in folders]:
        raise UsageError(f"--out {out} is one of the parts; give another folder.")
    known = read_known(ledger) if ledger is not None else []
    merged = merge([(folder, *read_results(folder)) for folder in folders])
    backends = merged.header.options.get("backends", [])
    known += [entry for spec in backends for entry in built_in(spec)]
    known, notes = of_versions(known, merged.header.backends)
    told = of_parts(map(read_remarks, folders))
    notes = list(dict.fromkeys([*told.notes, *notes]))
    whole = Extent.PART if merged.missing else extent(selection_of(merged.header))
    with claimed(out, merged.header) as folder, results_file(folder, merged.header, merged.results):
        run = folder, merged.header, merged.results
        status = finish(*run, known, quiet=quiet, extent=whole, complaints=told.complaints, notes=notes)
    for sentence in merged.missing:
        click.echo(f"missing: {sentence}")
    return Exit.FAILED if merged.missing else status
