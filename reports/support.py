"""The support matrix: operators × backends, from the records alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from opproof.reports._record import Result
from opproof.reports._summary import kind
from opproof.reports._text import line, plural, short_names

#: What a backend does with an operator in one mode, from worst to best; the first that occurs is said.
STATES = {
    "failed": "FAIL",
    "known": "known",
    "passed": "pass",
    "doubtful": "no evidence",
    "unsupported": "–",
}
#: What is said where there is no record.
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
    kinds: dict[str, set[str]] = {}
    for r in records:
        kinds.setdefault(r.dtype, set()).add(kind(r))
    # "passes" as a whole: a dtype with one failure, known or not, is not said to be supported
    good = [d for d in dict.fromkeys(r.dtype for r in records) if "passed" in kinds[d] and not kinds[d] & _BAD]
    return Cell(_state(records, "forward"), _state(records, "gradient"), tuple(sorted(good, key=_width)))


_BAD = {"failed", "known"}


def _width(dtype: str) -> tuple[int, str]:
    digits = "".join(c for c in dtype if c.isdigit())
    return (-int(digits) if digits else 0, dtype)


def _state(records: Sequence[Result], mode: str) -> str:
    found = {kind(r) for r in records if r.mode == mode}
    return next((said for k, said in STATES.items() if k in found), NOT_RUN)


def sentences(cells: Matrix) -> list[str]:
    """A line per backend: how many operators it answers, with gradients, and how many fail."""
    texts = []
    for backend, name in _names(cells).items():
        mine = [row[backend] for row in cells.values()]
        answered = sum(c.value in _ANSWERED for c in mine)
        gradients = sum(c.gradient in _ANSWERED for c in mine)
        failing = sum("FAIL" in (c.value, c.gradient) for c in mine)
        known = sum("known" in (c.value, c.gradient) for c in mine)
        text = f"{name} answers {answered} of {plural(len(mine), 'operator')}, {gradients} with gradients"
        rest = [f"{n} {word}" for n, word in ((failing, "with failures"), (known, "with known failures")) if n]
        texts.append(f"{text} ({', '.join(rest)})." if rest else f"{text}.")
    return texts


_ANSWERED = {"FAIL", "known", "pass"}


def terminal(cells: Matrix) -> str:
    """The matrix as a table in plain text, and its sentences."""
    from tabulate import tabulate  # type: ignore[import-untyped, unused-ignore]

    table = tabulate(_rows(cells), _heads(cells), tablefmt="simple", disable_numparse=True)
    return f"{table}\n\n" + "\n".join(sentences(cells))


def markdown(cells: Matrix) -> str:
    """The matrix as a page of Markdown."""
    legend = (
        "Each cell: values / gradients, then the dtypes in which every record passes. `known` is a failure with an "
        "entry in a ledger, `–` is declined, an empty place was not run."
    )
    rows = [_heads(cells), ["---"] * (1 + len(_names(cells))), *_rows(cells)]
    # a name may hold a bar, which would end the cell
    table = "\n".join("| " + " | ".join(text.replace("|", "\\|") for text in row) + " |" for row in rows)
    return "\n\n".join(["# Support matrix", "  \n".join(sentences(cells)), legend, table]) + "\n"


def _names(cells: Matrix) -> dict[str, str]:
    return {b: line(name) for b, name in short_names({b: None for row in cells.values() for b in row}).items()}


def _heads(cells: Matrix) -> list[str]:
    return ["operator", *_names(cells).values()]


def _rows(cells: Matrix) -> list[list[str]]:
    return [[line(op), *map(str, row.values())] for op, row in cells.items()]
