"""Commands that measure: bench, how fast backends are where they are right; tolerance, how far off right ones are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from opproof.core.errors import UsageError
from opproof.core.verdicts import Mode
from opproof.harness.cli.options import PATH, SECONDS, Choice, choose_cases, selection_of
from opproof.reports.tolerance import CODE, NmseLimit, Tolerance, describe_tolerance, render_tolerance
from opproof.reports.tolerance_chart import render_tolerance_chart

if TYPE_CHECKING:
    from opproof.harness.precision.tolerance import DrawnResult


@click.command("bench")
@click.option("-b", "--backend", "backends", multiple=True, required=True, help="As of run; several are interleaved.")
@choose_cases("smoke")
@click.option("--caches", type=click.Choice(["warm", "cold", "both"]), default="both", show_default=True)
@click.option(
    "--width",
    type=click.FloatRange(0.1, 50),
    default=2.0,
    show_default=True,
    metavar="PERCENT",
    help="Measure until the interval is that narrow.",
)
@click.option("--budget", type=SECONDS, default=2.0, show_default=True, help="Seconds of calls, of a case.")
@click.option("--timeout", type=SECONDS, default=60.0, show_default=True, help="Seconds of a block.")
@click.option("--out", type=PATH, default=Path("opproof-bench"), show_default=True, metavar="DIR")
def bench_command(**options: Any) -> int:
    """Time what passes: medians and intervals, GB/s, GFLOP/s and their share of this machine's roofline.

    Leaves bench.json and bench.html in --out; `opproof compare OLD NEW` tells what is slower. Exit status: 1 a timed
    call answered wrong; 3 nothing was measured.
    """
    import msgspec
    from tqdm import tqdm

    from opproof.core.system import HOST_MEMORY
    from opproof.harness.bench.bench import Plan, bench_of, measure_roofline, measure_times
    from opproof.harness.bench.measure import Effort
    from opproof.harness.run.finish import Exit
    from opproof.harness.run.plan import make_tasks, select_cases
    from opproof.harness.run.task import HostLimits
    from opproof.reports.bench import FILE, page, record, table
    from opproof.reports.files import write

    foreign = [b for b in options["backends"] if b.startswith(("exec:", "answers:"))]
    if foreign:
        raise UsageError(f"{foreign[0]} cannot be timed: its calls are messages to another process.")
    selection = selection_of(options)
    selected = [c for c in select_cases(selection) if not c.destinations]
    place = {str(c): i for i, c in enumerate(selected)}
    planned = make_tasks(tuple(dict.fromkeys(options["backends"])), selected, selection)
    planned.sort(key=lambda t: (place[t.case], t.mode))  # all backends at a case and mode
    chosen = ("warm", "cold") if options["caches"] == "both" else (options["caches"],)
    roof = measure_roofline()
    plan = Plan(
        planned,
        tuple(map(record.Caches, chosen)),
        Effort(width=options["width"] / 100, budget=options["budget"]),
        HostLimits(1, options["timeout"], HOST_MEMORY),
        roof,
    )
    with tqdm(total=len(planned), unit="case", disable=None, leave=False) as bar:
        found = measure_times(plan, lambda time: bar.set_postfix_str(f"{time.op} {time.backend}"))
    bench = bench_of(roof, found)
    write(options["out"] / FILE, msgspec.json.format(msgspec.json.encode(bench), indent=1).decode() + "\n")
    write(options["out"] / "bench.html", page.render(bench))
    click.echo(table.format_bench(bench))
    click.echo(options["out"] / "bench.html")
    if any(t.wrong for t in found):
        return Exit.FAILED
    return Exit.PASSED if any(t.interval is not None for t in found) else Exit.NO_EVIDENCE


#: Precisions below float32 that right kernels may compute in: see `opproof check --compute`.
COMPUTED = ("storage", "tf32", "f16", "bf16")


@click.command("tolerance")
@click.argument("cases", nargs=-1, required=True, metavar="CASE|FILE...")
@click.option("--mode", type=Choice(("forward", "gradient")), default="forward", show_default=True)
@click.option("--draws", type=click.IntRange(1, 1000), default=8, show_default=True, help="Of the data.")
@click.option("--dtype", default=None, metavar="f32|f16|bf16", help="Of the floats of FILE.")
@click.option("--compute", type=Choice(COMPUTED), default=None, help="A lower precision that right kernels have.")
@click.option("--kernel", default="", metavar="BACKEND", help="The least for this one's kernel, not for any right one.")
@click.option("--rtol", type=click.FloatRange(min=0), default=None, help="Judge this tolerance, not the least.")
@click.option("--atol", type=click.FloatRange(min=0), default=None, help="Judge this tolerance, not the least.")
@click.option("--nmse", type=click.FloatRange(min=0, min_open=True), default=None, help="Judge this limit, as ggml's.")
@click.option("--code", type=Choice(tuple(CODE)), default=None, help="Print it as this one's tests have it.")
@click.option("--chart", type=PATH, default=None, help="Draw it, as an SVG.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.option("--ops", "folders", multiple=True, metavar="DIR", help="Operators of your own.")
def tolerance_command(
    *, cases: tuple[str, ...], mode: str, draws: int, dtype: str | None, compute: str | None, kernel: str,
    rtol: float | None, atol: float | None, nmse: float | None, code: str | None, chart: Path | None,
    as_json: bool, folders: tuple[str, ...],
) -> int:  # fmt: skip
    """Measure the least tolerance that right kernels keep, and say what is wrong and passes under it.

    FILE is a Python file with reference(*tensors) and inputs(seed, dtype), as `opproof check` takes it.
    With --rtol and --atol, or --nmse: whether that tolerance rejects right kernels, and what passes under it.
    """
    from opproof.harness.precision.tolerance import measure_tolerances

    pair = None if rtol is None and atol is None else Tolerance(atol or 0.0, rtol or 0.0)
    if nmse is not None and (pair or code):
        raise UsageError("--nmse judges a limit for the whole array: give it without --rtol, --atol and --code.")
    given = pair if nmse is None else NmseLimit(nmse)
    measured = []
    for text in cases:
        how = (Mode(mode), draws, dtype, compute, kernel)
        drawn = _draw_of_file(Path(text), *how) if text.endswith(".py") else _draw_of_case(text, *how, folders)
        try:
            reports = measure_tolerances(drawn, given)
        except UsageError as error:
            raise UsageError(f"{text}, {mode}: {error}") from None
        measured += [(text, report) for report in reports]
        if not as_json:
            click.echo("\n".join((f"{text}  {mode}", *(render_tolerance(report, code, kernel) for report in reports))))
    if as_json:
        click.echo(json.dumps([describe_tolerance(text, mode, report) for text, report in measured]))
    if chart is not None:
        chart.write_text(render_tolerance_chart(measured), encoding="utf-8")
    return 0


def _draw_of_file(
    file: Path, mode: Mode, draws: int, dtype: str | None, compute: str | None, kernel: str
) -> Iterator[DrawnResult]:
    from opproof.harness.check.api import draw_results_of
    from opproof.harness.check.call.isolated import load_pair

    if kernel not in ("", "torch"):
        raise UsageError(
            f"--kernel {kernel}: of a file it is torch, which computes what stands there; or leave it out."
        )
    sides = load_pair(file, None, 0)
    if not callable(sides.reference) or sides.inputs is None:
        raise UsageError(f"{file} has no reference of PyTorch with inputs: a tolerance needs both.")
    return draw_results_of(sides.reference, sides.inputs, mode, draws, dtype, compute, eager=bool(kernel))


def _draw_of_case(
    text: str, mode: Mode, draws: int, dtype: str | None, compute: str | None, kernel: str, folders: tuple[str, ...]
) -> Iterator[DrawnResult]:
    from opproof.cases import Case
    from opproof.harness.precision.tolerance import draw_results
    from opproof.harness.reference.valid_case import check_case, op_of

    if dtype is not None:
        raise UsageError(f"--dtype is for a file: of the case {text} it stands in its id.")
    case = check_case(Case.parse(text), folders)
    return draw_results(case, op_of(case.op, folders), mode, draws, compute, kernel)
