"""Labelled defects, planted in the numpy backend at cases drawn from the registry.

Cases are drawn by a hash of the defect's name, so nobody chose them.
"""

import functools
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from _ask import attempted
from _plant_table import DEFECTS, Defect
from _plants import Call

from opproof.cases import Case, cases_of
from opproof.cases._data import NOT_FINITE
from opproof.harness.diagnose.diagnosis import explain
from opproof.reference_ops import load, names

LARGEST = 6000  # elements of all tensors of a case

__all__ = ["DEFECTS", "Finding", "Planted", "findings"]


class Planted:
    """The numpy backend with one defect."""

    name = "planted"

    def __init__(self, defect: Defect) -> None:
        self.defect = defect
        self.first: dict = {}

    def forward(self, op, inputs, params):
        return self._answer(Call(op, list(inputs), dict(params)))

    def vjp(self, op, inputs, params, cotangents, needs):
        return self._answer(Call(op, list(inputs), dict(params), list(cotangents), list(needs)))

    def _answer(self, call):
        with np.errstate(all="ignore"):
            found = self.defect.plant(call)
            if self.defect.name == "half from first call":
                key = tuple(y.shape for y in found if y is not None)
                first = self.first.setdefault(key, [None if y is None else y.copy() for y in found])
                for y, old in zip(found, first, strict=True):
                    if y is not None:
                        y.reshape(-1)[y.size // 2 :] = old.reshape(-1)[y.size // 2 :]
        return found


@dataclass(frozen=True)
class Finding:
    defect: Defect
    case: str
    mode: str
    label: str
    sentence: str

    @property
    def right(self) -> bool:
        return self.label in self.defect.labels

    @property
    def silent(self) -> bool:
        return not self.label and not self.right


@functools.cache
def small_cases(op: str) -> list[Case]:
    """The operator's cases of the standard level that hold something, and not too much."""
    sizes = {case: [int(np.prod(s)) for s in case.shapes.values()] for case in cases_of(op)}
    return [case for case, n in sizes.items() if all(n) and sum(n) <= LARGEST]


def drawn(defect: Defect) -> Iterator[tuple[Case, str]]:
    """Cases and modes in which the defect can show, in an order that its name decides."""
    found = []
    for name in defect.ops or names():
        op = load(name)
        for case in small_cases(name):
            if (defect.dtypes and case.dtype not in defect.dtypes) or not defect.applies(case):
                continue
            modes = [m for m in ("forward", "gradient") if m == "forward" or (op.vjp and case.fill not in NOT_FINITE)]
            found += [(case, m) for m in modes if defect.mode in ("", m)]
    # one case of an operator before the second of another
    found.sort(key=lambda f: hashlib.blake2b(f"{defect.name}|{f[0]}|{f[1]}".encode()).digest())
    seen: dict[str, int] = {}
    turns = []
    for case, mode in found:
        seen[case.op] = seen.get(case.op, 0) + 1
        turns.append((seen[case.op], len(turns), case, mode))
    yield from ((case, mode) for _, _, case, mode in sorted(turns, key=lambda t: t[:2]))


def findings(defect: Defect, count: int) -> Iterator[Finding]:
    """`count` cases in which the defect shows as wrong numbers, and what the diagnosis says of each."""
    tries = 0
    for case, mode in drawn(defect):
        if count == 0 or tries > 8 * count + 20:
            return
        tries += 1
        made = attempted(Planted(defect), str(case), mode)
        if made.judgement.verdict not in ("WRONG_VALUE", "WRONG_GRADIENT"):
            continue
        count -= 1
        yield Finding(defect, str(case), mode, *explain(made.posed, made.answer, made.judgement, made.rules))
