"""Compare the noise of PyTorch's dispatch with that of the NumPy references, operator by operator.

    python benchmarks/torch_truth.py [OPERATOR ...] [--cases N] [--json docs/data/torch-references.json]

For every operator with a PyTorch twin: (scale + |y|) of values and gradients by the twin over that by the reference,
elements of all cases together. The bar: a median within 1.5, and 99 % of elements within 4, either way.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from opproof.cases import cases_of
from opproof.core.errors import OpError
from opproof.core.text import dump_json
from opproof.core.tuples import tuple_of
from opproof.core.verdicts import LEVELS, MODES, Mode
from opproof.harness.reference.expected import evaluate_expected
from opproof.harness.reference.question import Expected, Question, make_question
from opproof.harness.reference.torch.evaluate import TorchQuestion, compute_truth
from opproof.reference_ops import load, names

sys.path.insert(0, str(Path(__file__).resolve().parent))  # neighbours are found in safe mode too
from torch_alike import ALIKE, Twin

MEDIAN, MOST = 1.5, 4.0


@dataclass(frozen=True)
class Row:
    """One operator in one mode: quantiles of the ratio, or why there are none."""

    op: str
    mode: Mode
    cases: int = 0
    median: float = 1.0
    low: float = 1.0
    high: float = 1.0
    refused: str = ""
    note: str = ""  # what was found where it is not met

    @property
    def within(self) -> bool:
        """Whether the bar is met."""
        return not self.refused and 1 / MEDIAN <= self.median <= MEDIAN and self.low >= 1 / MOST and self.high <= MOST


def by_twin(posed: Question, twin: Twin | None = None) -> list[Expected | None]:
    """What is expected of `posed`, by the operator's PyTorch twin, or another, under noise."""
    import torch

    op, dtype = posed.op, posed.case.dtype
    assert op.torch is not None
    theirs = twin or functools.partial(op.torch, torch)
    kinds = tuple("" if x is None or x.dtype.kind != "f" else dtype for x in posed.inputs)

    def outputs(*tensors: Any) -> Sequence[Any]:
        return tuple_of(theirs(*tensors, **posed.params))

    dtypes = tuple(dtype if y.dtype.kind == "f" else "" for y in posed.outputs)
    question = TorchQuestion(outputs, posed.inputs, posed.needs, dtypes, kinds, posed.cotangents)
    found = compute_truth(question)
    return [*found.outputs] if posed.mode is Mode.FORWARD else [*found.gradients]


def ratios(posed: Question, twin: Twin | None = None) -> np.ndarray[Any, Any]:
    """(scale + |y|) of the twin over that of the reference, of every element that counts."""
    parts = [np.zeros(0)]
    for ours, theirs in zip(evaluate_expected(posed), by_twin(posed, twin), strict=True):
        if ours is None or theirs is None or ours.exact or ours.values.dtype.kind != "f":
            continue
        with np.errstate(all="ignore"):
            mine, other = (e.scale + np.abs(e.values) for e in (ours, theirs))
            counts = np.isfinite(mine) & np.isfinite(other) & (np.maximum(mine, other) > 2.0**-100)
            parts.append((other / mine)[counts])
    return np.concatenate([p.ravel() for p in parts])


def row(name: str, mode: Mode, limit: int, level: str = "standard") -> Row | None:
    """The comparison of one operator; None where there is nothing to compare. Where it fails, in the same steps too."""
    found = compared(name, mode, limit, level)
    if found is None or found.within or found.refused or name not in ALIKE:
        return found
    import torch

    why, made = ALIKE[name]
    again = compared(name, mode, limit, level, made(torch, load(name)))
    assert again is not None
    met = "" if again.within else "outside: "
    return replace(found, note=f"{met}{why}; in its steps {again.median:.2f} ({again.low:.2f} to {again.high:.2f})")


def compared(name: str, mode: Mode, limit: int, level: str, twin: Twin | None = None) -> Row | None:
    """The comparison with a twin, the operator's own by default."""
    op = load(name)
    if op.torch is None or op.is_exact(mode) or (mode is Mode.GRADIENT and op.vjp is None):
        return None
    chosen = [c for c in cases_of(name, level) if c.dtype == "f32" and c.fill in ("normal", "wide", "offset")]
    chosen = [c for c in chosen if not any(0 in s for s in c.shapes.values())][:: max(1, len(chosen) // limit)]
    found: list[np.ndarray[Any, Any]] = []
    for case in chosen:
        posed = make_question(case, op, mode).case_data
        if mode is Mode.GRADIENT and not any(posed.needs):
            continue
        try:
            found.append(ratios(posed, twin))
        except OpError as error:
            return Row(name, mode, refused=str(error).partition(" of PyTorch")[0])
    together = np.concatenate([np.zeros(0), *found])
    if not together.size:
        return None
    low, median, high = np.quantile(together, (0.01, 0.5, 0.99))
    return Row(name, mode, len(found), float(median), float(low), float(high))


def summary(rows: Sequence[Row], before: Sequence[dict[str, Any]] = ()) -> list[dict[str, Any]]:
    """Return the rows as they are kept in JSON; those `before` stay where there are no new ones."""
    kept_rows = {(r["operator"], r["mode"]): r for r in before}
    for r in rows:
        figures = {"median": round(r.median, 2), "low": round(r.low, 2), "high": round(r.high, 2)}
        note = f"refused: {r.refused}" if r.refused else "" if r.within else r.note or "outside"
        about: dict[str, Any] = {"operator": r.op, "mode": str(r.mode), "cases": r.cases, **figures}
        kept_rows[r.op, str(r.mode)] = {**about, "note": note} if note else about
    return [kept_rows[key] for key in sorted(kept_rows)]


def main() -> None:
    """Print every row, and write the summary where one is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("operators", nargs="*")
    parser.add_argument("--cases", type=int, default=8)
    parser.add_argument("--level", choices=LEVELS, default="standard")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name in given.operators or names():
        for mode in MODES:
            try:
                found = row(name, mode, given.cases, given.level)
            except Exception as error:  # one operator's failure is a line of the table
                found = Row(name, mode, refused=f"{type(error).__name__}: {error}"[:90])
            if found is not None:
                rows.append(found)
                print("  " if found.within else "! ", found, flush=True)
    if given.json:
        before = json.loads(given.json.read_text(encoding="utf-8")) if given.operators and given.json.is_file() else []
        given.json.write_text(dump_json(summary(rows, before)), encoding="utf-8")


if __name__ == "__main__":
    main()
