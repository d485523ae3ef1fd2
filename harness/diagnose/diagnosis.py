"""The table of patterns, what says most before what says least, and the sentence of the first that fits an answer.

A pattern is a function from a wrong tensor to a sentence, or None where it does not fit: it has to account for every
element, and to be unlikely by chance. benchmarks/diagnosis.py measures how often the sentence is right.
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
    integers,
    nonfinite,
    other_call,
    parameters,
    positions,
    precision,
    rows,
    where,
)
from opproof.harness.diagnose.wrong import WrongTensor, list_all_tensors, list_wrong_tensors
from opproof.harness.judge.gradient import Rules
from opproof.harness.judge.judgement import Judgement
from opproof.harness.judge.outputs import Outputs
from opproof.harness.reference.data import measure_kink_distances
from opproof.harness.reference.question import Question

#: A sentence, or None; with a label of its own where one function finds several kinds.
Pattern = Callable[[WrongTensor], str | tuple[str, str] | None]

#: Label and function of every pattern, the most telling first.
PATTERNS: tuple[tuple[str, Pattern], ...] = (
    ("zeros", factor.find_zeros),
    ("stale", factor.find_stale),
    ("sign", factor.find_sign),
    ("cotangent ignored", other_call.find_ignored_cotangent),
    ("rows left", other_call.find_rows_left),
    ("sign", integers.find_lost_sign),
    ("copy", factor.find_copy),
    ("offset ignored", positions.find_ignored_offset),
    ("stride ignored", positions.find_ignored_stride),
    ("transposed", positions.find_transposed),
    ("wrong axis", parameters.find_wrong_axis),
    ("parameter ignored", parameters.find_ignored_parameter),
    ("swapped parameters", parameters.find_swapped_parameters),
    ("parameter rounded", parameters.find_rounded_parameter),
    ("other parameter", parameters.find_other_value),
    ("eps", cancellation.find_eps_outside_root),
    ("unbiased", cancellation.of_samples),
    ("overwritten", positions.find_overwritten),
    ("causal edge", positions.find_causal_edge),
    ("heads", positions.find_interleaved_heads),
    ("groups", positions.find_interleaved_groups),
    ("groups", positions.find_swapped_channels),
    ("precision", precision.find_rounded_inputs),
    ("precision", precision.find_rounded_results),
    ("constant", factor.find_constant),
    ("factor", factor.find_factor),
    ("not summed", other_call.find_unsummed),
    ("swapped inputs", other_call.find_swapped_inputs),
    ("input ignored", other_call.find_ignored_input),
    ("input ignored", other_call.find_derivative_elsewhere),
    ("input ignored", other_call.find_one_for_another),
    ("input ignored", other_call.find_input_ignored_here),
    ("factor", factor.find_tensor_factor),
    ("halves", integers.find_rounded_halves),
    ("wrapped", integers.find_wrapped_codes),
    ("wrapped", integers.find_wrapped),
    ("saturated", integers.find_saturated),
    ("unsigned", integers.find_unsigned),
    ("one off", integers.find_off_by_one),
    ("constant added", integers.find_added_integer),
    ("constant added", factor.find_added_constant),
    ("call left out", other_call.find_left_out_call),
    ("other operator", other_call.find_other_operator),
    ("other values", other_call.find_changed_values),
    (NEAR_ONE, cancellation.find_lost_digits),
    ("squares cancelled", cancellation.find_cancelled_squares),
    ("precision", rows.find_rounded_statistic),
    ("row factor", rows.find_row_factors),
    ("statistic", rows.find_constant_mean),
    ("row shift", rows.find_row_shifts),
    ("statistic", rows.find_held_constant),
    ("off by one", positions.find_shifted),
    ("reversed", positions.find_reversed),
    ("first everywhere", positions.find_first_everywhere),
    ("misread input", positions.find_moved_input),
    ("direction", positions.find_reversed_direction),
    ("terms dropped", other_call.find_left_out_of_one),
    ("terms dropped", other_call.find_left_out_of_all),
    ("precision", precision.find_low_precision_results),
    ("nan", nonfinite.explain_nan),
    ("overflow", nonfinite.find_large_inputs),
    ("overflow", nonfinite.find_overflowing_exponentials),
)
#: Those that say less than that a declaration would make the record pass.
WEAKER: tuple[tuple[str, Pattern], ...] = (
    ("region", where.find_only_there),
    ("constant", nonfinite.find_nan_everywhere),
    (SIZE, precision.size_of_errors),
)


#: Those that evaluate another call: where no element is wrong by itself, only they say more than the judgement.
TOGETHER = tuple(p for p in PATTERNS if p[0] in ("wrong axis", "parameter ignored", "other parameter", "eps"))
#: Those that say more where every element is within its bound.
WITHIN = tuple(p for p in PATTERNS if p[0] == "parameter rounded")
#: Elements up to which every pattern is tried, not only those before the first that fits, and how many sentences.
_MAX_FULLY_TRIED_ELEMENTS = 2**12
_MAX_SENTENCES = 8


def diagnose(
    posed: Question,
    answer: Outputs,
    judgement: Judgement,
    rules: Rules | None = None,
    others: Sequence[WrongTensor] = (),
) -> str:
    """What the error looks like; empty where no pattern fits.

    `rules`: by which it was judged; `others`: what came of the backend in other calls.
    """
    return explain(posed, answer, judgement, rules, others)[1]


def find_other_patterns(
    posed: Question, answer: Outputs, judgement: Judgement, said: str
) -> tuple[tuple[str, str], ...]:
    """Label and sentence of what fits beside `said`, the most telling first: what explains several records is right.

    Where nothing is said no pattern fits, and there is only what another record may tell.
    """
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tensors = list_wrong_tensors(posed, answer, judgement)
        small = [w for w in tensors if w.got.size <= _MAX_FULLY_TRIED_ELEMENTS]
        patterns, regions = (PATTERNS, tensors) if said else ((), [])
        found = [_find_first([pattern], [w]) for pattern in patterns for w in small]
        found += [("parameter ignored", s) for w in small if said for s in parameters.list_ignored_parameters(w)]
        found += find_small_errors(tensors)
        found += [("other parameter", value) for w in small if (value := parameters.suggest_other_value(w))]
        found += [(r.label, where.describe_region(w, r)) for w in regions for r in where.as_good(w)]
    labels: dict[str, str] = {}
    for label, sentence in found:
        labels.setdefault(sentence, label)
    return tuple((label, s) for s, label in labels.items() if s and s != said)[:_MAX_SENTENCES]


def find_small_errors(tensors: Sequence[WrongTensor]) -> list[tuple[str, str]]:
    """Label and sentence of what is so small that digits lost beside 1 may be all that is wrong."""
    return [(NEAR_ONE, said) for w in tensors if (said := cancellation.suggest_lost_digits(w))]


def explain(
    posed: Question,
    answer: Outputs,
    judgement: Judgement,
    rules: Rules | None = None,
    others: Sequence[WrongTensor] = (),
    declarable: Callable[[Question, Outputs, Judgement, Rules], tuple[str, str]] = precision.find_undeclared_storage,
) -> tuple[str, str]:
    """The label of the pattern and the sentence; both empty where no pattern fits.

    `declarable`: says what a declaration would make right, for who judges by other means than ours.
    """
    rules = Rules() if rules is None else rules
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tensors = list_wrong_tensors(posed, answer, judgement, others)
        if not tensors:
            label, said = _find_first(WITHIN, list_all_tensors(posed, answer, judgement))
            if not said:
                label, said = _diagnose_no_element(posed)
            if not said:
                label, said = _find_first(TOGETHER, list_wrong_tensors(posed, answer, judgement, together=True))
            return (label, said) if said else declarable(posed, answer, judgement, rules)
        label, said = _find_first(PATTERNS, tensors)
        if not said:
            label, said = _find_first(PATTERNS, [s for w in tensors if (s := w.from_saved()) is not None])
        if not said and not any(precision.follows(w) for w in tensors):
            label, said = declarable(posed, answer, judgement, rules)
        return (label, said) if said else _find_first(WEAKER, tensors)


def _find_first(patterns: Sequence[tuple[str, Pattern]], tensors: Sequence[WrongTensor]) -> tuple[str, str]:
    """Label and sentence of the first pattern that fits all tensors, else of the first that fits one; or empty."""
    best = "", ""
    small = sum(w.got.size for w in tensors) <= 4 * _MAX_FULLY_TRIED_ELEMENTS
    for label, pattern in patterns:
        found = []
        for wrong in tensors:
            if said := _try_pattern(pattern, wrong):
                found.append(said if isinstance(said, tuple) else (label, said))
            elif not small:
                continue
            elif best[1]:
                break  # one that fits some is known already, only one that fits all is wanted
        if found and (len(found) == len(tensors) or not small):
            return found[0]
        best = best if best[1] or not found else found[0]
    return best


def _try_pattern(pattern: Pattern, wrong: WrongTensor) -> str | tuple[str, str] | None:
    """What `pattern` says; a pattern that cannot be computed on these shapes and values does not fit."""
    try:
        with with_bounded_memory():
            return pattern(wrong)
    except (ArithmeticError, IndexError, MemoryError, TypeError, ValueError):
        return None


def _diagnose_no_element(posed: Question) -> tuple[str, str]:
    """No element is wrong by itself: the objection was to the sum of a gradient over kinks."""
    if posed.mode is Mode.FORWARD:
        return "", ""
    given = zip(posed.names, posed.inputs, strict=True)
    values = {name: v for name, v in given if name is not None and v is not None}
    at_kink = (measure_kink_distances(posed.case, posed.op, values) == 0).any()
    return ("kinks", "wrong only at kinks or ties") if at_kink else ("", "")


#: Bytes that a diagnosis may take beside what is there.
MAX_DIAGNOSIS_BYTES = 2 << 30


@contextlib.contextmanager
def with_bounded_memory(room: int = MAX_DIAGNOSIS_BYTES) -> Iterator[None]:
    """A block in which this process gets no more than `room` bytes: MemoryError is raised then. On Linux alone.

    Inputs in each other's place may make results of any size: 24 GB of states, of a scan of 16,385 steps.
    """
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
