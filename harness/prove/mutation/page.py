"""The kill rates: as a table for the terminal, as a summary in JSON, and as Markdown of that summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from opproof.harness.prove.mutation.report import Sorted, rate
from opproof.harness.prove.mutation.trials import Fate
from opproof.reference_ops import load

_INTRODUCTION = """# Mutation

Written by `opproof mutate`. Each mutant is the reference backend with one defect of a kind that real libraries had. It
is killed in a dtype where one of the operator's own cases of that dtype is judged wrong. A mutant whose answers are the
honest ones bit for bit in every case of a dtype is not counted there, but in the last column.
"""

_DECLARED = """# Mutation, where storage is declared

Written by `opproof mutate --declared {declared} --markdown FILE`.

Mutants of the reference backend in 16 bits, judged as the answers of a backend that declares *{declared}* for
every operator: bounds have room for intermediates that are stored in 16 bits, and what is as small as that passes. The
second table counts, of mutants that are no equivalents there, the kinds of which some survive, the largest first; *of*
counts all of that kind, also those that are killed.
"""


#: What is counted of the mutants of a dtype.
_COUNTS = ("mutants", "killed", "equivalent", "survivors", "without_effect")


def summary(result: Sorted) -> dict[str, Any]:
    """Return what the tables say, as it is kept in JSON."""
    scores = {dtype: result.score(dtype=dtype) for dtype in result.dtypes}
    counted = Counter(entry for _, entry in result.equivalent)
    alive = ({"operator": f.op, "dtype": f.dtype, "mutant": f.name, "why": f.why_alive} for f in result.survivors)
    return {
        "dtypes": {dtype: {key: getattr(score, key) for key in _COUNTS} for dtype, score in scores.items()},
        "equivalent": [
            {"operators": [*e.op], "mutant": e.mutant, "dtypes": [*e.dtypes], "mutants": n, "reason": e.reason}
            for e, n in counted.items()
        ],
        "survivors": [*alive],
        "operators": {op: _killed(result, op) for op in result.ops},
    }


def _killed(result: Sorted, op: str) -> dict[str, list[int]]:
    """Return by dtype how many of an operator's mutants are killed, and of how many that are not equivalent."""
    scores = {dtype: result.score(op, dtype) for dtype in result.dtypes}
    return {d: [score.killed, score.mutants - score.equivalent] for d, score in scores.items() if score.mutants}


def _heads(dtypes: Iterable[str]) -> list[str]:
    return ["operator", *(f"{dtype} {column}" for dtype in dtypes for column in ("killed", "rate"))]


def _rows(data: dict[str, Any]) -> list[list[str]]:
    return [[op, *(c for d in data["dtypes"] for c in _cells(by.get(d)))] for op, by in data["operators"].items()]


def _cells(killed: Sequence[int] | None) -> list[str]:
    """Return how many of a dtype's mutants are killed, and the rate; nothing where there are none."""
    if killed is None:
        return ["", ""]
    return [f"{killed[0]} of {killed[1]}", rate(*killed)]


def table(result: Sorted) -> str:
    """Return the kill rate per operator and dtype, for the terminal."""
    from tabulate import tabulate  # type: ignore[import-untyped, unused-ignore]

    data = summary(result)
    heads = _heads(data["dtypes"])
    align = ("left", *("right",) * (len(heads) - 1))
    return str(tabulate(_rows(data), heads, tablefmt="simple", colalign=align, disable_numparse=True))


def markdown_page(result: Sorted) -> str:
    """Return the page of a run."""
    data = summary(result)
    parts = [
        _INTRODUCTION.rstrip(),
        scores_table(data),
        "## Equivalent mutants, whose every answer is right",
        equivalents_table(data),
    ]
    parts += ["## Survivors", survivors_list(data)] * bool(data["survivors"])
    return "\n\n".join([*parts, "## By operator", rates_table(data)]) + "\n"


def scores_table(data: dict[str, Any]) -> str:
    """Return the mutants by dtype, as Markdown."""
    lines = ["| dtype | mutants | killed | equivalent | survive | killed of the others | without effect |"]
    lines += ["| --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for dtype, s in data["dtypes"].items():
        counts = " | ".join(f"{s[key]:,}" for key in _COUNTS[:-1])
        lines.append(
            f"| {dtype} | {counts} | {rate(s['killed'], s['mutants'] - s['equivalent'])} | {s['without_effect']:,} |"
        )
    return "\n".join(lines)


def equivalents_table(data: dict[str, Any]) -> str:
    """Return the mutants whose every answer is right, as Markdown."""
    lines = ["| operators | mutant | dtypes | mutants | reason |", "| --- | --- | --- | ---: | --- |"]
    for entry in data["equivalent"]:
        name, dtypes = entry["mutant"].replace("*", "\\*"), ", ".join(entry["dtypes"]) or "every"
        lines.append(
            f"| {', '.join(entry['operators'])} | {name} | {dtypes} | {entry['mutants']} | {entry['reason']} |"
        )
    return "\n".join(lines)


def survivors_list(data: dict[str, Any]) -> str:
    """Return what survives, as Markdown; nothing where nothing does."""
    return "\n".join(f"- {f['operator']}, {f['dtype']}, {f['mutant']}: {f['why']}" for f in data["survivors"])


def rates_table(data: dict[str, Any]) -> str:
    """Return the kill rate by operator and dtype, as Markdown."""
    heads = _heads(data["dtypes"])
    lines = [f"| {' | '.join(heads)} |", f"| --- |{' ---: |' * (len(heads) - 1)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in _rows(data))])


def declared_page(result: Sorted, declared: str) -> str:
    """Return what survives by its kind, since it is much."""
    lines = [_DECLARED.format(declared=declared), scores_table(summary(result)), ""]
    lines += ["| dtype | mutant | survive | of |", "| --- | --- | ---: | ---: |"]
    alive = Counter((f.dtype, _kind(f)) for f in result.survivors)
    every = alive + Counter((f.dtype, _kind(f)) for f in result.killed)
    for (dtype, kind), count in sorted(alive.items(), key=lambda item: (-item[1], item[0])):
        lines.append(f"| {dtype} | {kind} | {count} | {every[dtype, kind]} |")
    return "\n".join(lines) + "\n"


def _kind(fate: Fate) -> str:
    """Say what a mutant does, without the names of the operator's own tensors and parameters."""
    op = load(fate.op)
    words = fate.mutant.split()
    named = {*op.tensors, *op.params}
    return f"{fate.mode}: " + " ".join("…" if word in named else word for word in words).replace("*", "\\*")
