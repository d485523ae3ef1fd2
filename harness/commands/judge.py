"""opproof judge: answers that come back as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

_PATH = click.Path(path_type=Path)


@click.command("judge")
@click.argument("folder", type=_PATH, metavar="DIR")
@click.option("--answers", type=_PATH, required=True, metavar="ANSWERS", help="The folder of the answers.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Worker processes; all cores by default.")
@click.option("--convention", type=click.Choice(["any", "torch"]), default="any", show_default=True, help="At kinks.")
@click.option("--strict-subnormals", is_flag=True, help="Flushing subnormals to zero fails.")
@click.option("--known", "ledger", type=_PATH, metavar="FILE", help="Ledger of known failures (TOML).")
@click.option(
    "--out",
    type=_PATH,
    default=Path("opproof-report"),
    show_default=True,
    metavar="DIR",
    help="Where the report goes; to DIR-2 and so on where DIR holds anything but an earlier run of the same call.",
)
@click.option("--quiet", is_flag=True, help="No progress, no table; the failures and the last line only.")
def command(folder: Path, answers: Path, **options: Any) -> int:
    """Judge the ANSWERS to the cases that `opproof export` wrote to DIR, as if a backend had just given them.

    Exit status: as of run.
    """
    import os

    from opproof.core.errors import UsageError
    from opproof.core.system import cores
    from opproof.harness.run import runner
    from opproof.harness.run.hosts import answer_files
    from opproof.harness.run.hosts.answer_files import KIND
    from opproof.harness.run.plan import Selection
    from opproof.harness.run.results.resume import Settings

    exported = answer_files.read(folder)
    if not exported.records:
        raise UsageError(f"{folder} holds no case: export some, with opproof export -o OP DIR.")
    if not answers.is_dir():
        raise UsageError(f"there is no folder {answers}: give --answers the folder that holds the answers.")
    if not any((answers / r.answer).exists() for r in exported.records):
        wanted = exported.records[0].answer
        raise UsageError(f"{answers} holds no answer to {folder}: expected files such as {answers / wanted}.")
    if os.pathsep in str(folder):
        raise UsageError(f"{folder} has {os.pathsep!r} in its name; give the folder another.")
    modes = tuple(dict.fromkeys(r.mode for r in exported.records))
    settings = Settings(
        backends=(f"{KIND}:{folder}{os.pathsep}{answers}",),
        selection=Selection(modes=modes, case_files=(str(folder / answer_files.CASES),), folders=exported.folders),
        jobs=options["jobs"] if options["jobs"] is not None else cores(),
        convention=options["convention"],
        strict_subnormals=options["strict_subnormals"],
        ledger=options["ledger"],
        out=options["out"],
        quiet=options["quiet"],
    )
    return runner.run(settings)
