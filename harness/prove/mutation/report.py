"""Fates of mutants, counted: the kill rate per operator, and survivors that are proved equivalent."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from opproof.harness.ledger.entries import read_entries
from opproof.harness.prove.mutation.trials import Fate

#: The mutants that are no defects, and why.
EQUIVALENT = Path(__file__).with_name("equivalent.toml")


@dataclass(frozen=True)
class Equivalent:
    """An entry of the list: mutants whose every answer is right. Raises ValueError where a field says nothing."""

    op: tuple[str, ...]  # names, * for any
    mutant: str
    reason: str

    def __post_init__(self) -> None:
        if not self.op or not self.mutant.strip() or not self.reason.strip():
            raise ValueError("op, mutant or reason is blank; a mutant that counts as none has a reason")

    def covers(self, fate: Fate) -> bool:
        """Whether the entry speaks of this mutant."""
        return (fate.op in self.op or "*" in self.op) and fnmatch.fnmatchcase(fate.name, self.mutant)


@dataclass(frozen=True)
class Sorted:
    """Fates of the mutants that count, sorted out."""

    fates: tuple[Fate, ...]
    equivalent: tuple[tuple[Fate, Equivalent], ...]
    survivors: tuple[Fate, ...]
    idle: tuple[Equivalent, ...]  # entries of the list that cover no survivor

    @property
    def killed(self) -> int:
        return sum(bool(f.killed_by) for f in self.fates)

    @property
    def summary(self) -> str:
        """The last line."""
        total, ops = len(self.fates), len({f.op for f in self.fates})
        rate = 100 * self.killed / total if total else 0.0
        return (
            f"{self.killed:,} of {total:,} mutants of {ops} operators killed ({rate:.2f} %), "
            f"{len(self.equivalent)} proved equivalent, {len(self.survivors)} survive"
        )


def read_equivalent(path: Path) -> tuple[Equivalent, ...]:
    """The list in `path`. Raises UsageError that names the file and the entry."""
    return tuple(read_entries(path, "equivalent", Equivalent))


def sorted_out(fates: Sequence[Fate], known: Sequence[Equivalent], *, complete: bool) -> Sorted:
    """Sort survivors into equivalent ones and others; `complete`: every operator ran, so idle entries can be told."""
    counted = tuple(f for f in fates if f.counts)
    alive = [f for f in counted if not f.killed_by]
    proved = [(f, next((e for e in known if e.covers(f)), None)) for f in alive]
    used = {e for _, e in proved if e is not None}
    return Sorted(
        fates=counted,
        equivalent=tuple((f, e) for f, e in proved if e is not None),
        survivors=tuple(f for f, e in proved if e is None),
        idle=tuple(e for e in known if complete and e not in used),
    )


def _rows(result: Sorted) -> list[list[str]]:
    rows = []
    for op in dict.fromkeys(f.op for f in result.fates):
        counted = [f for f in result.fates if f.op == op]
        killed = sum(bool(f.killed_by) for f in counted)
        equivalent = sum(f.op == op for f, _ in result.equivalent)
        rate = 100 * killed / max(len(counted) - equivalent, 1)
        rows.append([op, str(len(counted)), str(killed), str(equivalent), f"{rate:.1f} %"])
    return rows


_HEADS = ["operator", "mutants", "killed", "equivalent", "killed of the others"]


def table(result: Sorted) -> str:
    """The kill rate per operator, for the terminal."""
    from tabulate import tabulate  # type: ignore[import-untyped, unused-ignore]

    align = ("left", *("right",) * 4)
    return str(tabulate(_rows(result), _HEADS, tablefmt="simple", colalign=align, disable_numparse=True))


def markdown_page(result: Sorted) -> str:
    """docs/mutation.md."""
    lines = [
        "# Mutation",
        "",
        "Written by `opproof mutate --markdown docs/mutation.md`; do not edit.",
        "",
        "Each mutant is the reference backend with one defect of a kind that real libraries had; the families stand in",
        "`harness/prove/mutation/`. The operator's own cases run, smoke rows first, until one is judged wrong.",
        "A mutant whose answers never differ from the honest ones, and need not, is no defect and is not counted.",
        "",
        f"**{result.summary}.**",
        "",
        "Equivalent mutants, whose every answer is right (`harness/prove/mutation/equivalent.toml`):",
        "",
        "| operators | mutant | mutants | reason |",
        "| --- | --- | ---: | --- |",
    ]
    for entry in dict.fromkeys(e for _, e in result.equivalent):
        count = sum(e == entry for _, e in result.equivalent)
        lines.append(
            f"| {', '.join(entry.op)} | {entry.mutant.replace('*', chr(92) + '*')} | {count} | {entry.reason} |"
        )
    lines += ["", f"| {' | '.join(_HEADS)} |", "| --- | ---: | ---: | ---: | ---: |"]
    lines += [f"| {' | '.join(row)} |" for row in _rows(result)]
    return "\n".join(lines) + "\n"
