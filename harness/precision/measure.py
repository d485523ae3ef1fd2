"""One record judged twice: by the precision that honest arithmetic has, and by a lower one that may be declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from opproof.core.dtypes import DTYPES, Declaration, Dtype, round_to
from opproof.core.verdicts import WRONG, Verdict
from opproof.harness.judge.array_statistics import Rounding
from opproof.harness.judge.judgement import Judged, Judgement, judge
from opproof.harness.reference.roundoff import COMPUTE_U
from opproof.harness.run.attempt import Attempt

#: Of results, the part that must be the next number towards zero where a store truncates.
MOST = 0.9


@dataclass(frozen=True)
class Twice:
    """A record judged without a declaration, and with those that may help where that fails."""

    without: Judgement
    passing: Mapping[Declaration, Judgement] = field(default_factory=dict)  # the declarations by which it passes

    @property
    def by(self) -> Declaration:
        """The least by which it passes; none where it needs none, or none helps."""
        return next(iter(self.passing), Declaration())

    @property
    def fails(self) -> bool:
        """Whether it is wrong where nothing is declared."""
        return self.without.verdict in WRONG

    @property
    def mended(self) -> bool:
        """Whether it passes by a declaration alone."""
        return self.fails and bool(self.passing)

    @property
    def fails_either_way(self) -> bool:
        """Whether no declaration makes it pass."""
        return self.fails and not self.passing

    @property
    def is_ground(self) -> bool:
        """Whether it is a reason to declare what makes it pass: infinities and NaN are no rounding errors."""
        return self.mended and self.without.nonfinite == 0


def declared_by(made: Attempt) -> Declaration:
    """What the backend declared when it was asked."""
    return Declaration() if made.rules is None else Declaration(made.rules.declared, made.rules.rounding)


def twice(made: Attempt) -> Twice | None:
    """The two judgements of an attempt; None where it did not come to numbers that could be judged."""
    if made.posed is None or made.answer is None or made.rules is None:
        return None
    if made.judgement.verdict not in {*WRONG, Verdict.PASS, Verdict.MISTRUSTED}:
        return None
    posed, answer, rules, declared = made.posed, made.answer, made.rules, declared_by(made)

    def judged(by: Declaration) -> Judgement:
        if by == declared:
            return made.judgement
        return judge(posed, answer, replace(rules, declared=by.compute, rounding=by.rounding))

    without = judged(Declaration())
    if without.verdict not in WRONG:
        return Twice(_slim(without))
    made_by = {by: _slim(judged(by)) for by in _candidates(declared, posed.case.dtypes, without)}
    return Twice(_slim(without), {by: j for by, j in made_by.items() if j.verdict is Verdict.PASS})


def _truncated(judged: Judged, dtype: Dtype) -> bool:
    """Whether results are cut off, and not merely too small on average: they are the next number towards zero."""
    if judged.figures.rounding is not Rounding.TRUNCATE or not judged.comparison.passed.all():
        return False
    values = judged.expected.values
    nearest = round_to(values, dtype)
    cut = np.where(
        np.abs(nearest) > np.abs(values), np.nextafter(nearest.astype(dtype.numpy), dtype.numpy.type(0)), nearest
    )
    counted = np.isfinite(values) & (np.abs(values) >= dtype.tiny) & np.isfinite(nearest)
    same = np.asarray(judged.got, dtype=np.float64) == cut
    return bool(counted.any() and np.mean(same[counted]) > MOST)


def _slim(judgement: Judgement) -> Judgement:
    """Without the arrays, of which many records would be many."""
    return replace(judgement, tensors=())


def _candidates(declared: Declaration, dtypes: Sequence[str], without: Judgement) -> list[Declaration]:
    """What may make a wrong record pass, the least first; `dtypes` are those of its tensors, that of results first.

    A rounding that is declared comes last: many an error passes by it that is something else.
    """
    candidates, (dtype, *others) = [], dtypes
    if any(_truncated(j, DTYPES[dtype]) for j in without.tensors):
        candidates.append(Declaration(rounding=str(Rounding.TRUNCATE)))
    # In 16 bits first what is stored between kernels, then sums too: each is a lower precision than the one before.
    usual = ("f32",) if dtype == "f64" else ("storage", dtype) if DTYPES[dtype].digits < 24 else ()
    coarser = [other for other in others if other in COMPUTE_U and DTYPES[other].digits < DTYPES[dtype].digits]
    candidates += [Declaration(compute) for compute in (declared.compute, *usual, *coarser)]
    return list(dict.fromkeys(c for c in (*candidates, declared) if c))
