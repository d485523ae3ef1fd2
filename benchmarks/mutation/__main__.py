"""Run the cases against mutants of the reference backend and print the kill rate per operator and dtype.

    python benchmarks/mutation [-o relu,gelu] [--dtype i8,i16] [--declared storage] [-j 2] [--list]

The pages on mutation are made of what --json writes: docs/data/mutation.json of a run without --dtype,
docs/data/mutation-typed.json of one with the dtypes that the page names.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import click
from tqdm import tqdm

from opproof.cases._registry import LEVELS
from opproof.core.errors import BadInput, UsageError
from opproof.core.text import dump_json
from opproof.harness.cli.options import Choice, split_values
from opproof.harness.run.plan import Selection, select_operators

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from mutation.report import (
    EQUIVALENT,
    SortedFates,
    make_summary,
    read_equivalent,
    render_declared_page,
    render_markdown_page,
    render_table,
    sort_fates,
)
from mutation.trials import JUDGED, NARROW, TYPED, Fate, run_operators


@click.command()
@click.option("-o", "--op", "names", multiple=True, metavar="OP[,OP...]", help="Only these operators.")
@click.option("--dtype", "dtypes", multiple=True, metavar="f32,i8,...", help="These in place of f32, f16 and bf16.")
@click.option(
    "--declared", type=Choice(("storage",)), metavar="storage", help="Judge as a backend that declares this; 16 bits."
)
@click.option("--level", type=Choice(LEVELS), default="standard", show_default=True)
@click.option("-j", "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes.")
@click.option("--markdown", type=click.Path(path_type=Path), metavar="FILE", help="Write the table there too.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), metavar="FILE", help="Write the counts there.")
@click.option("--list", "listed_only", is_flag=True, help="Print every mutant and what killed it.")
def mutate_command(
    *,
    names: tuple[str, ...],
    dtypes: tuple[str, ...],
    declared: str | None,
    level: str,
    jobs: int,
    markdown: Path | None,
    json_file: Path | None,
    listed_only: bool,
) -> int:
    """Run the cases against mutants of the reference backend and print the kill rate per operator and dtype.

    Exit status: 0 every survivor is a known equivalent, 1 one is not. With --declared it is 0: what is declared allows
    many, and the page counts which.
    """
    chosen = split_values(dtypes) or (NARROW if declared else JUDGED)
    for dtype in chosen:
        if dtype not in (*JUDGED, *TYPED):
            raise UsageError(f"unknown dtype {dtype!r}: mutants are judged in {', '.join((*JUDGED, *TYPED))}.")
    ops = [op.name for op in select_operators(Selection(ops=split_values(names)))]
    every = []
    with tqdm(total=len(ops), unit="operator", disable=None, leave=False) as progress:
        for fates in run_operators(ops, level, jobs, chosen, declared):
            every += fates
            progress.update()
    if listed_only:
        _print_fates(every)
    complete = not names and not dtypes and level == "standard" and declared is None
    verdict = sort_fates(every, read_equivalent(EQUIVALENT), complete=complete)
    click.echo(render_table(verdict))
    _print_survivors(verdict, EQUIVALENT.name)
    if markdown is not None:
        page = render_markdown_page(verdict) if declared is None else render_declared_page(verdict, declared)
        markdown.write_text(page, encoding="utf-8")
    if json_file is not None:
        json_file.write_text(dump_json(make_summary(verdict)), encoding="utf-8")
    if declared is not None:
        return 0
    return 1 if verdict.survivors or verdict.idle else 0


def _print_fates(fates: Iterable[Fate]) -> None:
    """Print every mutant and what killed it."""
    for f in fates:
        fate = f.killed_by or ("survives" if f.counts else "changes no answer")
        click.echo(f"{f.op} {f.dtype} {f.name}: {fate}")


def _print_survivors(verdict: SortedFates, listed_in: str) -> None:
    """Print the survivors, the entries of a list of equivalents that are none, and the summary."""
    for f in verdict.survivors:
        click.echo(f"survives: {f.op} {f.dtype} {f.name} ({f.why_alive})")
    for entry in verdict.idle:
        click.echo(f"in {listed_in}, but no survivor: {', '.join(entry.op)} {entry.mutant}")
    for line in verdict.summary:
        click.echo(line)


if __name__ == "__main__":
    try:
        sys.exit(mutate_command(standalone_mode=False))
    except (BadInput, click.ClickException) as error:
        sys.exit(f"mutation: {error}")
