"""The support matrix: operators × backends, from the records alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from opproof.core.text import visible
from opproof.core.verdicts import Mode
from opproof.reports._kinds import LABELS, Kind, kind
from opproof.reports._record import Result
from opproof.reports._text import cell, line, plural, short_names

#: What a backend does with an operator in one mode; of several the first.
STATES = {
    Kind.FAILED: "FAIL",
    Kind.KNOWN: LABELS[Kind.KNOWN],
    Kind.HARNESS_ERROR: LABELS[Kind.HARNESS_ERROR],
    Kind.PASSED: LABELS[Kind.PASSED],
    Kind.NO_EVIDENCE: LABELS[Kind.NO_EVIDENCE],
    Kind.UNSUPPORTED: "–",
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


def matrix(results: Iterable[Result]) -> Matrix:
    """Cells by operator and backend, operators sorted, backends in order of appearance."""
    groups: dict[tuple[str, str], list[Result]] = {}
    backends: dict[str, None] = {}
    for r in results:
        backends.setdefault(r.backend)
        groups.setdefault((r.op, r.backend), []).append(r)
    ops = sorted({op for op, _ in groups})
    return {op: {b: _cell(groups.get((op, b), [])) for b in backends} for op in ops}


def _cell(records: Sequence[Result]) -> Cell:
    kinds: dict[str, set[Kind]] = {}
    for r in records:
        kinds.setdefault(r.dtype, set()).add(kind(r))
    # "passes" as a whole: a dtype with one failure, known or not, or one record not judged, is not called supported
    good = [d for d in dict.fromkeys(r.dtype for r in records) if Kind.PASSED in kinds[d] and not kinds[d] & _BAD]
    return Cell(_state(records, Mode.FORWARD), _state(records, Mode.GRADIENT), tuple(sorted(good, key=_width)))


_BAD = {Kind.FAILED, Kind.KNOWN, Kind.HARNESS_ERROR}


def _width(dtype: str) -> tuple[int, str]:
    digits = "".join(c for c in dtype if c.isdigit())
    return (-int(digits) if digits else 0, dtype)


def _state(records: Sequence[Result], mode: Mode) -> str:
    kinds = {kind(r) for r in records if r.mode == mode}
    return next((text for k, text in STATES.items() if k in kinds), NOT_RUN)


def sentences(cells: Matrix) -> list[str]:
    """A line per backend: how many operators it answers, with gradients, and how many fail."""
    texts = []
    for backend, name in _names(cells).items():
        mine = [row[backend] for row in cells.values()]
        answered = sum(c.value in _ANSWERED for c in mine)
        gradients = sum(c.gradient in _ANSWERED for c in mine)
        counts = {k: sum(STATES[k] in (c.value, c.gradient) for c in mine) for k in _NOTED}
        text = f"{name} answers {answered} of {plural(len(mine), 'operator')}, {gradients} with gradients"
        rest = [f"{counts[k]} {words}" for k, words in _NOTED.items() if counts[k]]
        texts.append(f"{text} ({', '.join(rest)})." if rest else f"{text}.")
    return texts


_ANSWERED = {STATES[k] for k in (Kind.FAILED, Kind.KNOWN, Kind.PASSED)}
_NOTED = {
    Kind.FAILED: "with failures",
    Kind.KNOWN: "with known failures",
    Kind.HARNESS_ERROR: "where opproof itself failed",
}


def terminal(cells: Matrix, note: str = "") -> str:
    """The matrix as a table in plain text, its sentences and a `note`."""
    from tabulate import tabulate  # type: ignore[import-untyped, unused-ignore]

    table = tabulate(_rows(cells), _heads(cells), tablefmt="simple", disable_numparse=True)
    return f"{table}\n\n" + "\n".join([*sentences(cells), *[note] * bool(note)])


def markdown(cells: Matrix, note: str = "") -> str:
    """The matrix as a page of Markdown, with a `note`."""
    legend = (
        "Each cell: forward / gradient, then the dtypes in which every record passes. `known` is a failure with an "
        "entry in a ledger, `harness error` opproof's own fault, `–` is declined, an empty place was not run."
    )
    body = [[cell(text) for text in row] for row in [_heads(cells), *_rows(cells)]]
    rows = [body[0], ["---"] * len(body[0]), *body[1:]]
    table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    texts = [*sentences(cells), *[note] * bool(note)]
    parts = ["# Support matrix", "  \n".join(cell(text, 500) for text in texts), legend, table]
    return "\n\n".join(parts) + "\n"


def _names(cells: Matrix) -> dict[str, str]:
    return {b: line(name) for b, name in short_names({b: None for row in cells.values() for b in row}).items()}


def _heads(cells: Matrix) -> list[str]:
    return ["operator", *_names(cells).values()]


def _rows(cells: Matrix) -> list[list[str]]:
    return [[line(op), *(visible(str(c)) for c in row.values())] for op, row in cells.items()]
