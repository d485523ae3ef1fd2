"""opproof mutate: does the suite kill mutants of the reference backend?"""

from __future__ import annotations

from pathlib import Path

import click

from opproof.cases._registry import LEVELS


@click.command("mutate")
@click.option("-o", "--op", "names", multiple=True, metavar="OP[,OP...]", help="Only these operators.")
@click.option("--level", type=click.Choice(LEVELS), default="standard", show_default=True)
@click.option("-j", "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes.")
@click.option("--markdown", type=click.Path(path_type=Path), metavar="FILE", help="Write the table there too.")
@click.option("--list", "listed_only", is_flag=True, help="Print every mutant and what killed it.")
def command(*, names: tuple[str, ...], level: str, jobs: int, markdown: Path | None, listed_only: bool) -> int:
    """Run the cases against mutants of the reference backend and print the kill rate per operator.

    Exit status: 0 every survivor is a known equivalent, 1 one is not.
    """
    from tqdm import tqdm

    from opproof.harness.commands.run import listed
    from opproof.harness.prove.mutation.report import EQUIVALENT, markdown_page, read_equivalent, sorted_out, table
    from opproof.harness.prove.mutation.runs import all_fates
    from opproof.harness.run.plan import Selection, operators

    ops = [op.name for op in operators(Selection(ops=listed(names)))]
    every = []
    with tqdm(total=len(ops), unit="operator", disable=None, leave=False) as progress:
        for fates in all_fates(ops, level, jobs):
            every += fates
            progress.update()
    if listed_only:
        for f in every:
            click.echo(f"{f.op} {f.name}: {f.killed_by or ('survives' if f.counts else 'no defect here')}")
    verdict = sorted_out(every, read_equivalent(EQUIVALENT), complete=not names and level == "standard")
    click.echo(table(verdict))
    for fate in verdict.survivors:
        why = f"passes, error up to {fate.units:.2g} units" if fate.shown else "no case shows it"
        click.echo(f"survives: {fate.op} {fate.name} ({why})")
    for entry in verdict.idle:
        click.echo(f"in {EQUIVALENT.name}, but no survivor: {', '.join(entry.op)} {entry.mutant}")
    click.echo(verdict.summary)
    if markdown is not None:
        markdown.write_text(markdown_page(verdict), encoding="utf-8")
    return 1 if verdict.survivors or verdict.idle else 0
