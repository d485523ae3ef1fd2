"""The pattern of an error, said in a sentence.

Each pattern is a small function from a wrong tensor to a sentence, or None where it does not fit. An
explanation fits when it accounts for every element of the tensor, the right ones included, and
when as good an account by chance is unlikely (`BITS`). The table goes from what
says most to what says least; silence is better than a guess. benchmarks/diagnosis.py measures
how often the sentence is right.

Bounds on what a diagnosis may take: inputs in each other's place may make results of any size.

A scan of 16,385 steps whose state was read as its input has as many states at each of them: 24 GB, and the judge was
killed.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from opproof.core.verdicts import NEAR_ONE, SIZE, Mode
from opproof.harness.diagnose import (
    cancellation,
    factor,
    inputs,
    integers,
    nonfinite,
    other_call,
    parameters,
    positions,
    precision,
    rows,
    where,
)
from opproof.harness.diagnose import factor as scaled
from opproof.harness.diagnose import precision as smooth
from opproof.harness.diagnose import precision as undeclared
from opproof.harness.diagnose import rows as statistics
from opproof.harness.diagnose.wrong import Wrong, every, wrongs
from opproof.harness.judge.gradient import Rules
from opproof.harness.judge.judgement import Judgement
from opproof.harness.judge.outputs import Answer
from opproof.harness.reference.data import distances
from opproof.harness.reference.question import Posed

#: A sentence, or None; with a label of its own where one function finds several kinds.
Pattern = Callable[[Wrong], str | tuple[str, str] | None]

#: Label and function of every pattern, the most telling first.
PATTERNS: tuple[tuple[str, Pattern], ...] = (
    ("zeros", scaled.zeros),
    ("stale", scaled.stale),
    ("sign", scaled.sign),
    ("cotangent ignored", other_call.cotangent_ignored),
    ("rows left", other_call.rows_left),
    ("sign", integers.sign_lost),
    ("copy", scaled.copy),
    ("offset ignored", positions.offset_ignored),
    ("stride ignored", positions.stride_ignored),
    ("transposed", positions.transposed),
    ("wrong axis", parameters.wrong_axis),
    ("parameter ignored", parameters.ignored),
    ("swapped parameters", parameters.swapped),
    ("parameter rounded", parameters.parameter_rounded),
    ("other parameter", parameters.other_value),
    ("eps", cancellation.other_side),
    ("unbiased", cancellation.of_samples),
    ("overwritten", positions.overwritten),
    ("causal edge", positions.causal_edge),
    ("heads", positions.heads),
    ("groups", positions.groups),
    ("groups", positions.channels),
    ("precision", precision.inputs_rounded),
    ("precision", precision.results_rounded),
    ("constant", scaled.constant),
    ("factor", factor.factor),
    ("not summed", other_call.not_summed),
    ("swapped inputs", inputs.swapped_inputs),
    ("input ignored", other_call.input_ignored),
    ("input ignored", other_call.derivative_elsewhere),
    ("input ignored", inputs.one_for_another),
    ("input ignored", other_call.input_ignored_here),
    ("factor", factor.times_tensor),
    ("halves", integers.halves),
    ("wrapped", integers.wrapped_codes),
    ("wrapped", integers.wrapped),
    ("saturated", integers.saturated),
    ("unsigned", integers.misread),
    ("one off", integers.off_by_one),
    ("constant added", integers.constant_added),
    ("constant added", scaled.constant_added),
    ("other operator", other_call.other_operator),
    ("other values", inputs.changed_values),
    (NEAR_ONE, cancellation.lost),
    ("squares cancelled", cancellation.squares),
    ("precision", rows.rounded_statistic),
    ("row factor", rows.factors),
    ("statistic", statistics.mean_constant),
    ("row shift", rows.shifts),
    ("statistic", statistics.held_constant),
    ("off by one", positions.off_by_one),
    ("reversed", positions.reversed_),
    ("first everywhere", positions.first_everywhere),
    ("misread input", positions.moved),
    ("direction", positions.direction),
    ("terms dropped", inputs.left_out_of_one),
    ("terms dropped", inputs.left_out_of_all),
    ("precision", precision.held),
    ("nan", nonfinite.explained),
    ("overflow", nonfinite.large),
    ("overflow", nonfinite.exponentials),
)
#: Those that say less than that a declaration would make the record pass.
WEAKER: tuple[tuple[str, Pattern], ...] = (
    ("region", where.only_there),
    ("constant", nonfinite.everywhere),
    (SIZE, precision.size_of_errors),
)


#: Those that evaluate another call: where no element is wrong by itself, only they say more than the judgement.
TOGETHER = tuple(p for p in PATTERNS if p[0] in ("wrong axis", "parameter ignored", "other parameter", "eps"))
#: Those that say more where every element is within its bound.
WITHIN = tuple(p for p in PATTERNS if p[0] == "parameter rounded")
#: Elements up to which every pattern is tried, not only those before the first that fits, and how many sentences.
_SMALL, _MOST = 2**12, 8


def diagnose(
    posed: Posed, answer: Answer, judgement: Judgement, rules: Rules | None = None, others: Sequence[Wrong] = ()
) -> str:
    """What the error looks like; empty where no pattern fits.

    `rules`: by which it was judged; `others`: what came of the backend in other calls.
    """
    return explain(posed, answer, judgement, rules, others)[1]


def others(posed: Posed, answer: Answer, judgement: Judgement, said: str) -> tuple[tuple[str, str], ...]:
    """Label and sentence of what fits beside `said`, the most telling first: what explains several records is right.

    Where nothing is said no pattern fits, and there is only what another record may tell.
    """
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tensors = wrongs(posed, answer, judgement)
        small = [w for w in tensors if w.got.size <= _SMALL]
        patterns, regions = (PATTERNS, tensors) if said else ((), [])
        found = [_first([pattern], [w]) for pattern in patterns for w in small]
        found += [("parameter ignored", s) for w in small if said for s in parameters.each_ignored(w)]
        found += slight(tensors)
        found += [("other parameter", value) for w in small if (value := parameters.perhaps(w))]
        found += [(r.label, where.said(w, r)) for w in regions for r in where.as_good(w)]
    labels: dict[str, str] = {}
    for label, sentence in found:
        labels.setdefault(sentence, label)
    return tuple((label, s) for s, label in labels.items() if s and s != said)[:_MOST]


def slight(tensors: Sequence[Wrong]) -> list[tuple[str, str]]:
    """Label and sentence of what is so small that digits lost beside 1 may be all that is wrong."""
    return [(NEAR_ONE, said) for w in tensors if (said := cancellation.perhaps(w))]


def explain(
    posed: Posed,
    answer: Answer,
    judgement: Judgement,
    rules: Rules | None = None,
    others: Sequence[Wrong] = (),
    declarable: Callable[[Posed, Answer, Judgement, Rules], tuple[str, str]] = undeclared.storage,
) -> tuple[str, str]:
    """The label of the pattern and the sentence; both empty where no pattern fits.

    `declarable`: says what a declaration would make right, for who judges by other means than ours.
    """
    rules = Rules() if rules is None else rules
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tensors = wrongs(posed, answer, judgement, others)
        if not tensors:
            label, said = _first(WITHIN, every(posed, answer, judgement))
            if not said:
                label, said = _no_element(posed)
            if not said:
                label, said = _first(TOGETHER, wrongs(posed, answer, judgement, together=True))
            return (label, said) if said else declarable(posed, answer, judgement, rules)
        label, said = _first(PATTERNS, tensors)
        if not said:
            label, said = _first(PATTERNS, [s for w in tensors if (s := w.from_saved()) is not None])
        if not said and not any(smooth.follows(w) for w in tensors):
            label, said = declarable(posed, answer, judgement, rules)
        return (label, said) if said else _first(WEAKER, tensors)


def _first(patterns: Sequence[tuple[str, Pattern]], tensors: Sequence[Wrong]) -> tuple[str, str]:
    """Label and sentence of the first pattern that fits all tensors, else of the first that fits one; or empty."""
    best = "", ""
    small = sum(w.got.size for w in tensors) <= 4 * _SMALL
    for label, pattern in patterns:
        found = []
        for wrong in tensors:
            if said := _tried(pattern, wrong):
                found.append(said if isinstance(said, tuple) else (label, said))
            elif not small:
                continue
            elif best[1]:
                break  # one that fits some is known already, only one that fits all is wanted
        if found and (len(found) == len(tensors) or not small):
            return found[0]
        best = best if best[1] or not found else found[0]
    return best


def _tried(pattern: Pattern, wrong: Wrong) -> str | tuple[str, str] | None:
    """What `pattern` says; a pattern that cannot be computed on these shapes and values does not fit."""
    try:
        with bounded():
            return pattern(wrong)
    except (ArithmeticError, IndexError, MemoryError, TypeError, ValueError):
        return None


def _no_element(posed: Posed) -> tuple[str, str]:
    """No element is wrong by itself: the objection was to the sum of a gradient over kinks."""
    if posed.mode is Mode.FORWARD:
        return "", ""
    given = zip(posed.names, posed.inputs, strict=True)
    values = {name: v for name, v in given if name is not None and v is not None}
    at_kink = (distances(posed.case, posed.op, values) == 0).any()
    return ("kinks", "wrong only at kinks or ties") if at_kink else ("", "")


#: Bytes that a diagnosis may take beside what is there.
ROOM = 2 << 30


@contextlib.contextmanager
def bounded(room: int = ROOM) -> Iterator[None]:
    """A block in which this process gets no more than `room` bytes: MemoryError is raised then. On Linux alone."""
    if sys.platform != "linux":
        yield
        return
    import resource

    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = pages * os.sysconf("SC_PAGE_SIZE") + room
    limits = [n for n in (soft, hard, most) if n != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
