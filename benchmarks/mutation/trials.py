"""The suite against mutants of the reference backend: which of them does some case kill, in each dtype?

For each operator, mode and dtype every case is posed once, as a run poses it; the honest answer and the expectations
are kept, and each mutant answers case after case, smoke rows first, until one is judged wrong.
"""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from mutation.gradients import gradient_mutants, sum_mutants
from mutation.inputs import input_mutants, parameter_mutants
from mutation.memory import memory_mutants
from mutation.mutant import Arrays, Mutant, Profile, ReferenceCall, are_same_arrays
from mutation.precision import interior_mutants, precision_mutants
from mutation.results import result_mutants, store_mutants
from mutation.rules import draw_mutants, integer_mutants, rule_mutants
from opproof.backends.worker.protocol import BufferRef, read_array_at
from opproof.cases import Case, cases_of
from opproof.core.arrays import Array
from opproof.core.dtypes import DECLARED
from opproof.core.verdicts import MODES, Mode, Verdict
from opproof.harness.judge.judgement import Judgement, Rules, judge
from opproof.harness.judge.outputs import EarlyVerdict, Outputs
from opproof.harness.reference.expected import evaluate_expected
from opproof.harness.reference.question import make_question
from opproof.harness.run.memory import TRAVEL_GUARD_PAGES, make_layout, write
from opproof.harness.run.plan import is_asked
from opproof.harness.run.request import Request, Returned, check_returned, wanted_of
from opproof.reference_ops import Op, load

Judge = Callable[..., Judgement]

#: Verdicts that say nothing against an answer.
CLEAR = frozenset({Verdict.PASS, Verdict.VACUOUS, Verdict.INCONCLUSIVE})


class Trial:
    """One case in one mode, posed once for many answers."""

    def __init__(self, case: Case, op: Op, mode: Mode, judged_by: Judge, declared: str | None = None) -> None:
        """`declared` is the lower precision by which answers are judged."""
        self.case, self.op, self.mode, self.judged_by = case, op, mode, judged_by
        self.rules = Rules(declared=declared)
        pair = make_question(case, op, mode)
        self.posed = pair.case_data
        wanted = wanted_of(pair.case_data, pair.decoy_data.outputs)
        self.asked, self.other = Request(pair.case_data, wanted), Request(pair.decoy_data, wanted)

    def _call(self, question: Request) -> ReferenceCall:
        """The call with its tensors in memory, as a host has them."""
        layout = make_layout(question, 64, TRAVEL_GUARD_PAGES)
        memory = np.zeros(layout.request.size, np.uint8)
        write(layout, memory)
        stored: dict[int, Array] = {}

        def at(place: BufferRef | None, name: str) -> Array | None:
            if place is None:
                return None
            array = read_array_at(place, memory)
            buffer = next(b for b in layout.buffers if b.name == name)
            stored[id(array)] = memory[buffer.start : buffer.end]
            return array

        inputs: list[Array | None] = []
        for name, place in zip(question.posed.names, layout.request.inputs, strict=True):
            inputs.append(inputs[place] if isinstance(place, int) else at(place, f"input {name}"))
        gs = [at(place, f"cotangent {i}") for i, place in enumerate(layout.request.cotangents)]
        params = dict(question.posed.params)
        needs = list(question.posed.needs)
        return ReferenceCall(
            self.op, self.case.dtype, inputs, params, gs if self.mode is Mode.GRADIENT else None, needs, stored
        )

    @cached_property
    def call(self) -> ReferenceCall:
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
        return not are_same_arrays(call.again(inputs=mixed), self.honest)

    @cached_property
    def _expected(self) -> Any:
        return evaluate_expected(self.posed, self.rules.declared)

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
        returned = [None if y is None else Returned(y.shape, y.dtype.name, y) for y in map(_to_array, arrays)]
        try:
            answer = Outputs(check_returned(returned, self.asked), before, drawn=self._drawn)
        except EarlyVerdict as settled:
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


def _to_array(y: Any) -> Array | None:
    return None if y is None else np.asarray(y)


#: A kernel for one of them is a kernel of its own.
JUDGED = ("f32", "f16", "bf16")
#: Those of them in which a backend may declare that its intermediates are stored.
NARROW = ("f16", "bf16")
#: Those that are judged where they are asked for: values alone, in few rows that take turns, so that no mutant must
#: show in each of them.
TYPED = DECLARED


@dataclass(frozen=True)
class Fate:
    """What became of one mutant in one dtype."""

    op: str
    mode: str
    dtype: str
    mutant: str
    killed_by: str  # the first case that failed; empty for a survivor
    shown: int  # cases in which its answer differed from the honest one, up to the one that killed it
    must_show: bool
    units: float = 0.0  # the largest error of an element that passed
    rms: float = 0.0  # the largest of an array that passed
    bias: float = 0.0  # the mean of signed units farthest from 0, of an array that passed

    @property
    def counts(self) -> bool:
        """Whether it is a mutant at all: its answers differ from the honest ones, or ought to in some case."""
        return bool(self.killed_by) or self.shown > 0 or self.must_show

    @property
    def name(self) -> str:
        return f"{self.mode}: {self.mutant}"

    @property
    def why_alive(self) -> str:
        """What a survivor's answers were."""
        if not self.shown:
            return "no case shows it"
        figures = f"{self.units:.2g} units, RMS to {self.rms:.2g}, bias to {self.bias:.2g}"
        return f"passes {self.shown} cases, errors to {figures}"


def make_trials(
    op: Op, mode: Mode, dtype: str, level: str, judged_by: Judge = judge, declared: str | None = None
) -> list[Trial]:
    """The cases of one operator in one mode and dtype, posed; those without a gradient to ask for are left out."""
    cases = [c for c in cases_of(op.name, level) if c.dtypes == (dtype,)]
    posed = [Trial(c, op, mode, judged_by, declared) for c in cases if is_asked(c, op, mode)]
    return posed if mode is Mode.FORWARD else [t for t in posed if any(t.posed.needs)]


def profile_of(op: Op, mode: Mode, dtype: str, posed: Sequence[Trial]) -> Profile:
    """What the cases hold."""
    longest = max((tuple(n for n, _ in t.case.tensors) for t in posed), key=len, default=())
    labels = longest if op.variadic else op.tensors
    inputs = [t.posed.inputs for t in posed]
    results = [y for t in posed for y in t.honest if y is not None]
    return Profile(
        op=op,
        mode=mode,
        dtype=dtype,
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


def fates_of_mutants(
    op: Op, level: str, dtypes: Sequence[str] = JUDGED, judged_by: Judge = judge, declared: str | None = None
) -> Iterator[Fate]:
    """What becomes of every mutant of `op` in every dtype that it has cases of, as a backend that `declared` that."""
    for mode in MODES:
        if mode is Mode.GRADIENT and op.vjp is None:
            continue
        for dtype in dtypes:
            posed = make_trials(op, mode, dtype, level, judged_by, declared)
            if posed:
                for mutant in mutants_of(profile_of(op, mode, dtype, posed)):
                    yield judge_mutant(mutant if dtype in JUDGED else replace(mutant, must_show=False), posed)


def judge_mutant(mutant: Mutant, posed: Sequence[Trial]) -> Fate:
    """What becomes of one mutant in cases of one operator, mode and dtype."""
    kept: dict[Any, Any] = {}
    shown = 0
    passed: list[Judgement] = []
    op, mode, dtype = posed[0].op.name, posed[0].mode, posed[0].case.dtype
    for trial in posed:
        answer = trial.answer_of(mutant, kept)
        if answer is not None and are_same_arrays(answer, trial.honest):
            continue
        shown += 1
        found = Judgement(Verdict.ERROR) if answer is None else trial.judgement(answer, trial.before(mutant, kept))
        if found.verdict not in CLEAR and trial.sound:
            return Fate(op, mode, dtype, mutant.name, str(trial.case), shown, mutant.must_show)
        passed.append(replace(found, tensors=(), worst=None))
    units = max((j.units or 0.0 for j in passed), default=0.0)
    rms = max((j.figures.rms or 0.0 for j in passed), default=0.0)
    bias = max((j.figures.bias or 0.0 for j in passed), default=0.0, key=abs)
    return Fate(op, mode, dtype, mutant.name, "", shown, mutant.must_show, units, rms, bias)


def of_op(name: str, level: str, dtypes: Sequence[str] = JUDGED, declared: str | None = None) -> list[Fate]:
    """What becomes of every mutant of one operator."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mutants compute nonsense, and NumPy says so
        return list(fates_of_mutants(load(name), level, dtypes, declared=declared))


def run_operators(
    names: Sequence[str], level: str, jobs: int, dtypes: Sequence[str] = JUDGED, declared: str | None = None
) -> Iterator[list[Fate]]:
    """The fates of each operator in turn."""
    work = partial(of_op, level=level, dtypes=dtypes, declared=declared)
    if jobs == 1:
        yield from map(work, names)
        return
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(work, names)


#: Functions that make mutants of a profile, in the order in which reports name what they make.
FAMILIES = (
    result_mutants,
    input_mutants,
    parameter_mutants,
    memory_mutants,
    precision_mutants,
    interior_mutants,
    store_mutants,
    gradient_mutants,
    rule_mutants,
    sum_mutants,
    draw_mutants,
    integer_mutants,
)


def mutants_of(profile: Profile) -> list[Mutant]:
    """Return all mutants of one operator in one mode."""
    found = [m for family in FAMILIES for m in family(profile)]
    assert len({m.name for m in found}) == len(found), f"two mutants of {profile.op.name} have one name"
    return found
