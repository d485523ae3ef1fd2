"""Compare the noise of PyTorch's dispatch with that of the NumPy references, operator by operator.

    python benchmarks/torch_truth.py [OPERATOR ...] [--cases N] [--page docs/torch-truth.md]

For every operator with a PyTorch twin: (scale + |y|) of values and gradients by the twin over that by the reference,
elements of all cases together. The bar: a median within 1.5, and 99 % of elements within 4, either way.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from opproof.cases import cases_of
from opproof.harness.truth.posed import Posed, pose
from opproof.harness.truth.reference import Expected, expected_of
from opproof.harness.truth.torch.evaluate import Question, truth
from opproof.reference_ops import load, names
from opproof.vocabulary.errors import OpError
from opproof.vocabulary.levels import LEVELS
from opproof.vocabulary.modes import MODES, Mode
from opproof.vocabulary.several import tuple_of

MEDIAN, MOST = 1.5, 4.0
#: Why an operator is outside the bar: both sides are right, and compute the same in other steps.
_SAVED = "from the saved y, as implementations do, y + alpha cancels where x is far below 0; PyTorch takes exp(x) again"
_ANGLES = "the reference rounds the frequencies, as kernels do; the twin has them from Python's floats, pair by pair"
_OUTPUT = "from the saved output, as flash kernels do, a row that sees one key does not cancel; PyTorch's does"
EXPLAINED = {
    **dict.fromkeys(("celu", "elu", "selu"), _SAVED),
    **dict.fromkeys(("rope", "rope_back", "rope_offset", "rope_set_rows"), _ANGLES),
    **dict.fromkeys(("sliding_window_attention", "varlen_attention"), _OUTPUT),
    "im2col_3d": "autograd adds a tensor for each cell of the kernel, which rounds where it adds nothing too",
    "lbfgs_direction": "numbers that the optimizer takes out of tensors (.item()) are those of the exact evaluation",
    "logcumsumexp": "PyTorch's backward is exp of logarithms, which have a roundoff of their own size",
    "timestep_embedding": "the twin's complex numbers round as a whole: cos next to 0 has the roundoff of sin",
    "conv2d": "the rule counts the terms of the middle at the edges too",
    "cross_entropy": "PyTorch's backward is exp(log_softmax), whose exponent has a roundoff of its own size",
}


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

    @property
    def within(self) -> bool:
        """Whether the bar is met."""
        return not self.refused and 1 / MEDIAN <= self.median <= MEDIAN and self.low >= 1 / MOST and self.high <= MOST


def by_twin(posed: Posed) -> list[Expected | None]:
    """What is expected of `posed`, by the operator's PyTorch twin under noise."""
    import torch

    op, dtype = posed.op, posed.case.dtype
    kinds = tuple("" if x is None or x.dtype.kind != "f" else dtype for x in posed.inputs)

    def outputs(*tensors: Any) -> Sequence[Any]:
        return tuple_of(op.torch(torch, *tensors, **posed.params))

    dtypes = tuple(dtype if y.dtype.kind == "f" else "" for y in posed.outputs)
    question = Question(outputs, posed.inputs, posed.needs, dtypes, kinds, posed.cotangents)
    found = truth(question)
    return [*found.outputs] if posed.mode is Mode.FORWARD else [*found.gradients]


def ratios(posed: Posed) -> np.ndarray[Any, Any]:
    """(scale + |y|) of the twin over that of the reference, of every element that counts."""
    parts = [np.zeros(0)]
    for ours, theirs in zip(expected_of(posed), by_twin(posed), strict=True):
        if ours is None or theirs is None or ours.exact or ours.values.dtype.kind != "f":
            continue
        with np.errstate(all="ignore"):
            mine, other = (e.scale + np.abs(e.values) for e in (ours, theirs))
            counts = np.isfinite(mine) & np.isfinite(other) & (np.maximum(mine, other) > 2.0**-100)
            parts.append((other / mine)[counts])
    return np.concatenate([p.ravel() for p in parts])


def row(name: str, mode: Mode, limit: int, level: str = "standard") -> Row | None:
    """The comparison of one operator; None where there is nothing to compare."""
    op = load(name)
    if op.torch is None or op.is_exact(mode) or (mode is Mode.GRADIENT and op.vjp is None):
        return None
    chosen = [c for c in cases_of(name, level) if c.dtype == "f32" and c.fill in ("normal", "wide", "offset")]
    chosen = [c for c in chosen if not any(0 in s for s in c.shapes.values())][:: max(1, len(chosen) // limit)]
    found: list[np.ndarray[Any, Any]] = []
    for case in chosen:
        posed = pose(case, op, mode).asked
        if mode is Mode.GRADIENT and not any(posed.needs):
            continue
        try:
            found.append(ratios(posed))
        except OpError as error:
            return Row(name, mode, refused=str(error).partition(" of PyTorch")[0])
    together = np.concatenate([np.zeros(0), *found])
    if not together.size:
        return None
    low, median, high = np.quantile(together, (0.01, 0.5, 0.99))
    return Row(name, mode, len(found), float(median), float(low), float(high))


def page(rows: Sequence[Row]) -> str:
    """The table as Markdown."""
    within = sum(r.within for r in rows)
    lines = [
        "# The noise of PyTorch beside that of our references",
        "",
        "(scale + |y|) by the PyTorch twin under noise, over that by the NumPy reference: f32, standard level. Within",
        f"the bar (median within {MEDIAN:g}, 99 % within {MOST:g}): {within} of {len(rows)}. Generated by",
        "`python benchmarks/torch_truth.py --cases 2 --page docs/torch-truth.md`. Where it is not met, the last column",
        "says why; what has no rule is refused by its name.",
        "",
        "| Operator | Mode | Cases | Median | 1 % | 99 % | |",
        "|---|---|---:|---:|---:|---:|---|",
    ]
    for r in rows:
        note = (r.refused and f"refused: {r.refused}") or ("" if r.within else EXPLAINED.get(r.op, "outside"))
        lines.append(f"| {r.op} | {r.mode} | {r.cases} | {r.median:.2f} | {r.low:.2f} | {r.high:.2f} | {note} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print every row, and write the page where one is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("operators", nargs="*")
    parser.add_argument("--cases", type=int, default=8)
    parser.add_argument("--level", choices=LEVELS, default="standard")
    parser.add_argument("--page", type=Path)
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
    if given.page:
        given.page.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
