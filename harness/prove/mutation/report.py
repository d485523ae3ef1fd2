"""Fates of mutants, counted: kill rates per dtype and operator, and survivors that are proved equivalent."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from opproof.harness.known_failures.known import read_entries
from opproof.harness.prove.mutation.trials import JUDGED, TYPED, Fate

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
class Sorted:
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


def sorted_out(fates: Sequence[Fate], known: Sequence[Equivalent], *, complete: bool) -> Sorted:
    """Sort survivors into equivalent ones and others; `complete`: every operator ran, so idle entries can be told."""
    counted = [f for f in fates if f.counts]
    alive = [f for f in counted if not f.killed_by]
    proved = [(f, next((e for e in known if e.covers(f)), None)) for f in alive]
    used = {e for _, e in proved if e is not None}
    return Sorted(
        killed=tuple(f for f in counted if f.killed_by),
        equivalent=tuple((f, e) for f, e in proved if e is not None),
        survivors=tuple(f for f, e in proved if e is None),
        without_effect=tuple(f for f in fates if not f.counts),
        idle=tuple(e for e in known if complete and e not in used and set(e.dtypes or JUDGED) & set(JUDGED)),
    )
