"""A candidate judged by properties of its answer, where an answer is not unique: like="qr", or properties=.

Residuals should be zero, and a bound is measured for each: honest answers to the same input in the same dtype are.
Where nobody has one, the candidate's own answer in float64 is, or a tolerance is given.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from opproof.cases._fills.matrices import SHAPES, USUAL_OPTIONS, generate_trials
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, round_to
from opproof.core.errors import UsageError, suggest
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.check.call.candidates import make_callee, open_candidate
from opproof.harness.check.call.exchange import CallRequest, Reply, ReplyTensor
from opproof.harness.check.call.isolated import Located
from opproof.harness.check.call.perform import threads_for
from opproof.harness.check.call.reference import CallFn, Reference
from opproof.harness.check.call.reference_reply import ReferenceReply
from opproof.harness.check.call.subject import Arguments, Form, name_of
from opproof.harness.check.judge.declines import of_candidate
from opproof.harness.check.judge.faults import find_structural_error
from opproof.harness.check.judge.outcome import VariantResult, by_reference
from opproof.harness.check.options import SAMPLING, CheckOptions
from opproof.harness.check.records import Sides
from opproof.harness.check.run_variant import call_three_times
from opproof.harness.check.search import MAX_FAILING_VARIANTS, SearchResult
from opproof.harness.check.summary import make_report
from opproof.harness.check.tensors import PARTS, CallTensor, kind_of
from opproof.harness.check.variants.inputs import names_of, take_inputs
from opproof.harness.check.variants.variant import GIVEN, Variant, apply_other_layouts
from opproof.harness.clock import Allowed
from opproof.harness.judge.judgement import Judgement, number
from opproof.reference_ops._problems import PROBLEMS, Problem
from opproof.reports import Worst
from opproof.reports.check import Report

#: Other draws, or renumbered matrices, by which a bound is measured beside the input itself.
MEASURED_COPIES = 4
#: Draws of a user's own inputs that are judged.
JUDGED_DRAWS = 3
#: What is said of options that a reference of values has.
_OF_VALUES = "{} belongs to a reference of values: properties are judged without it."
_GRADIENTS = "gradients: properties say nothing of them"


def check_properties(candidate: Any, like: Any, inputs: Any, wish: CheckOptions) -> Report:
    """The report on a candidate, a `Located` one in a process of its own. Raises UsageError for a wrong call."""
    import torch

    problem = _find_problem(like, wish)
    solvers = [like] * (like is not None) if problem is None else problem.solvers(torch)
    if problem is not None and inputs is None:
        inputs = [SHAPES[problem.kind][0], *USUAL_OPTIONS.get(like, ())]
    if inputs is None:
        raise UsageError("properties= needs inputs: give a list of shapes or tensors, or a function that makes them.")
    subject = solvers[0] if solvers else candidate
    names = names_of(subject) if problem is None else problem.names
    arguments, tensors, by_shape = take_inputs(inputs, names, wish.dtype, wish.seed)
    given = [np.zeros_like(t.values) if by_shape else t.values for t in tensors]
    if problem is not None and (why := problem.describe_misfit(*arguments.split(given))):
        raise UsageError(f"inputs of like={like!r}: {why}.")
    form = Form(arguments, len(tensors))
    rule = ResidualRule(arguments, problem, wish.properties, [Reference(f, form) for f in solvers], wish.tolerance)
    search = _PropertySearch(
        problem, rule, wish, lambda seed: take_inputs(inputs, names, wish.dtype, seed)[1], by_shape
    )
    located = isinstance(candidate, Located)
    if not located:
        candidate = make_callee(candidate, None, subject, arguments, next(search.generate()).decoy_data, wish).function
    reference = Reference(subject, form)
    with open_candidate(candidate, reference, wish) as ask:
        found = search.run(ask)
    name = like if problem is not None else name_of(wish.properties)
    return make_report(found, Sides(reference, name, name_of(candidate), not located), wish, (_GRADIENTS,))


def _find_problem(like: Any, wish: CheckOptions) -> Problem | None:
    """The problem that a word names. Raises UsageError for an unknown one, and for options that say nothing here."""
    given = [o for o in ("vjp", "modes", "compute", "beyond", "advise", "reuses_outputs") if getattr(wish, o)]
    if other := next(iter((*given, *wish.contract.given)), None):
        raise UsageError(_OF_VALUES.format(other))
    if wish.properties is not None and not callable(wish.properties):
        what = "expected a function of inputs and outputs that returns a dict"
        raise UsageError(f"properties is {wish.properties!r:.60}: {what}.")
    if wish.tolerance is not None and (wish.properties is None or like is not None):
        raise UsageError("tolerance= belongs to properties= without like=, by which the bound is measured.")
    if wish.tolerance is not None and not (isinstance(wish.tolerance, int | float) and 0 <= wish.tolerance < math.inf):
        raise UsageError(f"tolerance={wish.tolerance!r}: expected a number, which no residual may exceed.")
    if not isinstance(like, str):
        return None
    if wish.properties is not None or like not in PROBLEMS:
        wrong = "has properties of its own" if like in PROBLEMS else "names no problem"
        near = suggest(like, PROBLEMS if like not in PROBLEMS else ())
        raise UsageError(
            f"like={like!r} {wrong}: expected one of {', '.join((*sorted(PROBLEMS), SAMPLING))}, or a function{near}"
        )
    return PROBLEMS[like]


@dataclass(frozen=True)
class _PropertySearch:
    """What is tried, and what becomes of it."""

    problem: Problem | None
    rule: ResidualRule
    wish: CheckOptions
    draw: Callable[[int], tuple[CallTensor, ...]]  # by a seed
    by_shape: bool

    def generate(self) -> Iterator[Variant]:
        """Make the variants: what is given, profiles at its sizes and at others, and the first in other layouts."""
        seed, made = self.wish.seed, list[Variant]()
        given = self.draw(seed)
        if self.problem is None or not self.by_shape:
            pairs = ((self.draw(s), self.draw(s + 1)) for s in range(seed, seed + JUDGED_DRAWS))
            made = [Variant(f"draw {i}", f"draw-{i}", "contiguous", *pair, drawn=True) for i, pair in enumerate(pairs)]
            made[0] = replace(made[0], name=GIVEN, fill="normal")
        profiles = () if self.problem is None else generate_trials(self.problem.kind, given[0].shape, seed)
        for name, *some in profiles:
            a, b = ((given[0].holding(values),) for values in some)
            fill = re.sub(r"\W+", "-", name.rpartition(" ")[0])
            made.append(Variant(name, fill, "contiguous", a, b, drawn=True))
        yield from made
        yield from (v for v in apply_other_layouts(made[0], [()] * len(given)) if v.layout != "broadcast")

    def run(self, ask: CallFn) -> SearchResult:
        """Try the variants within the budget, until several failed."""
        found, left, names, wish = list[VariantResult](), list[str](), list[str](), self.wish
        allowed, most = Allowed(wish.seconds), 0.0
        for variant in self.generate():
            names.append(variant.name)
            if wish.only not in (None, variant.name) or (found and not wish.neighbours):
                continue
            before = allowed.left
            if found and before < most:
                left.append(variant.name)
                continue
            with threads_for(variant.case_data):
                one = self._try(variant, ask)
            found.append(one if not found else of_candidate(one, found[0].variant.case_data, found[0], drawn=True))
            most = max(most, before - allowed.left)
            if found[0].reply.error or sum(one.fails for one in found) >= MAX_FAILING_VARIANTS:
                break
        if not found:
            raise UsageError(f"only={wish.only!r} is no variant of these: expected one of {', '.join(names)}.")
        if found[0].declined:
            raise UsageError(f"{found[0].declined}: give inputs that the reference takes.")
        return SearchResult(found, tuple(left), len(found))

    def _try(self, variant: Variant, ask: CallFn) -> VariantResult:
        rule = self.rule
        request, other = (CallRequest(some, seed=self.wish.seed) for some in (variant.case_data, variant.decoy_data))
        honest = rule.ask_solvers(request)
        if honest and honest[0].error:
            return by_reference(variant, honest[0].error)
        replies = call_three_times(ask, *(ReferenceReply(r, Reply(), ()) for r in (request, other)))
        got = replies[1].outputs
        shapes = [y.values.shape for y in got]
        alike = [r for r in honest if [y.values.shape for y in r.outputs] == shapes]
        wanted = [*(alike or honest or replies[1:2])[0].outputs]
        for i, (y, w) in enumerate(zip(got, wanted, strict=False)):  # indices are as right in 32 bits as in 64
            if y.values.dtype.kind == w.values.dtype.kind == "i":
                wanted[i] = replace(w, dtype=y.dtype)
        judgement = find_structural_error(replies, ReferenceReply(request, Reply(), tuple(wanted)), self.wish)
        if judgement is None:
            judgement = rule.judge(request, self._list_alike(variant), ask, replies[1])
        return VariantResult(variant, reply=replies[1], judgements={Mode.FORWARD: judgement})

    def _list_alike(self, variant: Variant) -> list[CallRequest]:
        """Requests like the one of a variant, by which a bound is measured too."""
        given, seed = variant.case_data, self.wish.seed
        if self.problem is None:
            some = [self.draw(seed + JUDGED_DRAWS + i) for i in range(MEASURED_COPIES)]
            some = [draw for draw in some if [t.shape for t in draw] == [t.shape for t in given]]
        elif self.problem.renumber is None:
            return []
        else:
            rng = np.random.default_rng([seed, 2])
            some = [(given[0].holding(self.problem.renumber(given[0].values, rng)),) for _ in range(MEASURED_COPIES)]
        return [CallRequest(tensors, seed=seed) for tensors in some]


#: What an answer may leave, in what honest ones leave. Of 18 solvers (LAPACK by PyTorch, NumPy, SciPy and JAX; MLX;
#: Householder, Givens, Jacobi), f32 and f64, six profiles, none leaves more than 4.3, Jacobi's rotations 9.6.
SAFETY = 16.0
#: Roundings of its size that an honest answer may leave, though those that were measured are exact by chance.
MIN_ROUNDINGS = 1.0
#: A candidate's residual in float64, as a part of that in its dtype: above the first it is no rounding, and up to the
#: second it may be one: √(2⁻⁵³ / 2⁻²⁴). Between them it measures nothing.
MIN_SYSTEMATIC_PART = 0.25
MAX_ROUNDING_PART = 2.0**-14.5


@dataclass(frozen=True)
class ResidualRule:
    """What should be zero of an answer, and by whom its bound is measured."""

    arguments: Arguments
    problem: Problem | None = None
    properties: Callable[..., Any] | None = None  # of inputs and outputs, where there is no problem known here
    honest: Sequence[Reference] = ()
    tolerance: float | None = None

    def measure(self, request: CallRequest, outputs: Sequence[ReplyTensor]) -> dict[str, Array]:
        """The residuals of an answer; not finite where the answer is not."""
        pairs = ([(t.values, t.dtype in PARTS) for t in some] for some in (request.tensors, outputs))
        given, ys = ([x[..., 0] + 1j * x[..., 1] if parts else x for x, parts in some] for some in pairs)
        with np.errstate(all="ignore"):
            if self.problem is not None:
                long = any(t.kind == "f64" for t in request.tensors)
                return self.problem.measure(ys, *self.arguments.split(given), long=long)
            import torch

            given, ys = ([torch.from_numpy(np.array(x)) for x in some] for some in (given, ys))
            assert self.properties is not None
            try:
                figures = self.properties(self.arguments.filled(given), tuple(ys))
            except Exception as error:
                said = f"properties raises {type(error).__name__}: {error}"
                raise UsageError(f"{said}; give a function that takes these inputs and what was returned.") from error
            return _take_figures(figures)

    def ask_solvers(self, request: CallRequest) -> list[Reply]:
        """Honest answers in every form; of a request that no solver takes the reply that says so."""
        replies = [_round_reply(one.call_native(request)) for one in self.honest]
        return [r for r in replies if not r.error] or replies[:1]

    def judge(self, request: CallRequest, alike: Sequence[CallRequest], ask: CallFn, reply: Reply) -> Judgement:
        """Judge an answer of the right form. `alike`: requests by which a bound is measured too."""
        got = self.measure(request, reply.outputs)
        bounds = self._find_bounds(request, alike, ask, got)
        if unknown := next((name for name, bound in bounds.items() if np.isnan(bound).any()), ""):
            text = f"{unknown} is neither rounding nor wrong by what it is in float64: give like= or tolerance="
            return Judgement(Verdict.INCONCLUSIVE, text)
        shares = {name: _find_share(left, bounds[name]) for name, left in got.items()}
        name = max(shares, key=lambda n: float(np.max(shares[n], initial=0.0)))
        largest, scale = float(np.max(shares[name], initial=0.0)), 1.0 if self.tolerance is not None else SAFETY
        if largest > 1:
            at = tuple(int(i) for i in np.unravel_index(int(np.argmax(shares[name])), shares[name].shape))
            most = float(np.broadcast_to(bounds[name], shares[name].shape)[at])
            text = "it is no smaller in float64: no rounding leaves it" if most < 0 else ""
            worst = Worst(tensor=name, index=at, got=number(got[name][at]), expected=0.0, bound=number(max(most, 0.0)))
            return Judgement(Verdict.WRONG_VALUE, text, scale * largest, scale, worst=worst)
        if all(t.values.size for t in request.tensors) and any(y.values.size for y in reply.outputs):
            zeros = self.measure(request, [replace(y, values=np.zeros_like(y.values)) for y in reply.outputs])
            if all(np.max(_find_share(zeros[n], bounds[n]), initial=0.0) <= 1 for n in bounds):
                return Judgement(Verdict.VACUOUS, "zeros would pass as well")
        return Judgement(Verdict.PASS, units=scale * largest, limit=scale)

    def _find_bounds(
        self, request: CallRequest, alike: Sequence[CallRequest], ask: CallFn, got: Mapping[str, Array]
    ) -> dict[str, Array]:
        if self.tolerance is not None:
            return dict.fromkeys(got, np.asarray(self.tolerance))
        rounding = max((DTYPES[t.kind].u for t in request.tensors if t.kind), default=0.0)
        if not self.honest:
            return self._measure_in_float64((request, *alike), ask, rounding / DTYPES["f64"].u)
        floors = {n: self.problem is not None and n not in self.problem.exact for n in got}
        units = {n: np.full(np.shape(left), MIN_ROUNDINGS * rounding * floors[n]) for n, left in got.items()}
        for one in (request, *alike):
            for reply in self.ask_solvers(one):
                for name, left in self.measure(one, reply.outputs).items():
                    units[name] = np.maximum(units[name], left)
        return {name: SAFETY * unit for name, unit in units.items()}

    def _measure_in_float64(self, requests: Sequence[CallRequest], ask: CallFn, growth: float) -> dict[str, Array]:
        """Bounds of answers in float64; -1 where these are as large, NaN where nothing follows."""
        if growth <= 1:
            raise UsageError("properties= of float64 are measured by no other dtype: give like= or tolerance=.")
        found: tuple[dict[str, Array], dict[str, Array]] = {}, {}
        for one in requests:
            tensors = tuple(replace(t, dtype="float64") if t.kind else t for t in one.tensors)
            for largest, asked in zip(found, (one, replace(one, tensors=tensors)), strict=True):
                reply = ask(asked)
                if reply.error:
                    raise UsageError(f"the candidate in float64: {reply.error}: give like= or tolerance=.")
                for name, left in self.measure(asked, reply.outputs).items():
                    largest[name] = np.maximum(largest.get(name, 0.0), left)
        own, precise = found
        unknown = {n: np.where(e > MAX_ROUNDING_PART * own[n], np.nan, e) for n, e in precise.items()}
        lasting = {n: e > MIN_SYSTEMATIC_PART * own[n] for n, e in precise.items()}
        return {n: np.where(lasting[n], -1.0, SAFETY * growth * e) for n, e in unknown.items()}


def _find_share(left: Array, bound: Array) -> Array:
    """Of what is allowed; infinite where nothing is, or where it is no number."""
    with np.errstate(all="ignore"):
        share = np.where(left == 0, 0.0, np.asarray(left, dtype=np.float64) / np.maximum(bound, 0.0))
    return np.where(np.isnan(share) | ((bound < 0) & (left != 0)), np.inf, share)


def _round_reply(reply: Reply) -> Reply:
    """An honest answer as it is stored: PyTorch has some in float32 alone."""
    kinds = [kind if (kind := kind_of(y.dtype)) in ("f16", "bf16") else "" for y in reply.outputs]
    pairs = zip(reply.outputs, kinds, strict=True)
    return replace(reply, outputs=tuple(replace(y, values=round_to(y.values, DTYPES[k])) if k else y for y, k in pairs))


def _take_figures(found: Any) -> dict[str, Array]:
    """What a user's function returned, of each name the largest. Raises UsageError where it is no mapping."""
    if not isinstance(found, Mapping) or not found:
        raise UsageError(
            f"properties returned {'nothing' if found is None else f'a {type(found).__name__}'}: expected a dict of "
            "names and numbers that should be zero, such as {'A - Q R': (a - q @ r).norm()}."
        )
    try:
        arrays = {str(name): np.abs(np.asarray(left, dtype=np.float64)) for name, left in found.items()}
    except (TypeError, ValueError) as error:
        raise UsageError(f"properties returned what is no number ({error}): expected numbers or tensors.") from None
    return {name: np.asarray(np.max(left, initial=0.0)) for name, left in arrays.items()}
