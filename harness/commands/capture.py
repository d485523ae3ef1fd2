"""opproof capture: the operators that a PyTorch program runs, or an ONNX model holds, as a file of cases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from opproof.core.errors import UsageError

if TYPE_CHECKING:
    from opproof.harness.capture.recorder import Calls


@click.command("capture", context_settings={"ignore_unknown_options": True})
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, metavar="FILE", help="The file of cases.")
@click.option("--data", is_flag=True, help="Keep the data of each case's first call too, beside FILE, in .safetensors.")
@click.option(
    "--from", "model", type=click.Path(path_type=Path), metavar="MODEL", help="An ONNX model, which is not run."
)
@click.option("--dim", "dims", multiple=True, metavar="NAME=N", help="The length of an axis that MODEL names, 1 else.")
@click.argument("script", type=click.Path(path_type=Path), required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(
    *, out: Path, data: bool, model: Path | None, dims: tuple[str, ...], script: Path | None, arguments: tuple[str, ...]
) -> int:
    """Run SCRIPT, a Python program that uses PyTorch, and write what it called to FILE.

    `opproof run -b mine --cases FILE` then judges a backend by exactly these shapes.
    """
    from opproof.harness.capture import program

    if (script is None) == (model is None):
        raise UsageError("opproof capture takes a script to run, or --from MODEL: give one of them.")
    if script is not None:
        if dims:
            raise UsageError("--dim is for --from MODEL: a script says its shapes itself.")
        calls = program.run(script, arguments, out, data=data)
    else:
        if data:
            raise UsageError("--data is for a script: of an ONNX model nothing is run.")
        assert model is not None
        calls, ones = program.of_model(model, dict(map(_dim, dims)), out)
        if ones:
            click.echo(f"taken to be 1 long, for want of --dim: {', '.join(ones)}")
    _tell(calls, out)
    return 0


def _dim(text: str) -> tuple[str, int]:
    name, _, length = text.rpartition("=")
    if not name or not length.isdecimal():
        raise UsageError(f"--dim {text!r}: expected NAME=N, as in --dim batch=8.")
    return name, int(length)


def _tell(calls: Calls, out: Path) -> None:
    total = sum(c.calls for c in calls.cases.values())
    click.echo(f"{out}: {len(calls.cases)} cases of {total} calls; next: opproof run -b BACKEND --cases {out}")
    if calls.unmapped:
        rest = ", ".join(f"{name} ({n})" for name, n in calls.unmapped.most_common())
        click.echo(f"not operators of opproof, or not as they were called: {rest}")
