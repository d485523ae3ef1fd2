"""opproof export: cases as files, with what is expected of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from opproof.core.verdicts import LEVELS
from opproof.harness.commands._selection import selection_of
from opproof.harness.commands._values import Choice

_SIZE = click.IntRange(min=1, max=2**40)


@click.command("export")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("-o", "--op", "names", multiple=True, metavar="OP[,OP...]", help="Only these operators.")
@click.option("-k", "keyword", default="", metavar="EXPR", help="Only cases whose id matches, as pytest's -k.")
@click.option("--level", type=Choice(LEVELS), default="standard", show_default=True)
@click.option("--mode", type=click.Choice(["forward", "gradient"]), help="Both by default.")
@click.option("--dtype", "dtypes", multiple=True, metavar="f32,f16,...", help="Only these dtypes.")
@click.option("--case", "cases", multiple=True, metavar="ID", help="This case; several times for several.")
@click.option("--cases", "case_files", multiple=True, metavar="FILE", help="The cases of a file, or of a model.")
@click.option("--ops", "folders", multiple=True, metavar="DIR", help="Operators of your own: a folder or a file.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another draws all data anew.")
@click.option("--largest", type=_SIZE, default=1024, show_default=True, metavar="KIB", help="KiB that a file may have.")
@click.option("--total", type=_SIZE, default=256, show_default=True, metavar="MIB", help="MiB that all may have.")
def command(folder: Path, **options: Any) -> int:
    """Write golden vectors to DIR: a safetensors file for every case, and manifest.json, which says how to read them.

    For simulators, boards and languages that opproof does not start. What they answer, `opproof judge` judges.
    Exit status: 3 where nothing was written.
    """
    from opproof.harness.run.finish import Exit
    from opproof.harness.run.plan import cases, tasks
    from opproof.harness.vectors.export import Room, export

    selection = selection_of(options, seed=options["seed"])
    planned = tasks(("",), cases(selection), selection)
    if not planned:
        click.echo(
            "opproof: no case matches; `opproof list cases` with the same options shows what there is.", err=True
        )
        return Exit.NO_EVIDENCE
    made = export(folder, planned, Room(options["largest"] * 2**10, options["total"] * 2**20))
    files = len({r.file for r in made.records})
    click.echo(f"{len(made.records)} records in {files} files: {folder / 'manifest.json'}")
    for reason in dict.fromkeys(r.reason for r in made.left_out):
        click.echo(f"left out: {sum(r.reason == reason for r in made.left_out)} records, since {reason}")
    return Exit.PASSED if made.records else Exit.NO_EVIDENCE
