"""The suite against mutants of the reference backend: which of them does some case kill, in each dtype?

For each operator, mode and dtype every case is posed once; the honest answer and the expectations are kept, and each
mutant answers case after case, smoke rows first, until one is judged wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from opproof.cases import cases_of
from opproof.core.dtypes import DECLARED
from opproof.core.verdicts import MODES, Mode, Verdict
from opproof.harness.judge.judgement import Judgement, judge
from opproof.harness.prove.mutation.arrays import same_bits
from opproof.harness.prove.mutation.mutant import Mutant, Profile, mutants_of
from opproof.harness.prove.mutation.trial import CLEAR, Judge, Trial
from opproof.harness.run.plan import is_asked
from opproof.reference_ops import Op

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


def trials(
    op: Op, mode: Mode, dtype: str, level: str, judged_by: Judge = judge, declared: str | None = None
) -> list[Trial]:
    """The cases of one operator in one mode and dtype, posed; those without a gradient to ask for are left out."""
    cases = [c for c in cases_of(op.name, level) if c.dtypes == (dtype,)]
    posed = [Trial(c, op, mode, judged_by, declared) for c in cases if is_asked(c, op, mode)]
    return posed if mode is Mode.FORWARD else [t for t in posed if any(t.posed.needs)]


def profile(op: Op, mode: Mode, dtype: str, posed: Sequence[Trial]) -> Profile:
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


def fates(
    op: Op, level: str, dtypes: Sequence[str] = JUDGED, judged_by: Judge = judge, declared: str | None = None
) -> Iterator[Fate]:
    """What becomes of every mutant of `op` in every dtype that it has cases of, as a backend that `declared` that."""
    for mode in MODES:
        if mode is Mode.GRADIENT and op.vjp is None:
            continue
        for dtype in dtypes:
            posed = trials(op, mode, dtype, level, judged_by, declared)
            if posed:
                for mutant in mutants_of(profile(op, mode, dtype, posed)):
                    yield fate(mutant if dtype in JUDGED else replace(mutant, must_show=False), posed)


def fate(mutant: Mutant, posed: Sequence[Trial]) -> Fate:
    """What becomes of one mutant in cases of one operator, mode and dtype."""
    kept: dict[Any, Any] = {}
    shown = 0
    passed: list[Judgement] = []
    op, mode, dtype = posed[0].op.name, posed[0].mode, posed[0].case.dtype
    for trial in posed:
        answer = trial.answer_of(mutant, kept)
        if answer is not None and same_bits(answer, trial.honest):
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
