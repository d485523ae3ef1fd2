"""opproof header: where opproof.h is, for a compiler's -I."""

from __future__ import annotations

import click


@click.command("header")
def command() -> None:
    """Print the path of opproof.h: cc -I"$(dirname "$(opproof header)")" ..."""
    from importlib.util import find_spec
    from pathlib import Path

    spec = find_spec("opproof.backends")
    assert spec is not None
    assert spec.origin is not None
    click.echo(Path(spec.origin).parent / "opproof.h")
