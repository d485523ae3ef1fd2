"""opproof show: what a case holds and what is expected of a backend."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("show")
@click.argument("case")
@click.option("--npz", type=click.Path(path_type=Path), metavar="FILE", help="Write all arrays to FILE.")
@click.option("--ops", "folders", multiple=True, metavar="DIR", help="Operators of your own.")
def command(*, case: str, npz: Path | None, folders: tuple[str, ...]) -> None:
    """Show CASE: inputs, expected values and gradients, and the bound of every element."""
    import numpy as np

    from opproof.cases import Case
    from opproof.harness.explain.show import arrays_of, domain_of
    from opproof.harness.run.plan import checked
    from opproof.vocabulary.errors import UsageError

    parsed = checked(Case.parse(case), folders)
    arrays = arrays_of(parsed, folders)
    if npz is not None:
        try:
            np.savez(npz, **arrays)  # type: ignore[arg-type]
        except OSError as error:
            raise UsageError(f"cannot write {npz}: {error.strerror or error}; give another file with --npz.") from None
    click.echo("\n".join([str(parsed), *domain_of(parsed, folders)]))
    with np.printoptions(precision=6, threshold=40, edgeitems=3, linewidth=110):
        for name, array in arrays.items():
            click.echo(f"\n{name}  shape {array.shape}  {array.dtype}\n{array}")
    if npz is not None:
        click.echo(f"\nwritten to {npz}")
