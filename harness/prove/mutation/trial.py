"""One case in one mode, posed once as `opproof run` poses it, for many answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from opproof.backends.worker.protocol import Place, array_at
from opproof.cases import Case
from opproof.core.arrays import Array
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.judge.judgement import Judgement, Rules
from opproof.harness.judge.outputs import Answer
from opproof.harness.prove.mutation.arrays import Arrays, same_bits
from opproof.harness.prove.mutation.call import Call
from opproof.harness.prove.mutation.mutant import Mutant
from opproof.harness.reference.expected import expected_of
from opproof.harness.reference.question import pose
from opproof.harness.run.memory.layout import NEAR, lay_out, write
from opproof.harness.run.request import Question, Returned, Settled, received, wanted_of
from opproof.reference_ops import Op

Judge = Callable[..., Judgement]

#: Verdicts that say nothing against an answer.
CLEAR = frozenset({Verdict.PASS, Verdict.MISTRUSTED, Verdict.INCONCLUSIVE})


class Trial:
    """One case in one mode, posed once for many answers."""

    def __init__(self, case: Case, op: Op, mode: Mode, judged_by: Judge, declared: str | None = None) -> None:
        """`declared` is the lower precision by which answers are judged."""
        self.case, self.op, self.mode, self.judged_by = case, op, mode, judged_by
        self.rules = Rules(declared=declared)
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
        return replace(
            self._call(self.asked),
            answer=lambda: list(self.honest),
            unrounded=lambda: list(self._unrounded),
            before=lambda: list(self._honest_before),
        )

    @cached_property
    def honest(self) -> Arrays:
        return self._call(self.asked).again()

    @cached_property
    def _unrounded(self) -> Arrays:
        return self._call(self.asked).exact

    @cached_property
    def _honest_before(self) -> Arrays:
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
        return expected_of(self.posed, self.rules.declared)

    @cached_property
    def sound(self) -> bool:
        """Whether the honest backend passes, so that a mutant's failure is its own."""
        before = self._honest_before if self.op.drawn_from and self.mode is Mode.FORWARD else ()
        return self.judgement(self.honest, before).verdict in CLEAR

    @cached_property
    def _drawn(self) -> Arrays:
        """What the honest forward of the same call gives, where it draws and gradients are asked for."""
        if not self.op.drawn_from or self.mode is Mode.FORWARD:
            return []
        return replace(self._call(self.asked), cotangents=None).again()

    def judgement(self, arrays: Arrays, before: Sequence[Array | None] = ()) -> Judgement:
        """The verdict on an answer, that of the call before being `before`."""
        returned = [None if y is None else Returned(y.shape, y.dtype.name, y) for y in map(_array, arrays)]
        try:
            answer = Answer(received(returned, self.asked), before, drawn=self._drawn)
        except Settled as settled:
            return Judgement(settled.verdict, settled.message)
        return self.judged_by(self.posed, answer, self.rules, self._expected)

    def before(self, mutant: Mutant, kept: dict[Any, Any]) -> Sequence[Array | None]:
        """The mutant's answer to the call before, which draws from another number; nothing where none is drawn."""
        if not self.op.drawn_from or self.mode is not Mode.FORWARD:
            return ()
        honest = replace(self._call(self.other), kept=kept, before=lambda: list(self.honest))
        try:
            with np.errstate(all="ignore"):
                return mutant.results(honest)
        except Exception:  # see `answer_of`
            return ()

    def answer_of(self, mutant: Mutant, kept: dict[Any, Any]) -> Arrays | None:
        """The mutant's answer; None where it raises, which fails the case."""
        try:
            with np.errstate(all="ignore"):
                return mutant.results(replace(self.call, kept=kept))
        except Exception:  # the reference was not written for what a mutant makes of its arguments
            return None


def _array(y: Any) -> Array | None:
    return None if y is None else np.asarray(y)
