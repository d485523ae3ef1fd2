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

from opproof.backends.host.request import Place, array_at
from opproof.cases import Case, cases_of
from opproof.harness.judge.answer import Answer
from opproof.harness.judge.judgement import Judgement, Rules, judge
from opproof.harness.prove.mutation.mutant import Arrays, Call, Mutant, Profile, mutants_of, same_bits
from opproof.harness.run.layout import NEAR, lay_out, write
from opproof.harness.run.plan import has_gradient
from opproof.harness.run.question import Question, Returned, Settled, received, wanted_of
from opproof.harness.truth.posed import pose
from opproof.harness.truth.reference import expected_of
from opproof.reference_ops import Op
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.modes import MODES, Mode
from opproof.vocabulary.verdicts import Verdict

Judge = Callable[..., Judgement]

#: Verdicts that say nothing against an answer.
_CLEAR = frozenset({Verdict.PASS, Verdict.MISTRUSTED, Verdict.INCONCLUSIVE})


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

    def __init__(self, case: Case, op: Op, mode: Mode, judged_by: Judge) -> None:
        self.case, self.op, self.mode, self.judged_by = case, op, mode, judged_by
        pair = pose(case, op, mode)
        self.posed = pair.asked
        wanted = wanted_of(pair.asked, pair.other.outputs)
        self.asked, self.other = Question(pair.asked, wanted), Question(pair.other, wanted)

    def _call(self, question: Question) -> Call:
        """The call with its tensors in memory, as a host has them."""
        layout = lay_out(question, 64, NEAR)
        memory = np.zeros(layout.request.size, np.uint8)
        write(layout, memory)
        stored: dict[int, Array] = {}

        def at(place: Place | None, name: str) -> Array | None:
            if place is None:
                return None
            array = array_at(place, memory)
            buffer = next(b for b in layout.buffers if b.name == name)
            stored[id(array)] = memory[buffer.start : buffer.end]
            return array

        inputs: list[Array | None] = []
        for name, place in zip(question.posed.names, layout.request.inputs, strict=True):
            inputs.append(inputs[place] if isinstance(place, int) else at(place, f"input {name}"))
        gs = [at(place, f"cotangent {i}") for i, place in enumerate(layout.request.cotangents)]
        params = dict(question.posed.params)
        needs = list(question.posed.needs)
        return Call(self.op, self.case.dtype, inputs, params, gs if self.mode is Mode.GRADIENT else None, needs, stored)

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
        return expected_of(self.posed)

    @cached_property
    def sound(self) -> bool:
        """Whether the honest backend passes, so that a mutant's failure is its own."""
        return self.judgement(self.honest).verdict in _CLEAR

    def judgement(self, arrays: Arrays) -> Judgement:
        """The verdict on an answer."""
        returned = [None if y is None else Returned(y.shape, y.dtype.name, y) for y in map(_array, arrays)]
        try:
            answer = Answer(received(returned, self.asked))
        except Settled as settled:
            return Judgement(settled.verdict, settled.message)
        return self.judged_by(self.posed, answer, Rules(), self._expected)

    def answer_of(self, mutant: Mutant, kept: dict[Any, Any]) -> Arrays | None:
        """The mutant's answer; None where it raises, which fails the case."""
        try:
            with np.errstate(all="ignore"):
                return mutant.results(replace(self.call, kept=kept))
        except Exception:  # the reference was not written for what a mutant makes of its arguments
            return None


def _array(y: Any) -> Array | None:
    return None if y is None else np.asarray(y)


def trials(op: Op, mode: Mode, level: str, judged_by: Judge = judge) -> list[Trial]:
    """The cases of one operator in one mode, posed; those without a gradient to ask for are left out."""
    found = [c for c in cases_of(op.name, level) if mode is Mode.FORWARD or has_gradient(c, op)]
    posed = [Trial(c, op, mode, judged_by) for c in found]
    return posed if mode is Mode.FORWARD else [t for t in posed if any(t.posed.needs)]


def profile(op: Op, mode: Mode, posed: Sequence[Trial]) -> Profile:
    """What the cases hold."""
    longest = max((tuple(n for n, _ in t.case.tensors) for t in posed), key=len, default=())
    labels = longest if op.variadic else op.tensors
    inputs = [t.posed.inputs for t in posed]
    results = [y for t in posed for y in t.honest if y is not None]
    return Profile(
        op=op,
        mode=mode,
        cases=tuple(t.case for t in posed),
        inputs=labels,
        floats=frozenset(i for xs in inputs for i, x in enumerate(xs) if x is not None and x.dtype.kind == "f"),
        graded=frozenset(i for t in posed for i, need in enumerate(t.posed.needs) if need),
        read=frozenset(i for i in range(len(labels)) if any(t.reads(i) for t in posed)),
        results=max((len(t.honest) for t in posed), default=0),
        discrete=any(y.dtype.kind in "iub" for y in results),
        moving=any(y.dtype.kind not in "iub" and np.any(np.asarray(y, np.float64) != 0) for y in results),
        rank=max((y.ndim for y in results), default=0),
        cotangent_rank=max((g.ndim for t in posed for g in t.posed.cotangents if g is not None), default=0),
    )


def fates(op: Op, level: str, judged_by: Judge = judge) -> Iterator[Fate]:
    """What becomes of every mutant of `op`."""
    for mode in MODES:
        if mode is Mode.GRADIENT and op.vjp is None:
            continue
        posed = trials(op, mode, level, judged_by)
        if posed:
            for mutant in mutants_of(profile(op, mode, posed)):
                yield _fate(mutant, op, mode, posed)


def _fate(mutant: Mutant, op: Op, mode: Mode, posed: Sequence[Trial]) -> Fate:
    kept: dict[Any, Any] = {}
    shown, largest = 0, 0.0
    for trial in posed:
        if mutant.dtypes and trial.case.dtype not in mutant.dtypes:
            continue
        answer = trial.answer_of(mutant, kept)
        if answer is not None and same_bits(answer, trial.honest):
            continue
        shown += 1
        found = Judgement(Verdict.ERROR) if answer is None else trial.judgement(answer)
        if found.verdict not in _CLEAR and trial.sound:
            return Fate(op.name, mode, mutant.name, str(trial.case), shown, mutant.must_show)
        largest = max(largest, 0.0 if found.units is None else found.units)
    return Fate(op.name, mode, mutant.name, "", shown, mutant.must_show, largest)
