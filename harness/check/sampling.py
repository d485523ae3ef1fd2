"""A sampler against the probabilities that it is to draw by: every variant of its inputs, each in series of draws.

A draw that cannot come is a failure at once, and so are draws that do not depend on the seed. Counts are tested over
all variants together, and what is rejected is drawn anew before it fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from opproof.cases._fills import sampling
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.core.errors import UsageError
from opproof.core.verdicts import Mode, Verdict
from opproof.harness import __version__
from opproof.harness.check.call.candidates import is_symbol, make_callee, open_candidate
from opproof.harness.check.call.exchange import CallRequest, Reply, Setting
from opproof.harness.check.call.isolated import Located
from opproof.harness.check.call.reference import CallFn, Reference
from opproof.harness.check.call.seeds import MAX_SEED, kept_global_seeds, with_seed
from opproof.harness.check.call.subject import Form, name_of
from opproof.harness.check.judge.count_tests import (
    CONFIRMATION_LEVEL,
    FALSE_ALARM_RATE,
    SUSPICION_LEVEL,
    DrawCounts,
    Laws,
    TestKey,
    describe_test,
    measure_agreement,
    select_rejected,
)
from opproof.harness.check.options import SAMPLING, CheckOptions
from opproof.harness.check.records import case_of
from opproof.harness.check.summary import describe_left_out
from opproof.harness.check.tensors import KINDS, kind_of
from opproof.harness.check.variants.inputs import names_of, take_inputs
from opproof.harness.check.variants.sampler_variants import SamplerInputs, SamplerVariant
from opproof.harness.check.variants.variant import GIVEN
from opproof.harness.clock import Allowed
from opproof.reports import Header, Result
from opproof.reports.check import Report

#: Options of candidates that compute.
_OF_VALUES = ("vjp", "modes", "compute", "reuses_outputs", "beyond", "advise", "properties", "tolerance")
#: How far the probabilities of a row may be from 1 in sum.
MAX_SUM_ERROR = 1e-5
#: Calls of a series at least, and tokens after which it ends.
MIN_CALLS = 4
MAX_DRAWS = 1 << 17
#: The part of a check's seconds in which first series are drawn; a second one makes as many calls as its first.
FIRST_SERIES_SHARE = 0.5
#: Roundings by which a value may be off an outcome.
OUTCOME_ROUNDINGS = 4.0
#: Roundings of a number at which a row is cut, beside those of a sum of all its tokens.
CUT_ROUNDINGS = 8.0


@dataclass(frozen=True)
class _Truth:
    """What the reference has for one variant: a law a row, and the values of outcomes where it gives those."""

    laws: Laws
    law_of: Array  # by row of the variant; -1 where all outcomes are one value
    values: Array | None
    shape: tuple[int, ...]  # of the rows of the variant


@dataclass
class _Series:
    """Draws of one variant: counts, and what fails at once."""

    variant: SamplerVariant
    truth: _Truth
    counts: DrawCounts
    verdict: Verdict = Verdict.PASS
    message: str = ""
    seconds: float = 0.0
    digests: list[int] = field(default_factory=list)

    def fail(self, verdict: Verdict, message: str) -> None:
        """Keep the first failure."""
        if not self.message:
            self.verdict, self.message = verdict, message


def check_sampler(candidate: Any, inputs: Any, wish: CheckOptions) -> Report:
    """The report on a sampler; a `Located` one runs in a process of its own.

    Raises UsageError for a wrong call, as where the reference gives no probabilities for the inputs.
    """
    subject = wish.probabilities
    if subject is None or not callable(subject) or inputs is None:
        missing = "inputs" if callable(subject) else "probabilities, a function of PyTorch"
        raise UsageError(f"like={SAMPLING!r} needs {missing}: give probabilities= and inputs=.")
    if wrong := next((name for name in _OF_VALUES if getattr(wish, name)), None):
        raise UsageError(f"{wrong} belongs to like= a function: draws are judged by their counts.")
    if is_symbol(candidate):
        raise UsageError(f"like={SAMPLING!r} takes no symbol of C, which has no seed: wrap it in a Python function.")
    names = names_of(subject)
    arguments, tensors, _ = take_inputs(inputs, names, wish.dtype, wish.seed)
    names, form = list(arguments.keywords or names), Form(arguments, len(tensors))
    wish.contract.require_sizes(tensors)
    wish.contract.require_names(names, tensors, 1, None)
    truths = _Truths(Reference(subject, form), name_of(subject), wish)
    try:
        found = truths.evaluate(tensors, arguments.rest)
    except Exception as error:
        said = f"{truths.name} raises {type(error).__name__}: {error}"
        raise UsageError(f"{said}; give inputs that it takes.") from error
    if text := _describe_no_probabilities(found):
        raise UsageError(f"{truths.name} {text}: give a function that returns the probabilities of each row.")
    given = SamplerInputs(arguments, tensors, names, found[-1].shape, len(found) > 1, wish.seed)
    dtypes = [d for d in sampling.DTYPES if d != tensors[0].kind and wish.dtype is None]
    chosen = [v for v in given.generate(dtypes) if wish.only in (None, v.name)]
    kept = [v for v in chosen if not wish.contract.describe_refusal(v.case_data)]
    if not kept:
        raise UsageError(f"there is no variant {wish.only!r}: expected a name of the report's.")
    if isinstance(candidate, Located):
        candidate = replace(candidate, sampler=True)
    else:
        candidate = make_callee(with_seed(candidate), None, subject, arguments, tensors, wish).function
    with kept_global_seeds(), open_candidate(candidate, truths.reference, wish) as ask:
        return _Check(candidate, truths, ask, kept if wish.neighbours or wish.only else kept[:1]).make_report()


@dataclass(frozen=True)
class _Truths:
    """The reference, and the laws that it has for variants."""

    reference: Reference
    name: str
    wish: CheckOptions

    def evaluate(self, tensors: Sequence[Any], rest: Sequence[Any], values: Sequence[Array] = ()) -> list[Array]:
        """What the reference gives in float64: probabilities, after the values of outcomes where there are several."""
        import torch

        given = (torch.from_numpy(np.array(a)) for a in values or [t.values for t in tensors])
        with torch.no_grad():
            found = self.reference.outputs(CallRequest(tuple(tensors), rest=tuple(rest)))(*given)
        return [y.double().numpy() for y in found]

    def find(self, variant: SamplerVariant) -> _Truth | None:
        """The laws of a variant; None where the reference has none for it."""
        rows = variant.rows
        try:
            found = self.evaluate(rows, variant.rest)
        except Exception:  # of sizes and numbers that were not given
            return None
        if _describe_no_probabilities(found):
            return None
        shape = found[-1].shape
        p = _normalise(found[-1])
        if len(found) > 1:
            values = found[0].reshape(p.shape)
            laws, law_of = np.unique(p, axis=0, return_inverse=True)
            with np.errstate(invalid="ignore"):
                one = (values == values[:, :1]).all(-1) | ~np.isfinite(values).all(-1)
            return _Truth(Laws(laws), np.where(one, -1, law_of.reshape(-1)), values, shape[:-1])
        error = DTYPES["f64" if rows[0].kind == "f64" else "f32"].u * (CUT_ROUNDINGS + shape[-1] ** 0.5)
        arrays, others = [t.values for t in rows], []
        for moved, numbers in sampling.list_near(arrays, variant.rest, error):
            near = self.evaluate(rows, numbers, moved)
            if not _describe_no_probabilities(near) and near[-1].shape == shape:
                others.append(_normalise(near[-1]))
        laws_of = Laws(p, tuple(others))
        groups = sampling.find_equal_tokens(arrays, shape, [*np.flatnonzero(laws_of.at_border)])
        return _Truth(replace(laws_of, groups=groups), np.arange(len(p)), None, shape[:-1])


def _normalise(p: Array) -> Array:
    flat = np.maximum(p.reshape(-1, p.shape[-1]), 0)
    return np.asarray(flat / flat.sum(-1, keepdims=True))


def _describe_no_probabilities(found: Sequence[Array]) -> str:
    """Why what a reference gave are no probabilities; empty where they are."""
    if len(found) not in (1, 2) or found[-1].ndim == 0 or found[0].shape != found[-1].shape or not found[-1].size:
        shapes = ", ".join(str(y.shape) for y in found) or "nothing"
        return f"gives {shapes}: expected probabilities along the last axis, or the values of outcomes and these"
    p = found[-1].reshape(-1, found[-1].shape[-1])
    sums = p.sum(-1)
    bad = np.flatnonzero(~(np.abs(sums - 1) <= MAX_SUM_ERROR) | (p < 0).any(-1))
    if not bad.size:
        return ""
    row, low = bad[0], p[bad[0]].min()
    wrong = f"has {low:.6g}, expected 0 to 1" if low < 0 else f"sums to {sums[row]:.6g}, expected 1"
    return f"gives no probabilities: row {row} {wrong}"


class _Check:
    """The series of all variants, and what is to be said of them."""

    def __init__(self, candidate: Any, truths: _Truths, ask: CallFn, variants: Sequence[SamplerVariant]) -> None:
        self.candidate, self.truths, self.wish = candidate, truths, truths.wish
        self.ask, self.variants = ask, variants
        self.rng = np.random.default_rng([self.wish.seed, 7])
        self.left: list[str] = []
        self.notes: list[str] = []
        self.drawn: list[_Series] = []

    def make_report(self) -> Report:
        """Draw the first series of each variant, test them together, draw what is suspicious again."""
        allowed = Allowed(self.wish.seconds * FIRST_SERIES_SHARE)
        for i, variant in enumerate(self.variants):
            if i and allowed.over:
                self.left = [v.name for v in self.variants[i:]]
                break
            truth = self.truths.find(variant)
            if truth is None:
                continue
            series = self._draw(variant, truth, Allowed(max(allowed.left, 0.0) / (len(self.variants) - i)))
            if series.verdict is Verdict.UNSUPPORTED:
                self.notes.append(f"{variant.name}: {series.message}")
            else:
                self.drawn.append(series)
        self._test_counts()
        return self._report()

    def _draw(self, variant: SamplerVariant, truth: _Truth, allowed: Allowed, calls: int = 0) -> _Series:
        """A series of so many calls, or of as many as there is time for."""
        contract, tensors = self.wish.contract, variant.case_data
        held, free = (contract.find_positions(some, tensors) for some in (contract.inplace, contract.overwrites))
        request = CallRequest(tensors, rest=variant.rest, inplace=held, overwrites=free)
        seeds = [int(seed) for seed in self.rng.integers(MAX_SEED, size=calls or 1 << 12)]
        series = _Series(variant, truth, DrawCounts(truth.laws, np.zeros(0, np.int64), ()))
        for n, seed in enumerate(seeds):
            if not calls and n >= MIN_CALLS and (allowed.over or series.counts.counts.sum() >= MAX_DRAWS):
                break
            reply = self.ask(replace(request, seed=seed))
            series.seconds += reply.seconds
            if (fault := _find_fault(series, reply)) is not None:
                series.fail(*fault)
                return series
            if not n:
                law_of, shape = truth.law_of[_list_places(series, reply)], reply.outputs[0].values.shape
                series.counts = DrawCounts(truth.laws, law_of, _list_distances(shape))
            draws = _read_draws(series, reply)
            if isinstance(draws, str):
                series.fail(Verdict.WRONG_VALUE, draws)
                return series
            series.counts.add(draws)
            series.digests.append(_compute_digest(reply))
        self._judge_at_once(series, replace(request, seed=seeds[0]))
        if reply.harm is not None:
            series.fail(reply.harm.verdict, reply.harm.text)
        for i in reply.changed:
            series.fail(Verdict.INPUT_CHANGED, f"{tensors[i].name} was changed")
        return series

    def _judge_at_once(self, series: _Series, request: CallRequest) -> None:
        """Fail what no chance leaves: draws that cannot come, or that do not follow from the seed."""
        counts, calls = series.counts, len(series.digests)
        if (wrong := counts.find_impossible()) is not None:
            row, token = wrong
            came, of = counts.counts[row, token], counts.counts[row].sum()
            text = f"row {row}: token {token} came {came:,} times of {of:,}, and its probability is 0"
            series.fail(Verdict.WRONG_VALUE, text)
            return
        alike = calls - len({*series.digests})
        telling = measure_agreement(counts.laws, counts.law_of) < np.log(FALSE_ALARM_RATE) - 2 * np.log(calls)
        if alike and telling and (alike == calls - 1 or not counts.has_shared_draws()):
            text = f"{alike + 1} of {calls} seeds give the same draws: another seed is to give others"
            series.fail(Verdict.WRONG_VALUE, text)
        if self.wish.bits is None and _compute_digest(self.ask(request)) != series.digests[0]:
            series.fail(Verdict.NOT_REPEATABLE, "the same seed gave other draws the second time")
        if telling and _compute_digest(self.ask(replace(request, setting=Setting.AGAIN))) == series.digests[0]:
            series.fail(Verdict.WRONG_VALUE, "a second call without a new seed gives the draws of the first")

    def _test_counts(self) -> None:
        """Test all that did not fail at once together; a rejected test fails if an independent series rejects it."""
        some = [series for series in self.drawn if not series.message]
        p_values = {(i, key): p for i, one in enumerate(some) for key, p in one.counts.find_p_values().items()}
        suspected = select_rejected(p_values, sum(one.counts.test_count for one in some), SUSPICION_LEVEL)
        again = dict[tuple[int, TestKey], float]()
        for i in dict.fromkeys(i for i, _ in suspected):
            second = self._draw(some[i].variant, some[i].truth, Allowed(self.wish.seconds), some[i].counts.calls)
            found = second.counts.find_p_values()
            again |= {(i, key): found.get(key, 1.0) for k, key in suspected if k == i}
        confirmed = select_rejected(again, len(again), CONFIRMATION_LEVEL)
        confirmed.sort(key=lambda one: one[1][0] != "pairs")  # rows that depend on each other spoil the counts of all
        for i, key in confirmed:
            if not some[i].message:
                numbers = f"p = {p_values[i, key]:.1g}, in a second series {again[i, key]:.1g}"
                some[i].fail(Verdict.WRONG_VALUE, describe_test(some[i].counts, key, numbers))

    def _report(self) -> Report:
        name, wish = name_of(self.candidate), self.wish
        results, variants, inside = [], {}, not isinstance(self.candidate, Located)
        for series in self.drawn:
            verdict, message = series.verdict, series.message
            if verdict is Verdict.PASS and (series.truth.laws.given.max(-1) == 1).all():
                verdict, message = Verdict.VACUOUS, "every row has one outcome: a constant would pass"
            case = case_of(series.variant, self.truths.name)
            variants[str(case)] = series.variant.name
            results.append(Result(
                case=str(case), op=self.truths.name, dtype=case.dtype, backend=name, mode=Mode.FORWARD,
                verdict=verdict, message=message, seconds=round(series.seconds, 6), in_process=inside,
            ))  # fmt: skip
        return Report(
            name, self.truths.name, tuple(results), tuple(variants.values()),
            (*self.notes, *describe_left_out(self.left, wish.seconds)), variants=variants, left=len(self.left),
            asked=len(self.drawn) + len(self.notes), again=wish.again,
            contract=tuple(f"{option}={value!r}" for option, value in wish.contract.given.items()),
            header=Header(opproof=__version__), draws=sum(int(s.counts.counts.sum()) for s in self.drawn),
        )  # fmt: skip


def _find_fault(series: _Series, reply: Reply) -> tuple[Verdict, str] | None:
    variant, truth = series.variant, series.truth
    if reply.error and variant.name != GIVEN and reply.cause is Verdict.ERROR:
        return Verdict.UNSUPPORTED, f"the candidate raises {reply.error}"
    if reply.error or not reply.outputs:
        return reply.cause, reply.error or "no tensor came: expected draws"
    y, shape = reply.outputs[0], truth.shape
    shape = (variant.batch, *shape[1:]) if variant.batch else shape
    if y.values.shape[: len(shape)] != shape or y.values.ndim > len(shape) + 1 or not y.values.size:
        return Verdict.WRONG_SHAPE, f"y0 has shape {y.values.shape}: expected {shape}, or an axis of draws more"
    if (y.dtype in KINDS) != (truth.values is not None):
        wanted = "integers" if truth.values is None else "floats"
        return Verdict.WRONG_DTYPE, f"y0 has dtype {y.dtype}: expected {wanted}"
    return None


def _compute_digest(reply: Reply) -> int:
    """A number that tells draws apart; 0 where none came."""
    return hash(reply.outputs[0].values.tobytes()) if reply.outputs else 0


def _list_distances(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Distances between places of draws that are looked at in pairs: powers of 2, and from row to row."""
    size = int(np.prod(shape))
    strides = {int(np.prod(shape[k:])) for k in range(1, len(shape))}
    return tuple(sorted(d for d in strides | {1 << k for k in range(size.bit_length())} if d < size))


def _list_places(series: _Series, reply: Reply) -> Array:
    """The row of a variant for every place of a call's draws."""
    shape, truth, batch = reply.outputs[0].values.shape, series.truth, series.variant.batch
    rows = np.arange(int(np.prod(truth.shape))).reshape(truth.shape)
    rows = rows[np.arange(batch) % len(rows)] if batch else rows
    rows = rows[..., None] if len(shape) > rows.ndim else rows
    return np.broadcast_to(rows, shape).ravel()


def _read_draws(series: _Series, reply: Reply) -> Array | str:
    """The token of every place, or why one is none."""
    y, truth = reply.outputs[0], series.truth
    came = y.values.ravel()
    if truth.values is None:
        size = truth.laws.given.shape[1]
        wrong = np.flatnonzero((came < 0) | (came >= size))
        expected = f"0 to {size - 1}"
        draws = came.astype(np.int64)
    else:
        values, dtype = truth.values[_list_places(series, reply)], DTYPES[kind_of(y.dtype)]
        with np.errstate(invalid="ignore"):
            off = np.abs(values - came[:, None])
            near = off <= OUTCOME_ROUNDINGS * dtype.u * np.abs(values) + dtype.tiny
        wrong = np.flatnonzero(~near.any(-1) & (series.counts.law_of >= 0))
        expected = " or ".join(f"{v:.9g}" for v in values[wrong[:1]].ravel())
        draws = np.argmin(np.where(near, off, np.inf), -1)
    if wrong.size:
        at = wrong[0]
        return f"place {at} of y0 is {came[at]:.9g}: expected {expected}, {wrong.size:,} of {came.size:,} so"
    return np.asarray(draws)
