"""The suite against mutants of the reference backend: which of them does some case kill?

For each operator and mode every case is posed once, as `opproof run` poses it; the honest answer and the
expectations are kept, and each mutant answers case after case, smoke rows first, until one is judged wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from opproof.cases import Case, cases_of
from opproof.harness.judge.judgement import Judgement, Rules, expectations, judge
from opproof.harness.prove.mutation.mutant import Arrays, Call, Mutant, Profile, mutants_of, same_bits
from opproof.harness.run.call import Question, Settled, lay_out, received
from opproof.harness.run.execute import Outcome, pose
from opproof.harness.run.plan import has_gradient
from opproof.harness.truth.data import arguments, parameters
from opproof.reference_ops import Op
from opproof.vocabulary.modes import MODES

Judge = Callable[..., Judgement]

#: Verdicts that say nothing against an answer.
_CLEAR = frozenset({"PASS", "MISTRUSTED", "INCONCLUSIVE"})


@dataclass(frozen=True)
class Fate:
    """What became of one mutant."""

    op: str
    mode: str
    mutant: str
    killed_by: str  # the first case that failed; empty for a survivor
    shown: int  # cases in which its answer differed from the honest one, up to the one that killed it
    must_show: bool
    units: float = 0.0  # the largest error that passed

    @property
    def counts(self) -> bool:
        """Whether it is a mutant at all: its answers differ from the honest ones, or ought to in some case."""
        return bool(self.killed_by) or self.shown > 0 or self.must_show

    @property
    def name(self) -> str:
        return f"{self.mode}: {self.mutant}"


class Trial:
    """One case in one mode, posed once for many answers."""

    def __init__(self, case: Case, op: Op, mode: str, judged_by: Judge) -> None:
        self.case, self.op, self.mode, self.judged_by = case, op, mode, judged_by
        self.outcome, self.asked, self.other = pose(None, case, op, mode)

    def _call(self, question: Question) -> Call:
        memory = lay_out(question, into=False)
        params = parameters(self.case, self.op)
        gs = memory.cotangents if self.mode == "gradient" else None
        names = [f"input {n}" for n in arguments(self.case, self.op)]
        stored = {
            id(x): memory.buffers[key].data
            for key, x in [*zip(names, memory.inputs, strict=True), *_numbered(memory.cotangents)]
            if x is not None and key in memory.buffers
        }
        return Call(self.op, self.case.dtype, memory.inputs, params, gs, self.outcome.needs, stored)

    @cached_property
    def call(self) -> Call:
        call = self._call(self.asked)
        return replace(call, answer=lambda: list(self.honest), before=lambda: list(self.honest_before))

    @cached_property
    def honest(self) -> Arrays:
        return self._call(self.asked).again()

    @cached_property
    def honest_before(self) -> Arrays:
        return self._call(self.other).again()

    def reads(self, i: int) -> bool:
        """Whether other data in argument `i` give another answer."""
        call, other = self.call, self._call(self.other)
        given = call.inputs[i] if i < len(call.inputs) else None
        if given is None or not given.size:
            return False
        mixed = [o if k == i else x for k, (x, o) in enumerate(zip(call.inputs, other.inputs, strict=True))]
        return not same_bits(call.again(inputs=mixed), self.honest)

    @cached_property
    def _expected(self) -> Any:
        return expectations(self.case, self.op, self.mode, self.outcome, Rules())

    @cached_property
    def sound(self) -> bool:
        """Whether the honest backend passes, so that a mutant's failure is its own."""
        return self.judgement(self.honest).verdict in _CLEAR

    def judgement(self, arrays: Arrays) -> Judgement:
        """The verdict on an answer."""
        try:
            found = received(arrays, self.asked, into=False)
        except Settled as settled:
            return Judgement(settled.verdict, settled.message)
        outcome: Outcome = replace(self.outcome, arrays=found)
        return self.judged_by(self.case, self.op, self.mode, outcome, Rules(), self._expected)

    def answer_of(self, mutant: Mutant, kept: dict[Any, Any]) -> Arrays | None:
        """The mutant's answer; None where it raises, which fails the case."""
        try:
            with np.errstate(all="ignore"):
                return mutant.results(replace(self.call, kept=kept))
        except (ValueError, TypeError, IndexError, ZeroDivisionError, AssertionError, KeyError, OverflowError):
            return None


def _numbered(cotangents: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    for i, g in enumerate(cotangents):
        yield f"cotangent {i}", g


def trials(op: Op, mode: str, level: str, judged_by: Judge = judge) -> list[Trial]:
    """The cases of one operator in one mode, posed; those without a gradient to ask for are left out."""
    found = [c for c in cases_of(op.name, level) if mode == "forward" or has_gradient(c, op)]
    posed = [Trial(c, op, mode, judged_by) for c in found]
    return posed if mode == "forward" else [t for t in posed if any(t.outcome.needs)]


def profile(op: Op, mode: str, posed: Sequence[Trial]) -> Profile:
    """What the cases hold."""
    longest = max((tuple(n for n, _ in t.case.tensors) for t in posed), key=len, default=())
    labels = longest if op.variadic else op.tensors
    inputs = [t.outcome.inputs for t in posed]
    results = [y for t in posed for y in t.honest if y is not None]
    return Profile(
        op=op,
        mode=mode,
        cases=tuple(t.case for t in posed),
        inputs=labels,
        floats=frozenset(i for xs in inputs for i, x in enumerate(xs) if x is not None and x.dtype.kind == "f"),
        graded=frozenset(i for t in posed for i, need in enumerate(t.outcome.needs) if need),
        read=frozenset(i for i in range(len(labels)) if any(t.reads(i) for t in posed)),
        results=max((len(t.honest) for t in posed), default=0),
        discrete=any(y.dtype.kind in "iub" for y in results),
        moving=any(y.dtype.kind not in "iub" and np.any(np.asarray(y, np.float64) != 0) for y in results),
        rank=max((y.ndim for y in results), default=0),
        cotangent_rank=max((g.ndim for t in posed for g in t.outcome.cotangents if g is not None), default=0),
    )


def fates(op: Op, level: str, judged_by: Judge = judge) -> Iterator[Fate]:
    """What becomes of every mutant of `op`."""
    for mode in MODES:
        if mode == "gradient" and op.vjp is None:
            continue
        posed = trials(op, mode, level, judged_by)
        if posed:
            for mutant in mutants_of(profile(op, mode, posed)):
                yield _fate(mutant, op, mode, posed)


def _fate(mutant: Mutant, op: Op, mode: str, posed: Sequence[Trial]) -> Fate:
    kept: dict[Any, Any] = {}
    shown, largest = 0, 0.0
    for trial in posed:
        if mutant.dtypes and trial.case.dtype not in mutant.dtypes:
            continue
        answer = trial.answer_of(mutant, kept)
        if answer is not None and same_bits(answer, trial.honest):
            continue
        shown += 1
        found = Judgement("ERROR") if answer is None else trial.judgement(answer)
        if found.verdict not in _CLEAR and trial.sound:
            return Fate(op.name, mode, mutant.name, str(trial.case), shown, mutant.must_show)
        largest = max(largest, 0.0 if found.units is None else found.units)
    return Fate(op.name, mode, mutant.name, "", shown, mutant.must_show, largest)
