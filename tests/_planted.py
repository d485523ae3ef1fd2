"""Labelled defects, planted in the numpy backend at cases drawn from the registry.

Cases are drawn by a hash of the defect's name, so nobody chose them.
"""

import functools
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, lgamma, log

import numpy as np
from _ask import attempted
from _plant_table import DEFECTS, Defect
from _plants import Call

from opproof.cases import Case, cases_of
from opproof.cases._fills.fills import NOT_FINITE
from opproof.core.dtypes import DTYPES
from opproof.harness.diagnose.diagnosis import explain
from opproof.reference_ops import load, names

LARGEST = 6000  # elements of all tensors of a case
#: Bits below which nothing can be told: sixty kinds in a dozen variants each are as many hypotheses; places are fewer.
SCANT, SCANT_PLACES = 10.0, 7.0

__all__ = ["DEFECTS", "Finding", "Planted", "as_true", "bits_of", "findings"]


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
    twin: bool = False  # what the label names gives the same numbers
    bits: float = inf  # of what the answer has to tell the defect by

    @property
    def right(self) -> bool:
        return self.twin or any(label in self.defect.labels for label in self.label.split(" or "))

    @property
    def silent(self) -> bool:
        return not self.label and not self.right

    @property
    def scant(self) -> bool:
        """Silent where the defect itself, were it asked for, would be no better than chance."""
        return self.silent and self.bits < (SCANT_PLACES if self.defect.of_places else SCANT)


def bits_of(defect: Defect, judgement) -> float:
    """What an answer has to tell a defect by, whatever asks: none of the diagnosis is in it.

    Of a place, how many sets of as many elements there are. Of numbers, how many rounding errors a wrong one is off,
    which is how unlikely it is that an unrelated number comes as near; NaN among numbers has two bits, alone none.
    Numbers that only the answer tells cost what as many elements have.
    """
    places, numbers = 0.0, []
    for judged in judgement.tensors:
        failing = ~judged.comparison.passed
        n, k = failing.size, int(failing.sum())
        places += (lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)) / log(2)
        got, kind = np.asarray(judged.got), judged.expected.values.dtype.kind
        if kind != "f":
            numbers += k * [1.0 if kind == "b" else 3.0]
            continue
        units, finite = judged.comparison.units[failing], np.isfinite(got.astype(np.float64))
        bits = np.where(finite[failing], np.log2(np.clip(units, 1, 2**20)), 2.0 * finite.any())
        numbers += sorted(bits)[: max(k - defect.free, 0)]
    return places if defect.of_places else float(sum(numbers))


def as_true(defect: Defect, label: str, case: Case, mode: str) -> bool:
    """Whether what the label names gives the same numbers, to a rounding error or two."""
    others = [plant for twin, plant in defect.twins if twin == label]
    return any(_same(defect.plant, plant, case, mode) for plant in others)


def _same(one, other, case: Case, mode: str) -> bool:
    answers = []
    for plant in (one, other):
        made = attempted(Planted(Defect("twin", (), plant)), str(case), mode)
        if made.answer is None:
            return False
        answers.append(made.answer.arrays)
    near = 4 * DTYPES[case.dtype].u
    pairs = zip(*answers, strict=True)
    return all(x is y or np.allclose(x.astype(float), y.astype(float), near, 0, equal_nan=True) for x, y in pairs)


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
        label, said = explain(made.posed, made.answer, made.judgement, made.rules)
        twin = as_true(defect, label, case, mode)
        yield Finding(defect, str(case), mode, label, said, twin, bits_of(defect, made.judgement))
