"""Whether a known cause explains a failure: the answer judged once more, by the changed reference.

The reference is changed as the entry says: another formula, another arithmetic. An element that failed is explained
where it lies within the ordinary bound of the changed reference, noise of the arithmetic's size included, or between
what the formula gives in that arithmetic itself, rounded to nearest and by chance, range included
(harness/reference/rounded_arithmetic.py). Every element that failed has to be; then the array as a whole is held to
what any array is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, round_to
from opproof.core.errors import OpError
from opproof.core.tuples import tuple_of
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.judge.array_statistics import measure_array
from opproof.harness.judge.bound import bound_of, stored_of
from opproof.harness.judge.gradient import Rules
from opproof.harness.judge.judgement import JudgedTensor, Judgement, compare_answer, judge
from opproof.harness.judge.outputs import Outputs
from opproof.harness.known_failures.causes import function_of
from opproof.harness.known_failures.known import Known
from opproof.harness.reference.expected import expected_of, values_of
from opproof.harness.reference.question import Expected, Question, name_outputs
from opproof.harness.reference.rounded_arithmetic import RoundedArithmetic, iter_arithmetics, unwrap, wrap
from opproof.harness.reference.roundoff import ignore_fp_warnings
from opproof.reference_ops import Op, change_calls, gradients_of, load, operators_of

#: Numbers of a question, inputs and results together, up to which causes are executed.
MAX_NUMBERS = 2**24
#: Numbers up to which the changed reference is evaluated by chance too, not to nearest alone.
MAX_NUMBERS_BY_CHANCE = 2**21

#: What a formula does where its author has not met such a question: it explains nothing there.
_DECLINES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    IndexError,
    KeyError,
    MemoryError,
    OpError,
    TypeError,
    ValueError,
)


def find_causes(known: Sequence[Known], posed: Question, judgement: Judgement, rules: Rules) -> tuple[str, ...]:
    """The causes, as records name them, of the entries that explain the failure of the question `posed`.

    One whose functions raised is followed by the error: it explains nothing.
    """
    found = []
    for entry in known:
        if entry.operators and entry.cause not in found:
            try:
                if explains(entry, posed, judgement, rules):
                    found.append(entry.cause)
            except _DECLINES as error:
                found.append(f"{entry.cause}: {type(error).__name__}: {error}")
    return tuple(found)


def explains(entry: Known, posed: Question, judgement: Judgement, rules: Rules) -> bool:
    """Whether the cause of `entry` explains the failure. Raises what its functions raise."""
    if not entry.covers_call(str(posed.case), posed.mode) or not entry.is_named(judgement.verdict):
        return False
    when = function_of(entry.folder, entry.when)
    if when is not None and not when(posed):
        return False
    if entry.is_fault:
        return entry.message in judgement.message
    named = entry.vjp if posed.mode is Mode.GRADIENT else entry.forward
    if named and not any(function_of(entry.folder, named, op) for op in _list_called(entry, posed)):  # not in its table
        return False
    return judgement.verdict in WRONG and _is_right_when_changed(entry, posed, judgement, rules)


def _is_right_when_changed(entry: Known, posed: Question, judgement: Judgement, rules: Rules) -> bool:
    sizes = [v.size for v in posed.inputs if v is not None] + [j.got.size for j in judgement.tensors]
    if not judgement.tensors or sum(sizes) > MAX_NUMBERS:
        return False
    changed = _change_formulas(entry, posed)
    kinds = _Kinds.of(entry, posed, rules)
    rules = replace(rules, declared=kinds.declared, rounding=entry.rounding or rules.rounding)
    answer = _answer_of(posed, judgement)
    names = _name_results(posed, answer)
    expected = _expect_changed(changed, kinds.declared)
    if all(j.comparison.right for j in judgement.tensors):  # the objection was to a whole
        if judge(changed, answer, rules, expected).verdict in (Verdict.PASS, Verdict.VACUOUS):
            return True
        return _is_reproduced(changed, _evaluate_changed(changed, kinds, str(posed.case), sum(sizes)), judgement, names)
    masks = _find_undefined(entry, posed, len(answer.arrays))
    unwritten = all((j.comparison.passed | masks[names.index(j.name)]).all() for j in judgement.tensors)
    if judgement.zeros and not unwritten and not _are_zero(changed, kinds, judgement, names):
        return False
    compared = compare_answer(changed, answer, rules, expected)
    ends: Sequence[_Ends | None] | None = None
    for judged in judgement.tensors:
        which = names.index(judged.name)
        now, want = compared.comparisons[which], expected[which]
        if now is None or want is None:
            return False
        explained = judged.comparison.passed | now.passed | masks[which]
        if not explained.all():
            ends = _evaluate_changed(changed, kinds, str(posed.case), sum(sizes)) if ends is None else ends
            explained |= _find_between(ends[which], judged, want, posed.dtype_of(which))
        if not explained.all():
            return False
        if kinds.leans:
            continue
        counted = now.with_waived(~now.passed | masks[which])
        if measure_array(judged.got, want, counted, posed.dtype_of(which)).fault(rules.rounding):
            ends = _evaluate_changed(changed, kinds, str(posed.case), sum(sizes)) if ends is None else ends
            return _is_reproduced(changed, ends, judgement, names)
    return True


def _is_reproduced(changed: Question, ends: Sequence[_Ends | None], judgement: Judgement, names: Sequence[str]) -> bool:
    """Whether every element lies between the evaluations in the arithmetic itself, but for one more store."""
    for judged in judgement.tensors:
        which = names.index(judged.name)
        exact = replace(judged.expected, exact=True, faithful=True)
        if not _find_between(ends[which], judged, exact, changed.dtype_of(which)).all():
            return False
    return True


def _are_zero(changed: Question, kinds: _Kinds, judgement: Judgement, names: Sequence[str]) -> bool:
    """Whether what came as nothing but zeros is so by the changed reference: where sums cancel, many bounds hold 0."""
    nearest = next(iter_arithmetics(kinds.operations, kinds.sums, str(changed.case), truncates=kinds.truncates))
    failing = [names.index(j.name) for j in judgement.tensors if not j.comparison.right]
    return any(
        not any(r is not None and r.any() for r in (results[which] for which in failing))
        for results in _iter_results(changed, nearest)
    )


@dataclass(frozen=True)
class _Kinds:
    """The formats of the arithmetic in which a changed reference is computed."""

    operations: str
    sums: str
    declared: str | None  # as noise knows it
    truncates: bool

    @property
    def leans(self) -> bool:
        """Whether its errors go to one side, as those of sums in 16 bits and of digits cut off do."""
        return self.truncates or self.sums in ("f16", "bf16", "tf32")

    @staticmethod
    def of(entry: Known, posed: Question, rules: Rules) -> _Kinds:
        """Those of an entry; where it names none, those by which the backend is judged."""
        case, said = posed.case, entry.arithmetic or rules.declared or ""
        dtype = min(case.dtypes, key=lambda name: DTYPES[name].digits)
        said = dtype if said == "dtype" else said
        plain = "f64" if case.dtype == "f64" else "f32"
        truncates = entry.rounding == "truncate"
        if said == "storage":
            return _Kinds(dtype if dtype in ("f16", "bf16") else plain, plain, "storage", truncates)
        if said in ("f16", "bf16", "tf32", "f32"):
            return _Kinds(said, said, said, truncates)
        return _Kinds(plain, plain, said or None, truncates)


def _change_formulas(entry: Known, posed: Question) -> Question:
    """The question, put to the operator with the formulas of the entry in place of its own."""
    op: Op = posed.op
    if op.expression:
        calls = {name: load(name) for name in _list_called(entry, posed)}
        for name, call in calls.items():
            forward, vjp = (function_of(entry.folder, named, name) for named in (entry.forward, entry.vjp))
            calls[name] = replace(call, forward=forward or call.forward, vjp=vjp or call.vjp)
        return posed.given(op=change_calls(op, calls))
    forward, vjp = (function_of(entry.folder, named, op.name) for named in (entry.forward, entry.vjp))
    facts = {**op.facts, "EXACT": (), "MULTILINEAR": False}
    if posed.mode is Mode.FORWARD and forward is not None:
        op = replace(op, forward=forward, facts=facts, settled=None, conventions=None)
    elif posed.mode is Mode.GRADIENT and vjp is not None:
        op = replace(op, vjp=vjp, facts=facts, kinks=None, ties=None)
    else:
        op = replace(op, facts=facts)
    changed = posed.given(op=op)
    if posed.mode is Mode.GRADIENT:
        changed.__dict__["outputs"] = posed.outputs
    return changed


def _list_called(entry: Known, posed: Question) -> list[str]:
    """The operators of the question that the entry speaks of: those that a graph calls, or its own."""
    return sorted(operators_of(posed.op.name).intersection(entry.operators))


def _expect_changed(changed: Question, declared: str | None) -> list[Expected | None]:
    """What the changed reference gives, with its scale; without one where the formula has no rule under noise."""
    try:
        return expected_of(changed, declared)
    except (OpError, TypeError):
        return [None if v is None else Expected(v, np.zeros(v.shape)) for v in values_of(changed)]


def _answer_of(posed: Question, judgement: Judgement) -> Outputs:
    by_name = {j.name: j.got for j in judgement.tensors}
    if posed.mode is Mode.GRADIENT:
        return Outputs(
            [by_name.get(str(n)) if need else None for n, need in zip(posed.names, posed.needs, strict=True)]
        )
    return Outputs([by_name.get(n) for n in name_outputs(posed.op, len(posed.outputs))])


def _name_results(posed: Question, answer: Outputs) -> list[str]:
    if posed.mode is Mode.GRADIENT:
        return [str(n) for n in posed.names]
    return name_outputs(posed.op, len(answer.arrays))


def _find_undefined(entry: Known, posed: Question, count: int) -> list[Any]:
    """By result the elements where anything may stand; False where there is none."""
    function = function_of(entry.folder, entry.undefined)
    if function is None:
        return [False] * count
    masks = tuple_of(function(posed))
    return [False if k >= len(masks) or masks[k] is None else np.asarray(masks[k], dtype=bool) for k in range(count)]


@dataclass
class _Ends:
    """The least and the largest of a result's evaluations, and where one of them is NaN."""

    low: Array
    high: Array
    nan: NDArray[np.bool_]


def _evaluate_changed(changed: Question, kinds: _Kinds, key: str, numbers: int) -> list[_Ends | None]:
    """Of every result what the changed reference gives in its arithmetic; None of truth values, and where none is."""
    ends: list[_Ends | None] = []
    evaluations = (r for how in _iter_arithmetics(kinds, key, numbers) for r in _iter_results(changed, how))
    for results in evaluations:
        if not ends:
            ends = [None if r is None or r.dtype.kind == "b" else _Ends(r, r, np.isnan(r)) for r in results]
            continue
        for old, r in zip(ends, results, strict=True):
            if old is not None and r is not None:
                old.low, old.high, old.nan = np.fmin(old.low, r), np.fmax(old.high, r), old.nan | np.isnan(r)
    return ends


def _iter_arithmetics(kinds: _Kinds, key: str, numbers: int) -> Iterator[RoundedArithmetic]:
    every = iter_arithmetics(kinds.operations, kinds.sums, key, truncates=kinds.truncates)
    if numbers > MAX_NUMBERS_BY_CHANCE:
        yield next(every)
    else:
        yield from every


def _iter_results(changed: Question, how: RoundedArithmetic) -> Iterator[list[Array | None]]:
    """The results; gradients once of outputs that are right, and once of outputs in the same arithmetic."""
    yield evaluate_results(changed, how)
    if changed.mode is Mode.GRADIENT:
        try:
            yield evaluate_results(changed, how, saves=True)
        except _DECLINES:  # a forward that does not bear it
            return


def evaluate_results(changed: Question, how: RoundedArithmetic, *, saves: bool = False) -> list[Array | None]:
    """Results as they are stored, each in its dtype; gradients of right outputs, or where `saves` of computed ones."""
    with ignore_fp_warnings():
        inputs = [v if v is None or v.dtype.kind != "f" else wrap(v, how) for v in changed.inputs]
        if changed.mode is Mode.FORWARD:
            results: Sequence[Any] = tuple_of(changed.op.forward(*inputs, **changed.params))
        else:
            kind = DTYPES[changed.case.dtype]
            computed = tuple_of(changed.op.forward(*inputs, **changed.params)) if saves else changed.outputs
            outputs = [unwrap(y) for y in computed]
            saved = [wrap(round_to(y, kind), how) if y.dtype.kind == "f" else y for y in outputs]
            cotangents = [None if g is None else wrap(g, how) for g in changed.cotangents]
            given = gradients_of(changed.op, cotangents, saved, inputs, changed.params)
            results = [r if need else None for r, need in zip(given, changed.needs, strict=True)]
        plain = [None if r is None else unwrap(r) for r in results]
    return [
        r if r is None or r.dtype.kind != "f" else np.asarray(round_to(r, DTYPES[changed.dtype_of(i)]))
        for i, r in enumerate(plain)
    ]


def _find_between(ends: _Ends | None, judged: JudgedTensor, want: Expected, dtype: str) -> NDArray[np.bool_]:
    """Which elements lie between the evaluations, the bound added at either end; integers between two neighbours."""
    if ends is None or ends.low.shape != judged.got.shape:
        return np.zeros(judged.got.shape, dtype=bool)
    if want.values.dtype.kind != "f" or DTYPES[dtype].whole:
        return np.asarray((judged.got >= ends.low) & (judged.got <= ends.high) & (ends.high - ends.low <= 1))
    kind, value = DTYPES[dtype], np.asarray(judged.got, dtype=np.float64)
    with np.errstate(all="ignore"):
        bound = bound_of(want, kind)
        size = np.maximum(np.where(np.isfinite(ends.low), np.abs(ends.low), 0.0), np.abs(ends.high))
        least = stored_of(want) * kind.u * np.where(np.isfinite(size), size, 0.0) + kind.subnormal
        bound = np.where(np.isfinite(bound), np.maximum(bound, least), least)
        inside = (value >= ends.low - bound) & (value <= ends.high + bound)
    return np.asarray(inside | (np.isnan(value) & ends.nan))
