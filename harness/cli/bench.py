"""opproof bench: how fast backends are where they are right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from opproof.harness.cli.options import PATH, SECONDS, choose_cases, selection_of


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

    from opproof.core.errors import UsageError
    from opproof.core.system import HOST_MEMORY
    from opproof.harness.bench.bench import Plan, bench_of, measure_times
    from opproof.harness.bench.cost import measure_roofline
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
