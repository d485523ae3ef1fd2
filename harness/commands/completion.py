"""opproof completion: what makes a shell complete commands, options, backends, operators and dtypes."""

from __future__ import annotations

import click

from opproof.harness.commands._values import Choice

_HOW = {
    "bash": 'eval "$(opproof completion bash)" in ~/.bashrc',
    "zsh": 'eval "$(opproof completion zsh)" in ~/.zshrc',
    "fish": "opproof completion fish > ~/.config/fish/completions/opproof.fish",
}


@click.command("completion", epilog="; ".join(_HOW.values()))
@click.argument("shell", type=Choice(list(_HOW)))
def command(*, shell: str) -> None:
    """Print the script that a shell reads."""
    from click.shell_completion import BashComplete, FishComplete, ZshComplete

    from opproof.harness.__main__ import cli

    kinds = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
    script = kinds[shell](cli, {}, "opproof", "_OPPROOF_COMPLETE").source_vars()
    click.echo(kinds[shell].source_template % script)
