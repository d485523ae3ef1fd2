"""opproof capture: the operators that a PyTorch program runs, as a file of cases."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("capture", context_settings={"ignore_unknown_options": True})
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, metavar="FILE", help="The file of cases.")
@click.option(
    "--data", is_flag=True, help="Keep the data of each case's first call too, in FILE's name with .safetensors."
)
@click.argument("script", type=click.Path(path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(*, out: Path, data: bool, script: Path, arguments: tuple[str, ...]) -> int:
    """Run SCRIPT, a Python program that uses PyTorch, and write what it called to FILE.

    `opproof run -b mine --cases FILE` then judges a backend by exactly these shapes.
    """
    from opproof.harness.capture.program import run

    calls = run(script, arguments, out, data=data)
    total = sum(c.calls for c in calls.cases.values())
    click.echo(f"{out}: {len(calls.cases)} cases of {total} calls; next: opproof run -b BACKEND --cases {out}")
    if calls.unmapped:
        rest = ", ".join(f"{name} ({n})" for name, n in calls.unmapped.most_common())
        click.echo(f"not operators of opproof, or not as they were called: {rest}")
    return 0
