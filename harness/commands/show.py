"""opproof show: what a case holds and what is expected of a backend."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("show")
@click.argument("case")
@click.option("--mode", type=click.Choice(["forward", "gradient"]), help="Whose data: the gradient's where it has one.")
@click.option("--npz", type=click.Path(path_type=Path), metavar="FILE", help="Write all arrays to FILE.")
@click.option("--ops", "folders", multiple=True, metavar="DIR", help="Operators of your own.")
def command(*, case: str, mode: str | None, npz: Path | None, folders: tuple[str, ...]) -> None:
    """Show CASE: inputs, expected values and gradients, and the bound of every element.

    The two modes of some operators have data of their own; a record's are those of its mode.
    """
    import numpy as np

    from opproof.cases import Case
    from opproof.core.errors import UsageError
    from opproof.harness.explain.show import arrays_of, domain_of, mode_of
    from opproof.harness.run.plan import checked

    parsed = checked(Case.parse(case), folders)
    shown = mode_of(parsed, folders, mode)
    arrays = arrays_of(parsed, folders, shown)
    if npz is not None:
        try:
            np.savez(npz, **arrays)  # type: ignore[arg-type]
        except OSError as error:
            raise UsageError(f"cannot write {npz}: {error.strerror or error}; give another file with --npz.") from None
    click.echo("\n".join([f"{parsed}  {shown}", *domain_of(parsed, folders)]))
    with np.printoptions(precision=6, threshold=40, edgeitems=3, linewidth=110):
        for name, array in arrays.items():
            click.echo(f"\n{name}  shape {array.shape}  {array.dtype}\n{array}")
    if npz is not None:
        click.echo(f"\nwritten to {npz}")
