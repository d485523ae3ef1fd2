"""Commands that test opproof itself: selfcheck holds references against each other, mutate counts killed mutants."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opproof.cases._registry import LEVELS
from opproof.core.errors import UsageError
from opproof.core.text import dump_json
from opproof.harness.cli.options import Choice, split_values

if TYPE_CHECKING:
    from opproof.harness.selftest.mutation.report import SortedFates
    from opproof.harness.selftest.mutation.trials import Fate


@click.command("selfcheck")
@click.option("-o", "--op", "names", multiple=True, metavar="OP[,OP...]", help="Only these operators.")
@click.option("--level", type=Choice(LEVELS), default="standard", show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--ops", "folders", multiple=True, metavar="DIR", help="Operators of your own.")
def selfcheck_command(*, names: tuple[str, ...], level: str, seed: int, folders: tuple[str, ...]) -> int:
    """Compare NumPy with PyTorch, and each vjp with autograd, finite differences and the complex step.

    Exit status: 0 all agree, 1 some do not.
    """
    from tqdm import tqdm

    from opproof.core.errors import UsageError
    from opproof.harness.run.plan import Selection, select_cases, select_operators
    from opproof.harness.selftest.selfcheck import cases_to_check, check

    try:
        import torch
    except ImportError:
        raise UsageError("selfcheck needs PyTorch, which is not installed; pip install 'opproof[torch]'.") from None
    torch.set_num_threads(1)
    selection = Selection(ops=split_values(names), level=level, folders=folders)
    ops = {op.name: op for op in select_operators(selection)}
    chosen = cases_to_check([c.with_seed(seed) for c in select_cases(selection)])
    disagreements = []
    for case in tqdm(chosen, unit="case", disable=None, leave=False):
        disagreements += check(case, ops[case.op], torch)
    for d in disagreements:
        click.echo(f"{d.check}: {d.case}\n  {d.message}")
    click.echo(f"selfcheck: {len(ops)} operators, {len(chosen)} cases, {len(disagreements)} disagreements")
    return 1 if disagreements else 0


@click.command("mutate")
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
    from tqdm import tqdm

    from opproof.harness.run.plan import Selection, select_operators
    from opproof.harness.selftest.mutation.report import (
        EQUIVALENT,
        make_summary,
        read_equivalent,
        render_declared_page,
        render_markdown_page,
        render_table,
        sort_fates,
    )
    from opproof.harness.selftest.mutation.trials import JUDGED, NARROW, TYPED, run_operators

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
