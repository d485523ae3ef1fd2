"""Commands on cases as files: export them with what is expected, judge the answers that come back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from opproof.harness.cli.options import PATH, choose_cases, selection_of

_SIZE = click.IntRange(min=1, max=2**40)


@click.command("export")
@click.argument("folder", type=PATH, metavar="DIR")
@choose_cases("standard")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another draws all data anew.")
@click.option("--largest", type=_SIZE, default=1024, show_default=True, metavar="KIB", help="KiB that a file may have.")
@click.option("--total", type=_SIZE, default=256, show_default=True, metavar="MIB", help="MiB that all may have.")
def export_command(folder: Path, **options: Any) -> int:
    """Write golden vectors to DIR: a safetensors file for every case, and manifest.json, which says how to read them.

    For simulators, boards and languages that opproof does not start. What they answer, `opproof judge` judges.
    Exit status: 3 where nothing was written.
    """
    from opproof.harness.run.finish import Exit
    from opproof.harness.run.plan import make_tasks, select_cases
    from opproof.harness.vectors.export import export

    selection = selection_of(options, seed=options["seed"])
    planned = make_tasks(("",), select_cases(selection), selection)
    if not planned:
        click.echo(
            "opproof: no case matches; `opproof list cases` with the same options shows what there is.", err=True
        )
        return Exit.NO_EVIDENCE
    made = export(folder, planned, options["largest"] * 2**10, options["total"] * 2**20)
    files = len({r.file for r in made.records})
    click.echo(f"{len(made.records)} records in {files} files: {folder / 'manifest.json'}")
    for reason in dict.fromkeys(r.reason for r in made.left_out):
        click.echo(f"left out: {sum(r.reason == reason for r in made.left_out)} records, since {reason}")
    return Exit.PASSED if made.records else Exit.NO_EVIDENCE


@click.command("judge")
@click.argument("folder", type=PATH, metavar="DIR")
@click.option("--answers", type=PATH, required=True, metavar="ANSWERS", help="The folder of the answers.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Worker processes; all cores by default.")
@click.option("--convention", type=click.Choice(["any", "torch"]), default="any", show_default=True, help="At kinks.")
@click.option("--strict-subnormals", is_flag=True, help="Flushing subnormals to zero fails.")
@click.option("--known", "ledger", type=PATH, metavar="FILE", help="Ledger of known failures (TOML).")
@click.option(
    "--out",
    type=PATH,
    default=Path("opproof-report"),
    show_default=True,
    metavar="DIR",
    help="Where the report goes; to DIR-2 and so on where DIR holds anything but an earlier run of the same call.",
)
@click.option("--quiet", is_flag=True, help="No progress, no table; the failures and the last line only.")
def judge_command(folder: Path, answers: Path, **options: Any) -> int:
    """Judge the ANSWERS to the cases that `opproof export` wrote to DIR, as if a backend had just given them.

    Exit status: as of run.
    """
    import os

    from opproof.core.errors import UsageError
    from opproof.core.system import count_cores
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
        jobs=options["jobs"] if options["jobs"] is not None else count_cores(),
        convention=options["convention"],
        strict_subnormals=options["strict_subnormals"],
        ledger=options["ledger"],
        out=options["out"],
        quiet=options["quiet"],
    )
    return runner.run(settings)
