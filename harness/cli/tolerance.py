"""The command tolerance: the least atol and rtol that right kernels keep, and what passes under them."""

from __future__ import annotations

import json

import click

from opproof.core.verdicts import Mode
from opproof.harness.cli.options import Choice
from opproof.reports.tolerance import CODE, Tolerance, describe_tolerance, render_tolerance

#: Precisions below float32 that right kernels may compute in: see `opproof check --compute`.
COMPUTED = ("storage", "tf32", "f16", "bf16")


@click.command("tolerance")
@click.argument("cases", nargs=-1, required=True, metavar="CASE...")
@click.option("--mode", type=Choice(("forward", "gradient")), default="forward", show_default=True)
@click.option("--draws", type=click.IntRange(1, 1000), default=8, show_default=True, help="Of the data.")
@click.option("--compute", type=Choice(COMPUTED), default=None, help="A lower precision that right kernels have.")
@click.option("--kernel", default="", metavar="BACKEND", help="The least for this one's kernel, not for any right one.")
@click.option("--rtol", type=click.FloatRange(min=0), default=None, help="Judge this tolerance, not the least.")
@click.option("--atol", type=click.FloatRange(min=0), default=None, help="Judge this tolerance, not the least.")
@click.option("--code", type=Choice(tuple(CODE)), default=None, help="Print it as this one's tests have it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.option("--ops", "folders", multiple=True, metavar="DIR", help="Operators of your own.")
def tolerance_command(
    *, cases: tuple[str, ...], mode: str, draws: int, compute: str | None, kernel: str, rtol: float | None,
    atol: float | None, code: str | None, as_json: bool, folders: tuple[str, ...],
) -> int:  # fmt: skip
    """Measure the least tolerance that right kernels keep, and say what is wrong and passes under it.

    With --rtol and --atol: whether that tolerance rejects right kernels, and what passes under it.
    """
    from opproof.cases import Case
    from opproof.harness.precision.tolerance import measure_tolerances
    from opproof.harness.reference.valid_case import check_case, op_of

    given = None if rtol is None and atol is None else Tolerance(atol or 0.0, rtol or 0.0)
    documents = []
    for text in cases:
        case = check_case(Case.parse(text), folders)
        reports = measure_tolerances(case, op_of(case.op, folders), Mode(mode), draws, compute, given, kernel)
        documents += [{"case": text, "mode": mode, **describe_tolerance(report)} for report in reports]
        if not as_json:
            click.echo("\n".join((f"{text}  {mode}", *(render_tolerance(report, code, kernel) for report in reports))))
    if as_json:
        click.echo(json.dumps(documents))
    return 0
