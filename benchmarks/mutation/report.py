"""Fates of mutants, counted: kill rates per dtype and operator, survivors, as a table, as JSON and as Markdown."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutation.trials import JUDGED, TYPED, Fate
from opproof.harness.known_failures.known import read_entries
from opproof.reference_ops import load

#: The mutants that are no defects, and why.
EQUIVALENT = Path(__file__).with_name("equivalent.toml")


@dataclass(frozen=True)
class Equivalent:
    """An entry of the list: mutants whose every answer is right. Raises ValueError where a field says nothing."""

    op: tuple[str, ...]  # names, * for any
    mutant: str
    reason: str
    dtypes: tuple[str, ...] = ()  # any

    def __post_init__(self) -> None:
        if not self.op or not self.mutant.strip() or not self.reason.strip():
            raise ValueError("op, mutant or reason is blank; a mutant that counts as none has a reason")
        if unknown := set(self.dtypes) - {*JUDGED, *TYPED}:
            raise ValueError(
                f"dtypes has {', '.join(sorted(unknown))}; expected some of {', '.join((*JUDGED, *TYPED))}"
            )

    def covers(self, fate: Fate) -> bool:
        """Whether the entry speaks of this mutant."""
        named = (fate.op in self.op or "*" in self.op) and fate.dtype in (self.dtypes or (*JUDGED, *TYPED))
        return named and fnmatch.fnmatchcase(fate.name, self.mutant)


@dataclass(frozen=True)
class Score:
    """Mutants counted: of one operator or all, in one dtype or all."""

    killed: int
    equivalent: int
    survivors: int
    without_effect: int  # their answers are the honest ones bit for bit in every case; not counted

    @property
    def mutants(self) -> int:
        return self.killed + self.equivalent + self.survivors

    @property
    def rate(self) -> str:
        """The share killed of those that are not equivalent."""
        return rate(self.killed, self.killed + self.survivors)


def rate(killed: int, mutants: int) -> str:
    """Return the share that is killed, rounded down: 100 % is all of them."""
    hundredths = 10_000 * killed // max(mutants, 1)
    return f"{hundredths / 100:.2f} %"


@dataclass(frozen=True)
class SortedFates:
    """Fates of all mutants, sorted out."""

    killed: tuple[Fate, ...]
    equivalent: tuple[tuple[Fate, Equivalent], ...]
    survivors: tuple[Fate, ...]
    without_effect: tuple[Fate, ...]
    idle: tuple[Equivalent, ...]  # entries of the list that cover no survivor

    @property
    def ops(self) -> list[str]:
        """The operators that have mutants."""
        return sorted({f.op for f in (*self.killed, *self.survivors, *(f for f, _ in self.equivalent))})

    @property
    def dtypes(self) -> list[str]:
        """The dtypes that were judged; where nothing was, those that are by default."""
        found = {f.dtype for f in (*self.killed, *self.survivors, *(f for f, _ in self.equivalent))}
        return [dtype for dtype in (*JUDGED, *TYPED) if dtype in (found or JUDGED)]

    def score(self, op: str | None = None, dtype: str | None = None) -> Score:
        """What became of the mutants of `op` in `dtype`; None for all."""

        def count(fates: Iterable[Fate]) -> int:
            return sum(op in (None, f.op) and dtype in (None, f.dtype) for f in fates)

        alike = (f for f, _ in self.equivalent)
        return Score(count(self.killed), count(alike), count(self.survivors), count(self.without_effect))

    @property
    def summary(self) -> list[str]:
        """The last lines: a sentence for each dtype."""
        lines = []
        for dtype in (*JUDGED, *TYPED):
            score = self.score(dtype=dtype)
            ops = len({f.op for f in (*self.killed, *self.survivors) if f.dtype == dtype})
            if score.mutants:
                lines.append(
                    f"{dtype}: {score.killed:,} of {score.mutants:,} mutants of {ops} operators killed ({score.rate}), "
                    f"{score.equivalent} proved equivalent, {score.survivors} survive; "
                    f"{score.without_effect:,} more change no bit of any answer"
                )
        return lines


def read_equivalent(path: Path) -> tuple[Equivalent, ...]:
    """The list in `path`. Raises UsageError that names the file and the entry."""
    return tuple(read_entries(path, "equivalent", Equivalent))


def sort_fates(fates: Sequence[Fate], known: Sequence[Equivalent], *, complete: bool) -> SortedFates:
    """Sort survivors into equivalent ones and others; `complete`: every operator ran, so idle entries can be told."""
    counted = [f for f in fates if f.counts]
    alive = [f for f in counted if not f.killed_by]
    proved = [(f, next((e for e in known if e.covers(f)), None)) for f in alive]
    used = {e for _, e in proved if e is not None}
    return SortedFates(
        killed=tuple(f for f in counted if f.killed_by),
        equivalent=tuple((f, e) for f, e in proved if e is not None),
        survivors=tuple(f for f, e in proved if e is None),
        without_effect=tuple(f for f in fates if not f.counts),
        idle=tuple(e for e in known if complete and e not in used and set(e.dtypes or JUDGED) & set(JUDGED)),
    )


_INTRODUCTION = """# Mutation

Written by `python benchmarks/mutation`. Each mutant is the reference backend with one defect of a kind that real
libraries had. It is killed in a dtype where one of the operator's own cases of that dtype is judged wrong. A mutant
whose answers are the honest ones bit for bit in every case of a dtype is not counted there, but in the last column.
"""

_DECLARED = """# Mutation, where storage is declared

Written by `python benchmarks/mutation --declared {declared} --markdown FILE`.

Mutants of the reference backend in 16 bits, judged as the answers of a backend that declares *{declared}* for
every operator: bounds have room for intermediates that are stored in 16 bits, and what is as small as that passes. The
second table counts, of mutants that are no equivalents there, the kinds of which some survive, the largest first; *of*
counts all of that kind, also those that are killed.
"""


#: What is counted of the mutants of a dtype.
_COUNTS = ("mutants", "killed", "equivalent", "survivors", "without_effect")


def make_summary(result: SortedFates) -> dict[str, Any]:
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


def _killed(result: SortedFates, op: str) -> dict[str, list[int]]:
    """Return by dtype how many of an operator's mutants are killed, and of how many that are not equivalent."""
    scores = {dtype: result.score(op, dtype) for dtype in result.dtypes}
    return {d: [score.killed, score.mutants - score.equivalent] for d, score in scores.items() if score.mutants}


def _render_heads(dtypes: Iterable[str]) -> list[str]:
    return ["operator", *(f"{dtype} {column}" for dtype in dtypes for column in ("killed", "rate"))]


def _render_rows(data: dict[str, Any]) -> list[list[str]]:
    return [
        [op, *(c for d in data["dtypes"] for c in _render_cells(by.get(d)))] for op, by in data["operators"].items()
    ]


def _render_cells(killed: Sequence[int] | None) -> list[str]:
    """Return how many of a dtype's mutants are killed, and the rate; nothing where there are none."""
    if killed is None:
        return ["", ""]
    return [f"{killed[0]} of {killed[1]}", rate(*killed)]


def render_table(result: SortedFates) -> str:
    """Return the kill rate per operator and dtype, for the terminal."""
    from tabulate import tabulate  # type: ignore[import-untyped, unused-ignore]

    data = make_summary(result)
    heads = _render_heads(data["dtypes"])
    align = ("left", *("right",) * (len(heads) - 1))
    return str(tabulate(_render_rows(data), heads, tablefmt="simple", colalign=align, disable_numparse=True))


def render_markdown_page(result: SortedFates) -> str:
    """Return the page of a run."""
    data = make_summary(result)
    parts = [
        _INTRODUCTION.rstrip(),
        render_scores(data),
        "## Equivalent mutants, whose every answer is right",
        render_equivalents(data),
    ]
    parts += ["## Survivors", render_survivors(data)] * bool(data["survivors"])
    return "\n\n".join([*parts, "## By operator", render_rates(data)]) + "\n"


def render_scores(data: dict[str, Any]) -> str:
    """Return the mutants by dtype, as Markdown."""
    lines = ["| dtype | mutants | killed | equivalent | survive | killed of the others | without effect |"]
    lines += ["| --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for dtype, s in data["dtypes"].items():
        counts = " | ".join(f"{s[key]:,}" for key in _COUNTS[:-1])
        lines.append(
            f"| {dtype} | {counts} | {rate(s['killed'], s['mutants'] - s['equivalent'])} | {s['without_effect']:,} |"
        )
    return "\n".join(lines)


def render_equivalents(data: dict[str, Any]) -> str:
    """Return the mutants whose every answer is right, as Markdown."""
    lines = ["| operators | mutant | dtypes | mutants | reason |", "| --- | --- | --- | ---: | --- |"]
    for entry in data["equivalent"]:
        name, dtypes = entry["mutant"].replace("*", "\\*"), ", ".join(entry["dtypes"]) or "every"
        lines.append(
            f"| {', '.join(entry['operators'])} | {name} | {dtypes} | {entry['mutants']} | {entry['reason']} |"
        )
    return "\n".join(lines)


def render_survivors(data: dict[str, Any]) -> str:
    """Return what survives, as Markdown; nothing where nothing does."""
    return "\n".join(f"- {f['operator']}, {f['dtype']}, {f['mutant']}: {f['why']}" for f in data["survivors"])


def render_rates(data: dict[str, Any]) -> str:
    """Return the kill rate by operator and dtype, as Markdown."""
    heads = _render_heads(data["dtypes"])
    lines = [f"| {' | '.join(heads)} |", f"| --- |{' ---: |' * (len(heads) - 1)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in _render_rows(data))])


def render_declared_page(result: SortedFates, declared: str) -> str:
    """Return what survives by its kind, since it is much."""
    lines = [_DECLARED.format(declared=declared), render_scores(make_summary(result)), ""]
    lines += ["| dtype | mutant | survive | of |", "| --- | --- | ---: | ---: |"]
    alive = Counter((f.dtype, _kind_of(f)) for f in result.survivors)
    every = alive + Counter((f.dtype, _kind_of(f)) for f in result.killed)
    for (dtype, kind), count in sorted(alive.items(), key=lambda item: (-item[1], item[0])):
        lines.append(f"| {dtype} | {kind} | {count} | {every[dtype, kind]} |")
    return "\n".join(lines) + "\n"


def _kind_of(fate: Fate) -> str:
    """Say what a mutant does, without the names of the operator's own tensors and parameters."""
    op = load(fate.op)
    words = fate.mutant.split()
    named = {*op.tensors, *op.params}
    return f"{fate.mode}: " + " ".join("…" if word in named else word for word in words).replace("*", "\\*")
