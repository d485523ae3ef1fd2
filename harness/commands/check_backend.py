"""opproof check-backend: what is wrong with the frames of an exec backend."""

from __future__ import annotations

import click

from opproof.harness.commands._values import SECONDS, finite


@click.command("check-backend")
@click.argument("spec", metavar="exec:COMMAND")
@click.option("--op", default="", metavar="OP", help="Ask for this pointwise operator of one tensor.")
@click.option("--timeout", type=SECONDS, callback=finite, default=10.0, show_default=True, help="Seconds a call.")
def command(*, spec: str, op: str, timeout: float) -> int:
    """Hold a few small dialogues with COMMAND in the exec protocol, and say what is wrong with its answers.

    Exit status: 0 it speaks the protocol, 1 it does not, 2 the call is wrong.
    """
    from opproof.core.errors import UsageError
    from opproof.harness.run.hosts.exec_dialogues import Command, check
    from opproof.reference_ops import load as load_op

    prefix, _, text = spec.partition(":")
    if prefix != "exec":
        raise UsageError(
            f"check-backend is for the exec protocol, got {spec!r}: give exec:COMMAND; "
            f"for other backends, `opproof run -b {spec} --level smoke` says as much."
        )
    if op and load_op(op).tensors != ("x",):
        raise UsageError(f"--op {op} has tensors {', '.join(load_op(op).tensors)}: give an operator of x alone.")
    backend = Command(text, timeout)
    wrong = 0
    try:
        for step in check(backend, op):
            wrong += step.state == "wrong"
            click.echo(f"{step.state:8}  {step.what}: {step.got}" if step.state != "wrong" else _wrong(step))
    finally:
        backend.stop()
    told = f"{wrong} dialogues went wrong; see docs/reference/exec-protocol.md."
    click.echo(told if wrong else "It speaks the protocol.")
    return 1 if wrong else 0


def _wrong(step: object) -> str:
    from opproof.harness.run.hosts.exec_dialogues import Step

    assert isinstance(step, Step)
    return f"wrong     {step.what}\n          expected  {step.expected}\n          got       {step.got}"
