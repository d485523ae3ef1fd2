"""The command audit: plant defects in a function, and see which of them its tests see."""

from __future__ import annotations

import click

from opproof.core.errors import UsageError
from opproof.harness.cli.options import parse_duration


@click.command("audit")
@click.option("--kernel", required=True, metavar="MODULE:FUNCTION", help="What the tests test; a class by its name.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Runs at once; all cores by default.")
@click.option("--for", "seconds", default="10m", show_default=True, callback=parse_duration, metavar="TIME")
@click.option("--only", multiple=True, metavar="DEFECT", help="Plant this one, by the report's name of it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document, with the test that kills each.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- pytest TESTS...")
def audit_command(
    *, kernel: str, jobs: int | None, seconds: float, only: tuple[str, ...], as_json: bool, command: tuple[str, ...]
) -> int:
    """Run tests of yours with one planted defect after another in the function that they test.

    Says which defects survive, and of each a line of a test that would kill it. Nothing of yours is changed.

    Exit status: 0 all are killed, 1 some survive, 2 the call is wrong, or tests fail without a defect, 3 the time was
    too short.
    """
    from opproof.core.system import count_cores
    from opproof.harness.audit.run import run_audit
    from opproof.harness.run.finish import Exit
    from opproof.reports.audit import Fate

    if not seconds:
        raise UsageError("--for takes a time, such as 10m.")
    report = run_audit(kernel, command, jobs or count_cores(), seconds, only)
    click.echo(report.to_json() if as_json else str(report))
    if report.select(Fate.SURVIVES):
        return int(Exit.FAILED)
    return int(Exit.PASSED if report.select(Fate.KILLED) and not report.select(Fate.NOT_TRIED) else Exit.NO_EVIDENCE)
