"""The command selfcheck, which holds references against each other."""

from __future__ import annotations

import click

from opproof.cases._registry import LEVELS
from opproof.harness.cli.options import Choice, split_values


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
