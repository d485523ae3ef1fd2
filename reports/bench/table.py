"""Times as a table for a terminal: speeds, and the share of what the machine can."""

from __future__ import annotations

from opproof.reports._text import format_count, number
from opproof.reports.bench.record import Bench, Time, calculate_attainable

TITLES = ("case", "mode", "backend", "caches", "time", "±", "GB/s", "GFLOP/s", "of roofline", "units", "RMS")


def format_bench(bench: Bench) -> str:
    """The table, what was not measured, and what the machine can."""
    from tabulate import tabulate

    rows = [format_row(t, bench) for t in bench.times if t.interval is not None]
    roof = bench.roofline
    lines = [tabulate(rows, TITLES, tablefmt="simple", disable_numparse=True)] if rows else ["Nothing was measured."]
    lines.append(
        f"This machine: a copy {roof.bytes_per_second / 1e9:.3g} GB/s, {roof.cached_bytes_per_second / 1e9:.3g} within "
        f"caches; a product of matrices {roof.flops_per_second / 1e9:.3g} GFLOP/s (f32)."
    )
    lines += [describe_looked_at(bench)] if describe_looked_at(bench) else []
    left = [t for t in bench.times if t.interval is None]
    lines += [f"not measured: {t.backend} {t.mode} {t.case}: {t.why}" for t in left[:20]]
    if len(left) > 20:
        lines.append(f"and {format_count(len(left) - 20, 'more')}, in bench.json.")
    return "\n".join(lines)


def describe_looked_at(bench: Bench) -> str:
    """How many answers of timed calls were looked at, and what they are; empty where none was."""
    looks, wrong = sum(t.looks for t in bench.times), sum(t.wrong for t in bench.times)
    said = f"those of {format_count(wrong, 'measurement')} are wrong" if wrong else "all right"
    return f"{format_count(looks, 'answer')} of timed calls looked at: {said}." if looks else ""


def format_row(time: Time, bench: Bench) -> tuple[str, ...]:
    """One measured time as words."""
    assert time.interval is not None
    seconds = time.interval.median
    return (
        time.case,
        time.mode,
        f"{time.backend}{' (in C)' if time.in_c else ''}",
        time.caches,
        format_duration(seconds),
        f"{100 * time.interval.half_width:.1f} %",
        number(time.bytes / seconds / 1e9, 3),
        number(time.flops / seconds / 1e9, 3) if time.flops else "",
        f"{100 * calculate_attainable(time, bench.roofline) / seconds:.0f} %",
        "" if time.units is None else f"{time.units:.2g}",
        "" if time.rms is None else f"{time.rms:.2g}",
    )


def format_duration(seconds: float) -> str:
    """Seconds with a unit that fits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
