"""Failures looked at again where noise as large as honest rounding would fail too: then nothing can be told.

Bounds are measured with noise so small that its effect grows with it. Where a reference is sensitive to its own
roundings, as the sine of an angle of many turns in 16 bits is, it does not: an honest kernel would be refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from opproof.core.dtypes import DTYPES, round_to
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.check.comparison import compare
from opproof.harness.judge.judgement import Judgement
from opproof.harness.reference.torch.arithmetic import Arithmetic, Tape
from opproof.harness.reference.torch.evaluate import Question, Truth, evaluated, key_of, true_amplitudes

#: Evaluations with noise of its true size.
_TRUE = 2


def undecided(question: Question, known: Truth, judgements: Mapping[Mode, Judgement]) -> dict[Mode, Judgement]:
    """The judgements; what is wrong where the reference under noise of its true size is too is INCONCLUSIVE."""
    wrong = [m for m, j in judgements.items() if j.verdict in WRONG and j.tensors]
    beyond = _beyond(question, known) if wrong else frozenset()
    text = "honest rounding leaves the bound too: the reference is too sensitive here for a verdict"
    return {
        m: replace(j, verdict=Verdict.INCONCLUSIVE, message=text, tensors=()) if m in wrong and m in beyond else j
        for m, j in judgements.items()
    }


def _beyond(question: Question, known: Truth) -> frozenset[Mode]:
    """The modes in which noise of its true size leaves the bound."""
    import torch

    tape = Tape()
    evaluated(Arithmetic(torch, tape), question, 0.0)
    true = true_amplitudes(question)
    count = len(known.outputs)
    found = set()
    for run in range(_TRUE):
        ys = evaluated(Arithmetic(torch, tape.rewound(), true, key_of(question, run)), question, 1.0)
        kinds = question.results
        for i, (y, e, kind) in enumerate(zip(ys, (*known.outputs, *known.gradients), kinds, strict=True)):
            if y is None or e is None or not kind or e.exact:
                continue
            with np.errstate(all="ignore"):
                got = np.asarray(round_to(y, DTYPES[kind]))
            if not compare(got, e, kind).passed.all():
                found.add(Mode.FORWARD if i < count else Mode.GRADIENT)
    return frozenset(found)
