"""opproof selfcheck: the references prove each other."""

from __future__ import annotations

import click

from opproof.cases._registry import LEVELS
from opproof.harness.commands._values import Choice, listed


@click.command("selfcheck")
@click.option("-o", "--op", "names", multiple=True, metavar="OP[,OP...]", help="Only these operators.")
@click.option("--level", type=Choice(LEVELS), default="standard", show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--ops", "folders", multiple=True, metavar="DIR", help="Operators of your own.")
def command(*, names: tuple[str, ...], level: str, seed: int, folders: tuple[str, ...]) -> int:
    """Compare NumPy with PyTorch, and each vjp with autograd, finite differences and the complex step.

    Exit status: 0 all agree, 1 some do not.
    """
    from tqdm import tqdm

    from opproof.core.errors import UsageError
    from opproof.harness.run.plan import Selection, cases, operators
    from opproof.harness.selftest.selfcheck import cases_to_check, check

    try:
        import torch
    except ImportError:
        raise UsageError("selfcheck needs PyTorch, which is not installed; pip install 'opproof[torch]'.") from None
    torch.set_num_threads(1)
    selection = Selection(ops=listed(names), level=level, folders=folders)
    ops = {op.name: op for op in operators(selection)}
    chosen = cases_to_check([c.with_seed(seed) for c in cases(selection)])
    disagreements = []
    for case in tqdm(chosen, unit="case", disable=None, leave=False):
        disagreements += check(case, ops[case.op], torch)
    for d in disagreements:
        click.echo(f"{d.check}: {d.case}\n  {d.message}")
    click.echo(f"selfcheck: {len(ops)} operators, {len(chosen)} cases, {len(disagreements)} disagreements")
    return 1 if disagreements else 0
