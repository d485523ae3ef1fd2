"""Check a candidate against a reference: inputs, both sides, every variant within the budget, the report."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

from opproof.core.errors import UsageError
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.check.by_properties import check_properties
from opproof.harness.check.call.candidates import open_candidate
from opproof.harness.check.call.exchange import CallRequest
from opproof.harness.check.call.forked import describe_interpreter
from opproof.harness.check.call.isolated import Located
from opproof.harness.check.call.perform import threads_for
from opproof.harness.check.call.reference import CallFn, Reference
from opproof.harness.check.call.stand_ins import ContractedCalls
from opproof.harness.check.call.subject import Form, in_dtype, in_evaluation, is_module, list_owned, name_of, state_of
from opproof.harness.check.contract import require_precision
from opproof.harness.check.judge.derivatives import try_derivative
from opproof.harness.check.judge.final_pass import Unwatched, make_standalone_caller
from opproof.harness.check.judge.outcome import VariantResult
from opproof.harness.check.option_pairs import check_each_form
from opproof.harness.check.options import SAMPLING, CheckOptions
from opproof.harness.check.records import Sides, make_records
from opproof.harness.check.sampling import check_sampler
from opproof.harness.check.search import SearchResult, SearchSpace, VariantSearch
from opproof.harness.check.summary import add_left_out, make_report
from opproof.harness.check.tensors import CallTensor
from opproof.harness.check.times import measure_times
from opproof.harness.check.triage.beyond_inputs import find_ranges
from opproof.harness.check.variants import inputs as given_inputs
from opproof.harness.check.variants.arguments import (
    Draw,
    change_numbers,
    describe_unvaried_arguments,
    multiply_numbers,
    of_one_rest,
    replace_negative_by_0,
    swap_numbers,
    take_other_arguments,
)
from opproof.harness.check.variants.axes import generate_swept_numbers
from opproof.harness.check.variants.generate import (
    DRAWS_PER_BRANCH,
    as_drawn,
    describe_unvaried,
    find_held_properties,
    generate_judged_draws,
    generate_later_draws,
    numbers_of_others,
    of_other_shapes,
)
from opproof.harness.check.variants.inputs import update_buffers
from opproof.harness.check.variants.properties import Property
from opproof.harness.clock import Allowed
from opproof.harness.reference.torch.arithmetic import OutOfTime
from opproof.reports import Result
from opproof.reports.check import Report, join_reports

#: The name of the inputs as given, where modules do not train.
EVALUATION = "in evaluation mode"
#: Of the seconds of a check in which further modes of other variants than the first are begun.
_MODES_TIME_SHARE = 0.5


def check_candidate(candidate: Any, like: Any, inputs: Any, wish: CheckOptions) -> Report:
    """The report on each form of the inputs. A `Located` candidate runs in a process of its own.

    Modules that train are asked in evaluation mode too.

    Raises UsageError where the reference does not take the inputs, OpError where it uses what has no rule under noise.
    """
    report = _check_in_time(candidate, like, inputs, wish.begin())
    text = describe_interpreter(candidate, (r.dtype for r in report.results))
    return replace(report, not_judged=(*report.not_judged, text)) if text else report


def _check_in_time(candidate: Any, like: Any, inputs: Any, wish: CheckOptions) -> Report:
    if like == SAMPLING:
        return check_sampler(candidate, inputs, wish)
    if isinstance(like, str) or wish.properties is not None:
        return check_properties(candidate, like, inputs, wish)
    return check_each_form(
        lambda some, asked: _in_each_mode(candidate, like, some, asked),
        inputs,
        wish,
        lambda one, asked: _check_given_inputs(candidate, like, one, asked, one.name),
        given_inputs.names_of(like),
    )


def _in_each_mode(candidate: Any, like: Any, inputs: Any, wish: CheckOptions) -> Report:
    if not getattr(like, "training", False):
        return _compare_sides(candidate, like, inputs, wish)
    if wish.only == EVALUATION:
        return _check_in_evaluation_mode(candidate, like, inputs, replace(wish, only=None))
    report = _compare_sides(candidate, like, inputs, wish)
    if not wish.neighbours or wish.only is not None or wish.modes or report.failures:
        return report
    try:
        return join_reports([report, _check_in_evaluation_mode(candidate, like, inputs, wish)])
    except OutOfTime:
        return add_left_out(report, [EVALUATION], wish.seconds)


def _check_in_evaluation_mode(candidate: Any, like: Any, inputs: Any, wish: CheckOptions) -> Report:
    """The report on the inputs as given, both modules in evaluation mode."""
    other = replace(candidate, evaluation=True) if isinstance(candidate, Located) else in_evaluation(candidate)
    return _check_given_inputs(other, in_evaluation(like), inputs, replace(wish, last=wish.neighbours), EVALUATION)


def _check_given_inputs(candidate: Any, like: Any, inputs: Any, wish: CheckOptions, name: str) -> Report:
    """The report on the inputs as given and nothing beside them, by a name of their own."""
    return _compare_sides(candidate, like, inputs, replace(wish, neighbours=False, time=False), name=name)


@dataclass(frozen=True)
class _Redraw:
    """Draws the inputs by a seed: arguments, then tensors with what a module owns moved to it."""

    like: Any
    inputs: Any
    names: Sequence[str]
    reference: Reference
    wish: CheckOptions

    def __call__(self, seed: int) -> Draw:
        moved = state_of(self.like, self.wish.dtype, seed) if is_module(self.like) else ()
        given, tensors, _ = given_inputs.take_inputs(self.inputs, self.names, self.wish.dtype, seed)
        drawn = (*tensors, *moved)
        return given, drawn if seed == self.wish.seed else update_buffers(self.reference, drawn, seed)


def _compare_sides(candidate: Any, like: Any, inputs: Any, wish: CheckOptions, *, name: str = "") -> Report:
    """Compare both sides within the budget; `name`: of the inputs as given, where it is another."""
    names = given_inputs.names_of(like)
    arguments, asked, by_shape = given_inputs.take_inputs(inputs, names, wish.dtype, wish.seed)
    names = list(arguments.keywords or names)
    owned = list_owned(like, wish.dtype) if is_module(like) else ()
    parameters, buffers = (tuple(t.name for t in owned if t.buffer is b) for b in (False, True))
    reference = Reference(like, Form(arguments, len(asked), parameters, buffers))
    _check_contract(reference, asked, names, wish)
    _check_kinds(candidate, like)
    sides = Sides(reference, name_of(like), name_of(candidate), in_process=not isinstance(candidate, Located))
    draw = _Redraw(like, inputs, names, reference, wish)
    draws = {seed: draw(seed) for seed in range(wish.seed, wish.seed + 2 * DRAWS_PER_BRANCH)}
    for _, tensors in draws.values():
        wish.contract.require_sizes(tensors)
    space = _make_space(draw, draws, by_shape=by_shape, isolated=not sides.in_process)
    rounds = _search(candidate, reference, space, wish)
    alike = as_drawn(space.pairs, space.kept)
    if callable(inputs):
        same = describe_unvaried_arguments(draws, names, rounds.names)
        alike = (*describe_unvaried(space.pairs), *same, *alike)
    if name:
        called: dict[str, Any] = {"name": name, "fill": re.sub(r"\W+", "-", name)}
        rounds = replace(rounds, tried=[replace(one, variant=replace(one.variant, **called)) for one in rounds.tried])
    with threads_for(space.first):
        report = make_report(rounds, sides, wish, alike if wish.neighbours and wish.only is None else ())
    if not wish.modes:
        return report
    if not sides.in_process:
        raise UsageError("modes= needs the candidate in this process: leave isolate out.")
    return _add_modes(report, rounds.tried, sides, lambda request: in_dtype(candidate, request.tensors), wish)


def _check_kinds(candidate: Any, like: Any) -> None:
    """Raise UsageError where one side is a module and the other is none."""
    if is_module(candidate) and not is_module(like):
        raise UsageError("the candidate is a module and the reference is none: give modules on both sides.")
    if is_module(like) and not is_module(candidate) and not isinstance(candidate, Located):
        raise UsageError("the reference is a module and the candidate is none: give modules on both sides.")


def _check_contract(
    reference: Reference, tensors: tuple[CallTensor, ...], names: Sequence[str], wish: CheckOptions
) -> None:
    """Raise UsageError where the contract names what there is not, or makes no sense of this reference."""
    contract = wish.contract
    require_precision(wish.compute)
    if not contract.given and isinstance(wish.compute, str | None):
        return
    if wish.modes and (contract.writes or contract.backwards or not isinstance(wish.compute, str | None)):
        raise UsageError("modes= goes without inplace, overwrites, backwards and a compute by names: leave them out.")
    reply = reference.call_native(CallRequest(tensors, seed=wish.seed))
    if not reply.error:  # which is told of the inputs as given
        contract.require_names(names, tensors, len(reply.outputs), wish.compute)


def _make_space(draw: _Redraw, draws: Mapping[int, Draw], *, by_shape: bool, isolated: bool) -> SearchSpace:
    """Make what is tried, by the first draws and what is drawn later."""
    names, reference, seed = draw.names, draw.reference, draw.wish.seed
    own, arguments = callable(draw.inputs), reference.form.arguments

    def takes(tensors: tuple[CallTensor, ...]) -> bool:
        return not reference.call_native(CallRequest(tensors, seed=seed)).error

    together = of_one_rest(draws, draw, takes)
    pairs = list(zip(together[::2], together[1::2], strict=True))
    others = (
        (*take_other_arguments(draws), *change_numbers(draws, names), *replace_negative_by_0(draws, names))
        if own
        else ()
    )
    kept: Sequence[tuple[Property, ...]] = [()] * len(pairs[0][0]) if by_shape else find_held_properties(pairs)
    after = draws[seed], draw, seed + len(draws)
    swept = generate_swept_numbers(pairs[0], arguments.rest, arguments.labels(names))
    return SearchSpace(
        pairs,
        kept,
        by_shape,
        own,
        isolated,
        otherwise=others,
        options=multiply_numbers(draws, names),
        exchanged=swap_numbers(draws, names) if isolated and own else (),
        further=generate_judged_draws(*after),
        later=generate_later_draws(*after),
        numbered=chain(numbers_of_others(draws, names), swept),
        shaped=of_other_shapes(draws),
        ranges={} if by_shape else find_ranges([*chain.from_iterable(pairs), *(v.case_data for v in others)]),
    )


def _search(candidate: Any, reference: Reference, space: SearchSpace, wish: CheckOptions) -> SearchResult:
    """Try the candidate at what there is, in this process or in one of its own."""
    lasts = is_module(reference.subject) and not reference.keeps(CallRequest(space.first, seed=wish.seed))
    own = isinstance(candidate, Located)
    alone = make_standalone_caller(candidate, reference.form, wish.calls) if own else None
    with open_candidate(candidate, reference, wish, lasts=lasts) as ask:
        return _run_search(reference, ask, space, wish, alone)


def _run_search(
    reference: Reference, ask: CallFn, space: SearchSpace, wish: CheckOptions, alone: Unwatched | None = None
) -> SearchResult:
    """Search under the contract; a program that knows of none is not asked where it lets anything be written."""
    calls = ContractedCalls(partial(wish.calls.ask, ask), wish.contract)
    found = VariantSearch(reference, calls, space, wish).run(None if wish.contract.writes else alone)
    times = measure_times(ContractedCalls(ask, wish.contract), reference, found.tried[0]) if wish.time else ()
    return replace(found, notes=tuple(calls.notes), times=times)


def _add_modes(
    report: Report,
    found: Sequence[VariantResult],
    sides: Sides,
    candidate: Callable[[CallRequest], Any],
    wish: CheckOptions,
) -> Report:
    """The report with the modes that were asked for beside values and gradients, of every variant within the budget."""
    allowed, results, notes = Allowed(_MODES_TIME_SHARE * wish.seconds), list[Result](), list[str]()
    for i, first in enumerate(found):
        if i and allowed.over:
            break
        for mode in wish.modes if not first.declined and first.variant.rest is None else ():
            # PyTorch's forward mode writes tangents in place, which it refuses where elements share their memory.
            if mode is Mode.JVP and first.variant.layout == "broadcast":
                continue
            one = try_derivative(first, mode, sides.reference, candidate, wish)
            made = make_records(one, sides)
            results += made
            notes += [f"{first.variant.name}, {mode}: {one.declined}"] * bool(one.declined)
            notes += [f"{first.variant.name}, {mode}: {r.message}" for r in made if r.verdict is Verdict.UNSUPPORTED]
    notes = list(dict.fromkeys((*report.not_judged, *notes)))
    return replace(report, results=(*report.results, *results), not_judged=tuple(notes))
