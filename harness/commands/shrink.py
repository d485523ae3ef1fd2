"""opproof shrink: the smallest case that fails as a failing case does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from opproof.core.errors import UsageError
from opproof.harness.commands._values import MEBIBYTES, SECONDS, finite
from opproof.harness.run.task import HOST_MEMORY, TIMEOUT
from opproof.reports import Result


@click.command("shrink")
@click.argument("case")
@click.option("-b", "--backend", required=True, help="Name, ./file.py or ./library.so.")
@click.option("--mode", type=click.Choice(["forward", "gradient"]), help="The first that fails by default.")
@click.option("--ops", "folders", multiple=True, metavar="DIR", help="Operators of your own.")
@click.option("--timeout", type=SECONDS, callback=finite, default=TIMEOUT, show_default=True, help="Seconds.")
@click.option("--memory", type=MEBIBYTES, default=HOST_MEMORY // 2**20, show_default=True, help="MiB.")
@click.option("--convention", type=click.Choice(["any", "torch"]), default="any", show_default=True, help="At kinks.")
@click.option("--strict-subnormals", is_flag=True, help="Flushing subnormals to zero fails.")
def command(
    *,
    case: str,
    backend: str,
    mode: str | None,
    folders: tuple[str, ...],
    timeout: float,
    memory: int,
    convention: str,
    strict_subnormals: bool,
) -> None:
    """Reduce CASE, which fails on a backend, to the smallest case that still fails with the same verdict.

    Exit status: 0 a failing case was shrunk (or is as small as it gets), 2 the call is wrong or the case passes.
    """
    from opproof.cases import Case
    from opproof.core.verdicts import FAILED, MODES
    from opproof.harness.repro.shrink import shrink
    from opproof.harness.run.plan import Selection, checked, is_asked, operators
    from opproof.harness.run.scheduler import Pool
    from opproof.harness.run.task import Limits, Task

    given = checked(Case.parse(case), folders)
    op = operators(Selection(ops=(given.op,), folders=folders))[0]
    options: dict[str, Any] = {
        "strict_subnormals": strict_subnormals,
        "convention": convention,
        "ops": tuple(str(Path(f).resolve()) for f in folders),
        "memory": memory * 2**20,
        "timeout": timeout,
    }
    with Pool(Limits(1, timeout, memory * 2**20)) as pool:
        pool.describe(backend)

        def result(candidate: Case, mode: str) -> Result:
            task = Task(backend, str(candidate), mode, **options)
            *_, last = pool.run([task])  # what comes before it are earlier tasks, told of again
            return last

        modes = [m for m in ((mode,) if mode else MODES) if is_asked(given, op, m)]
        first = next((r for r in (result(given, m) for m in modes) if r.verdict in FAILED), None)
        if first is None:
            raise UsageError(f"{given} does not fail on {backend} ({' and '.join(modes)}): there is nothing to shrink.")
        last = first

        def fails(candidate: Case) -> bool:
            nonlocal last
            record = result(candidate, first.mode)
            if record.verdict == first.verdict:
                last = record
            return record.verdict == first.verdict

        shrunk = shrink(given, op, fails)
    click.echo(_text(first, last, shrunk.tried, shrunk.invalid))


def _text(first: Result, last: Result, tried: int, invalid: int) -> str:
    lines = [last.case if last.case != first.case else f"{last.case} is as small as it gets"]
    lines.append(
        f"  {last.verdict} ({last.mode}), as {first.case}"
        if last.case != first.case
        else f"  {last.verdict} ({last.mode})"
    )
    if last.worst is not None:
        w = last.worst
        at = f"[{', '.join(map(str, w.index))}]" if w.index else ""
        lines.append(f"  worst: {w.tensor}{at} got {w.got}, expected {w.expected} within {w.bound}")
    lines += [f"  {said}" for said in (last.message, last.diagnosis) if said]
    lines.append(f"  {tried} candidates tried, {invalid} more were no case of this operator")
    return "\n".join([*lines, f"  {last.repro}"])
