"""A candidate judged by properties of its answer, where an answer is not unique: like="qr", or properties=."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from opproof.cases._conditioned import SHAPES, USUAL_OPTIONS, generate_trials
from opproof.core.errors import UsageError, suggest
from opproof.core.verdicts import Mode
from opproof.harness.check.call.candidates import make_callee, open_candidate
from opproof.harness.check.call.exchange import CallRequest, Reply
from opproof.harness.check.call.isolated import Located
from opproof.harness.check.call.perform import threads_for
from opproof.harness.check.call.reference import CallFn, Reference
from opproof.harness.check.call.reference_reply import ReferenceReply
from opproof.harness.check.call.subject import Form, name_of
from opproof.harness.check.judge.declines import of_candidate
from opproof.harness.check.judge.faults import find_structural_error
from opproof.harness.check.judge.outcome import VariantResult, by_reference
from opproof.harness.check.judge.residuals import ResidualRule
from opproof.harness.check.options import SAMPLING, CheckOptions
from opproof.harness.check.records import Sides
from opproof.harness.check.run_variant import call_three_times
from opproof.harness.check.search import MAX_FAILING_VARIANTS, SearchResult
from opproof.harness.check.summary import make_report
from opproof.harness.check.tensors import CallTensor
from opproof.harness.check.variants.inputs import names_of, take_inputs
from opproof.harness.check.variants.variant import GIVEN, Variant, apply_other_layouts
from opproof.harness.clock import Allowed
from opproof.reference_ops._problems import PROBLEMS, Problem
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
        kind = type(wish.properties).__name__
        raise UsageError(f"properties is a {kind}: expected a function of inputs and outputs that returns a dict.")
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
