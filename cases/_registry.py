"""The cases of an operator at a level, made of the rows of its file.

A case file `cases/<op>.py` holds lists of rows, each the inside of an id without its dtype:

    SMOKE = ["x=4x33;dim=-1"]                 one or two, seconds for all operators
    STANDARD = [...]                          every rule of the design; SMOKE is part of it
    LAID = [...]                              layouts beside those of STANDARD; standard level
    ATTRIBUTES = [...]                        attributes in pairs (cases/_rows/windows.py); standard level
    ALIGNED = [...]                           extents that are whole tiles (cases/_rows/aligned.py); standard level
    TYPED = [...]                             dtypes beside floats (cases/_rows/typed.py); standard level
    MIXED = [...]                             tensors of several dtypes (cases/_rows/mixed.py); standard level
    PAIRED = [...]                            parameters away from their defaults together, and without optional
                                              tensors; products of ragged tiles; standard level
    LONG, LONGEST = [...], [...]              one axis long (cases/_rows/long.py); standard level, and full
    SHAPES = [...]                            shapes that kernels have paths for (cases/_rows/shapes.py); rows are
                                              made of them apart from the others; standard level
    FULL = [...]                              big shapes; STANDARD is part of it

    SHORT = {"k.1": Limit(1025, "why")}       axes that no row makes longer: axis 1 of k
    WITHOUT = {"extreme": "why"}              rules for which no row could show anything, and why;
                                              "past exp f16": a rule that is owed in each dtype, in that one

An operator's covering array (benchmarks/arrays.py) stands in cases/drawn/<op>.txt, a case in each line: what is
cheap belongs to the standard level, what stands after an empty line to full.

A row is tried in f32, f16 and bf16, SMOKE rows in f64 too; a row that names dtypes
(`x=4;f32` or `x=4;f32,f64`) only in those.

The first row of a file is a standard row again with strided results, so that no file lists that (STRIDED), and rows of
three axes again with their tensors in other orders of memory (cases/_rows/derived.py).
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from opproof.cases._case import Case
from opproof.cases._rows.derived import derived
from opproof.cases._rows.long import Limit
from opproof.cases._rows.row import are_dtypes, names_dtypes
from opproof.core.errors import CaseError
from opproof.core.verdicts import LEVELS

#: The lists of a case file that make up each level.
LISTS = {
    "smoke": ("SMOKE",),
    "standard": ("STANDARD", "LAID", "ATTRIBUTES", "ALIGNED", "TYPED", "MIXED", "PAIRED", "LONG"),
    "full": ("FULL", "LONGEST"),
}
DTYPES_BY_DEFAULT = ("f32", "f16", "bf16")
FOLDER = Path(__file__).parent
#: The covering arrays: a file for each operator.
DRAWN = FOLDER / "drawn"

#: Rows of a file of which one stands for its neighbours.
ROWS_ALIKE = 7

#: How the results of an operator's first row lie when it is tried again, and in which dtypes.
STRIDED = (("transposed", "f32,f16"), ("gapped", "f32"), ("sliced", "f32,bf16"))


def cases_of(op: str, level: str = "standard", rows: Mapping[str, Iterable[str]] | None = None) -> list[Case]:
    """All cases of the operator `op` up to `level`, each once: its array and some rows by turns, then the others.

    Rows that stand beside each other are alike, so that one of ROWS_ALIKE comes before the others. These keep their
    order: what a kernel holds from one call shows in the next, of like size.

    `rows` by level are those that a user's operator brings along (`Op.rows`); where there are none, the rows of
    `cases/<op>.py` count.
    """
    if rows and any(rows.values()):
        return read_rows(op, rows, level)
    listed = listed_cases(op, level)
    if level == "smoke":
        return listed
    some = listed[: len(listed) * 3 // 4 : ROWS_ALIKE]  # the last rows are shapes that are to follow one another
    turns = itertools.chain.from_iterable(itertools.zip_longest(drawn_cases(op, level), some))
    return list(dict.fromkeys([*listed[:1], *(case for case in turns if case is not None), *listed]))


def listed_cases(op: str, level: str = "standard") -> list[Case]:
    """The cases up to `level` that the file of the built-in operator `op` lists, none of its array."""
    if not (FOLDER / f"{op}.py").is_file():
        return []
    module = importlib.import_module(f"{__package__}.{op}")
    listed = {name: [row for given in LISTS[name] for row in getattr(module, given, ())] for name in LEVELS}
    listed["standard"] += [row for first in listed["smoke"][:1] for row in _vary_results(first)]
    found = read_rows(op, listed, level)
    if level == "smoke":
        return found
    standard = found if level == "standard" else read_rows(op, listed, "standard")
    shapes = read_rows(op, {"standard": getattr(module, "SHAPES", ())}, "standard")
    return list(dict.fromkeys([*found, *derived(standard), *shapes, *derived(shapes)]))


def drawn_cases(op: str, level: str = "standard") -> list[Case]:
    """The cases up to `level` that the covering array of the built-in operator `op` has."""
    path = DRAWN / f"{op}.txt"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    cheap, _, costly = text.partition("\n\n")
    rows = [*cheap.splitlines(), *(costly.splitlines() if level == "full" else ())]
    return [Case.parse(f"{op}[{row}]") for row in rows]


def _vary_results(row: str) -> Iterator[str]:
    """The row with results that are strided, in its own dtypes where it names some."""
    for layout, dtypes in STRIDED:
        yield f"{row};into={layout}" if names_dtypes(row) else f"{row};{dtypes};into={layout}"


def left_out(op: str) -> Mapping[str, str]:
    """Rules that apply to the built-in operator `op` but for which no row could show anything, each with the reason."""
    return getattr(importlib.import_module(f"{__package__}.{op}"), "WITHOUT", {})


def short(op: str) -> Mapping[str, Limit]:
    """Axes of the built-in operator `op` that no row makes long, or only so long, each with the reason."""
    return getattr(importlib.import_module(f"{__package__}.{op}"), "SHORT", {})


def read_rows(op: str, rows: Mapping[str, Iterable[str]], level: str) -> list[Case]:
    """The cases of rows by level. Raises CaseError for an unknown level or a malformed row."""
    if level not in LEVELS:
        raise CaseError(f"unknown level {level!r}: expected one of {', '.join(LEVELS)}.")
    found: dict[Case, None] = {}
    for name in LEVELS[: LEVELS.index(level) + 1]:
        for row in rows.get(name, ()):
            extra = ("f64",) if name == "smoke" else ()
            found.update(dict.fromkeys(_expand(op, row, (*DTYPES_BY_DEFAULT, *extra))))
    return list(found)


def _expand(op: str, row: str, dtypes: tuple[str, ...]) -> Iterator[Case]:
    parts = row.split(";")
    named = [p for p in parts if are_dtypes(p)]
    others = [p for p in parts if p not in named]
    first: Case | None = None
    for dtype in named[0].split(",") if named else dtypes:
        if first is None or first.mixed:
            first = Case.parse(f"{op}[{';'.join([*others, dtype])}]")
            yield first
        else:  # the rest of the row reads alike
            yield replace(first, dtype=dtype)


def all_names() -> list[str]:
    """Operators that have a case file."""
    return sorted(p.stem for p in FOLDER.glob("*.py") if not p.stem.startswith("_"))


__all__ = ["DTYPES_BY_DEFAULT", "LEVELS", "all_names", "cases_of", "left_out", "read_rows", "short"]
