"""The support matrix: operators × backends, from the records alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from opproof.core.verdicts import Mode
from opproof.reports._kinds import LABELS, ResultKind, result_kind_of
from opproof.reports._record import Result
from opproof.reports._text import format_count, format_line, short_names_of

#: What a backend does with an operator in one mode; of several the first.
STATES = {
    ResultKind.FAILED: "FAIL",
    ResultKind.KNOWN: LABELS[ResultKind.KNOWN],
    ResultKind.HARNESS_ERROR: LABELS[ResultKind.HARNESS_ERROR],
    ResultKind.PASSED: LABELS[ResultKind.PASSED],
    ResultKind.NO_EVIDENCE: LABELS[ResultKind.NO_EVIDENCE],
    ResultKind.UNSUPPORTED: "–",
}
#: Where there is no record.
NOT_RUN = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """One operator on one backend: a text of STATES for values and for gradients, and the dtypes that pass in both."""

    value: str
    gradient: str
    dtypes: tuple[str, ...]

    def __str__(self) -> str:
        states = " / ".join([self.value, *[self.gradient] * bool(self.gradient)])
        return f"{states}  {' '.join(self.dtypes)}".strip()


Matrix = dict[str, dict[str, Cell]]


def make_matrix(results: Iterable[Result]) -> Matrix:
    """Cells by operator and backend, operators sorted, backends in order of appearance."""
    groups: dict[tuple[str, str], list[Result]] = {}
    backends: dict[str, None] = {}
    for r in results:
        backends.setdefault(r.backend)
        groups.setdefault((r.op, r.backend), []).append(r)
    ops = sorted({op for op, _ in groups})
    return {op: {b: _make_cell(groups.get((op, b), [])) for b in backends} for op in ops}


def _make_cell(records: Sequence[Result]) -> Cell:
    kinds: dict[str, set[ResultKind]] = {}
    for r in records:
        kinds.setdefault(r.dtype, set()).add(result_kind_of(r))
    # "passes" as a whole: a dtype with one failure, known or not, or one record not judged, is not called supported
    good = [d for d in dict.fromkeys(r.dtype for r in records) if ResultKind.PASSED in kinds[d] and not kinds[d] & _BAD]
    return Cell(_state(records, Mode.FORWARD), _state(records, Mode.GRADIENT), tuple(sorted(good, key=_width_of)))


_BAD = {ResultKind.FAILED, ResultKind.KNOWN, ResultKind.HARNESS_ERROR}


def _width_of(dtype: str) -> tuple[int, str]:
    digits = "".join(c for c in dtype if c.isdigit())
    return (-int(digits) if digits else 0, dtype)


def _state(records: Sequence[Result], mode: Mode) -> str:
    kinds = {result_kind_of(r) for r in records if r.mode == mode}
    return next((text for k, text in STATES.items() if k in kinds), NOT_RUN)


def summarise_backends(cells: Matrix) -> list[str]:
    """A line per backend: how many operators it answers, with gradients, and how many fail."""
    texts = []
    for backend, name in _names_of(cells).items():
        mine = [row[backend] for row in cells.values()]
        answered = sum(c.value in _ANSWERED for c in mine)
        gradients = sum(c.gradient in _ANSWERED for c in mine)
        counts = {k: sum(STATES[k] in (c.value, c.gradient) for c in mine) for k in _NOTED}
        text = f"{name} answers {answered} of {format_count(len(mine), 'operator')}, {gradients} with gradients"
        rest = [f"{counts[k]} {words}" for k, words in _NOTED.items() if counts[k]]
        texts.append(f"{text} ({', '.join(rest)})." if rest else f"{text}.")
    return texts


_ANSWERED = {STATES[k] for k in (ResultKind.FAILED, ResultKind.KNOWN, ResultKind.PASSED)}
_NOTED = {
    ResultKind.FAILED: "with failures",
    ResultKind.KNOWN: "with known failures",
    ResultKind.HARNESS_ERROR: "where opproof itself failed",
}


def _names_of(cells: Matrix) -> dict[str, str]:
    return {
        b: format_line(name) for b, name in short_names_of({b: None for row in cells.values() for b in row}).items()
    }
