"""The command line: `opproof`, also `python -m opproof.harness`. The files of the commands are in cli/."""

from __future__ import annotations

import gc
import importlib
import sys
from typing import Any

import click

from opproof.core.errors import BadInput, Stopped, suggest
from opproof.harness import __version__

COMMANDS = {
    "run": "Validate backends and leave a report.",
    "list": "List operators, cases, models or backends.",
    "capture": "Make cases of what a PyTorch program or an ONNX model calls.",
    "drift": "Find the operator of a model that a backend gets wrong.",
    "show": "Show a case: inputs, expected values and gradients, bound.",
    "shrink": "Reduce a failing case to the smallest that fails alike.",
    "report": "Render the results of a run again.",
    "compare": "Compare a run with a baseline: what is worse, what is better.",
    "baseline": "Keep baselines as small files in git.",
    "bench": "Time what passes, several backends side by side.",
    "history": "Keep runs as small files, with a page and a badge.",
    "merge": "Join the shards of a run.",
    "cache": "Look after what is kept of cases from run to run.",
    "export": "Write cases and what is expected of them as files.",
    "judge": "Judge answers that come back as files.",
    "verify": "Check a certificate, and run a part of it again.",
    "known": "Check that a ledger of known failures is as narrow as they are.",
    "check": "Judge a file of yours by PyTorch code in another.",
    "check-backend": "Tell what is wrong with the frames of an exec backend.",
    "init": "Write a backend to begin with: one operator and its test.",
    "skill": "Print what a coding agent has to know, as a skill.",
    "header": "Print the path of opproof.h.",
    "selfcheck": "Let the references prove each other.",
    "tolerance": "Measure the least atol and rtol that right kernels keep.",
    "audit": "Plant defects in a function: which of them do your tests miss?",
    "precision": "Measure which lower precision a backend has to declare, and write it.",
}

#: Files of cli/ that hold several commands, by command; any other command has a file of its name.
_FILES = {
    **dict.fromkeys(("show", "shrink", "export", "judge"), "repro"),
    **dict.fromkeys(("report", "merge", "cache"), "report"),
    "tolerance": "bench",
    **dict.fromkeys(("compare", "baseline", "history"), "compare"),
    **dict.fromkeys(("check", "audit", "capture", "drift"), "check"),
    **dict.fromkeys(("init", "skill", "header", "check-backend", "precision", "selfcheck"), "backend"),
}


class _Lazy(click.Group):
    """Commands are imported when called, so that `--help` costs nothing."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        module = importlib.import_module(f"opproof.harness.cli.{_FILES.get(cmd_name, name)}")
        command: click.Command = getattr(module, f"{name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            raise click.UsageError(f"there is no command {args[0]!r}{suggest(args[0], COMMANDS)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="opproof")
def cli() -> None:
    """opproof: is my backend right? Validates tensor operators, values and gradients."""


def main(args: list[str] | None = None) -> None:
    """Run the command line and exit with its status: 2 for a wrong call, 128 and a signal's number for a stop."""
    if sys.platform == "win32":
        click.echo("opproof: it guards memory as POSIX systems do, and Windows has none of that: use WSL.", err=True)
        sys.exit(2)
    try:
        status: Any = cli.main(args=args, prog_name="opproof", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("opproof: interrupted.", err=True)
        sys.exit(130)
    except Stopped as stop:
        click.echo(f"opproof: {stop}", err=True)
        sys.exit(stop.status)
    except BadInput as error:
        click.echo(f"opproof: {error}", err=True)
        sys.exit(2)
    if args is None:
        gc.freeze()  # at its end Python would look through all that there is once more
    sys.exit(status if isinstance(status, int) else 0)


if __name__ == "__main__":
    main()
