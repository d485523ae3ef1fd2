"""One task on one host: posed, asked three times, judged.

The calls: other data, the case's data, the other data again. The middle one is judged; the outer two must agree bit for
bit, so state that survives a call is seen. Buffers of the one data end at a guard, those of the other begin at one, and
in an eighth of the cases the case's data come first of all: so a backend cannot tell from outside which call is judged.
In another eighth they come once more where the other data have lain: what is kept by a tensor's address is then stale.
No expected value exists before the backend has answered.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from opproof.cases import Case
from opproof.core.arrays import Array
from opproof.core.dtypes import FLOATS, VARY, Declaration
from opproof.core.errors import OpError
from opproof.core.text import make_plain
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.judge.array_statistics import Rounding
from opproof.harness.judge.judgement import Judgement, Rules
from opproof.harness.judge.outputs import EarlyVerdict, Outputs
from opproof.harness.judge.self_oracle import judge_by_self
from opproof.harness.reference.chunks.memory_budget import TooLarge, with_memory_limit
from opproof.harness.reference.chunks.question import Posing, make_fitting_question
from opproof.harness.reference.question import Question
from opproof.harness.reference.roundoff import COMPUTE_U
from opproof.harness.run.calls import (
    ON_END,
    are_same_answers,
    arrange_calls,
    by_reference,
    find_wrong_answer,
    has_differences,
    is_held,
    judge_repeatability,
    judge_unrepeatable,
)
from opproof.harness.run.determinism import (
    UNTOLD,
    Answered,
    call_in_reused_memory,
    call_with_halves,
    find_dependent_rows,
    find_partial_key,
    find_stale_bits,
    find_unrepeated,
    on_end,
    with_each,
)
from opproof.harness.run.hosts.host import Host, Support
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.memory_limits import (
    bytes_of,
    bytes_of_inputs,
    check_fits,
    check_free,
    explain_limit,
    explain_outgrown,
    limit_of,
)
from opproof.harness.run.request import Request, wanted_of
from opproof.harness.run.task import Task
from opproof.reference_ops import Op


@dataclass(frozen=True)
class Attempt:
    """What became of a task; what it did not come to is None."""

    judgement: Judgement
    posed: Question | None = None
    answer: Outputs | None = None
    fault: HostFault | None = None  # after which the host is of no more use
    rules: Rules | None = None  # by which it was judged
    seconds: float = 0.0
    judging: float = 0.0  # seconds of everything but the backend: data, reference, noise, comparison
    declared: str = ""  # what the backend said of its results beforehand, in words
    causes: dict[int, tuple[str, ...]] = field(default_factory=dict)  # of known failures, by the judgement explained


@dataclass
class _Clock:
    """Seconds in the backend, by the judge's clock, and what they were spent on."""

    seconds: float = 0.0
    posed: Question | None = None
    answer: Outputs | None = None
    rules: Rules | None = None
    declared: str = ""
    needs: int = 0  # bytes of the tensors, or of the inputs while no more is known


def run_task(
    host: Host,
    task: Task,
    op: Op,
    timeout: float,
    *,
    posing: Posing = make_fitting_question,
    soft: bool = False,
    alone: bool = False,
) -> Attempt:
    """Run and judge `task`. `soft` makes guards readable; `alone` makes only the judged call.

    `posing` draws the question; that of run/cache keeps it, with what is expected, for the next who is asked.

    Raises nothing for what the backend does, and nothing for what goes wrong in the judge: that is a HARNESS_ERROR.
    """
    clock, fault, started = _Clock(), None, time.perf_counter()
    try:
        with with_memory_limit(limit_of(host, task)):
            judgement = _judge_task(host, task, op, timeout, clock, posing, soft=soft, alone=alone)
    except EarlyVerdict as settled:
        judgement = Judgement(settled.verdict, settled.message)
    except HostFault as error:
        verdict, message = explain_limit(error, task, clock.needs, whole=clock.posed is not None)
        judgement, fault = Judgement(verdict, make_plain(message)), error
    except TooLarge as error:
        judgement = Judgement(Verdict.HARNESS_ERROR, make_plain(str(error)))
    except MemoryError as error:
        within = limit_of(host, task) < sys.maxsize
        told = (
            explain_outgrown(Case.parse(task.case), task.judge_memory, error) if within else _describe_error(error, op)
        )
        judgement = Judgement(Verdict.HARNESS_ERROR, make_plain(told))
    except (Exception, SystemExit, GeneratorExit) as error:  # a reference's, or a fault of the judge itself
        judgement = Judgement(Verdict.HARNESS_ERROR, _describe_error(error, op))
    judging = time.perf_counter() - started - clock.seconds
    of = clock.posed, clock.answer, fault, clock.rules
    return Attempt(judgement, *of, clock.seconds, judging, clock.declared)


def _judge_task(
    host: Host, task: Task, op: Op, timeout: float, clock: _Clock, posing: Posing, *, soft: bool, alone: bool
) -> Judgement:
    case, mode = Case.parse(task.case), Mode(task.mode)
    clock.needs = bytes_of_inputs(case, op)
    support = support_of(host, case, op, mode)
    rules = rules_of(task, support)
    by_itself = task.is_by_itself
    if host.shares_memory:
        check_fits(task, clock.needs)
    check_free(case, task.judge_memory)
    pair = posing(case, op, mode, sys.maxsize if by_itself else task.judge_memory)
    clock.posed, clock.rules, clock.declared = pair.asked, rules, str(support.declared)
    if mode is Mode.GRADIENT and not any(pair.asked.needs):
        raise EarlyVerdict(Verdict.UNSUPPORTED, "no input of this operator has a gradient")
    if task.threads and not host.about.threads:
        raise EarlyVerdict(Verdict.UNSUPPORTED, UNTOLD)
    wanted = wanted_of(pair.asked, pair.outputs)
    clock.needs = bytes_of(Request(pair.asked, wanted))
    if host.shares_memory:
        check_fits(task, clock.needs)
    check_free(case, task.judge_memory, wanted)
    plan = arrange_calls(task)
    varies = support.declared.bits is not None
    same = op.deterministic and not varies  # the same call is to give the same bits

    def calls(*questions: Request) -> Iterator[list[Array | None]]:
        answers = host.several(questions, timeout)
        for _ in questions:
            started = time.perf_counter()
            try:
                answer = next(answers)
            finally:
                clock.seconds += time.perf_counter() - started
            yield answer

    def call(question: Request) -> list[Array | None]:
        return next(calls(question))

    def wrong(one: Answered) -> bool:
        return by_reference(one[0].posed, Outputs(one[1]), rules, pair.room, pair.asked).verdict in WRONG

    def repeated(question: Request) -> Sequence[Sequence[Array | None]]:
        return [] if host.about.once else on_end(call, question)

    def judged(threads: int) -> tuple[Judgement, Outputs]:
        asked = Request(pair.asked, wanted, at_end=plan.at_end, soft=soft, threads=threads)
        other = Request(pair.other, wanted, at_end=not plan.at_end, soft=soft, threads=threads)
        around = [] if alone else [other]
        early = [asked] if plan.leads and around and op.deterministic else []
        first = [_make_forward(asked, pair.outputs)] if op.drawn_from and mode is Mode.GRADIENT else []
        given = list(calls(*early, *around, *first, asked, *around))
        leading = given.pop(0) if early else None
        can_be_judged = pair.room is None and is_held(pair.asked)
        stays = plan.stays and around and same and not host.about.once
        by_halves = call_with_halves(call, asked, other, late=plan.late) if stays and can_be_judged else []
        again = call_in_reused_memory(call, asked, other) if stays else None
        answer = Outputs(given[-1 - len(around)], given[0] if around else [], given[len(around)] if first else [])
        if alone and op.drawn_from and mode is Mode.FORWARD and not host.about.once:  # two draws are compared
            answer = replace(answer, before=call(other))
        if not alone and same and not are_same_answers(answer.before, given[-1]):
            unlike = [answer.before, given[-1]]
            return judge_unrepeatable(pair.other, unlike, repeated(other), "after", rules, pair.room), answer
        clock.answer = answer
        if by_itself:
            judgement = judge_by_self(_forward_of(host, case, op, timeout, threads), pair.asked, answer)
        else:
            judgement = by_reference(pair.asked, answer, rules, pair.room)
        if judgement.verdict is Verdict.PASS and leading is not None and same:
            judgement = judge_repeatability(judgement, pair, leading, answer, rules, lambda: repeated(asked))
        if judgement.verdict is Verdict.PASS and alone and same and has_differences(repeated(asked)):
            message = f"the same call gave other bits {ON_END}"
            judgement = replace(judgement, verdict=Verdict.NOT_REPEATABLE, message=message)
        if judgement.verdict is Verdict.PASS and op.deterministic and not alone:
            if varies:
                more = chain(filter(None, [leading]), (call(asked) for _ in range(1, task.repeat)))
                changed = find_wrong_answer(pair, more, [answer.before, given[-1]], rules)
            else:
                changed = find_unrepeated(call, asked, other, answer.arrays, task.repeat)
                changed = changed or find_stale_bits(call, asked, other, answer.arrays, again)
                changed = changed or find_partial_key(by_halves, answer.arrays, wrong)
            if not changed and task.batch_invariant and same:
                changed = find_dependent_rows(call, asked, answer.arrays)
            if changed:
                judgement = replace(judgement, verdict=Verdict.NOT_REPEATABLE, message=changed)
        host.late()
        return judgement, answer

    return with_each(task.threads, judged, wanted) if task.threads else judged(0)[0]


def _make_forward(asked: Request, outputs: Sequence[Array]) -> Request:
    """The forward of the call whose gradients are asked for."""
    posed = asked.posed.given(mode=Mode.FORWARD, cotangents=(), case=asked.posed.case.apart)
    return replace(asked, posed=posed, wanted=wanted_of(posed, outputs))


def rules_of(task: Task, support: Support) -> Rules:
    """By what an answer is judged: what the task asks for, and what the backend declares."""
    return Rules(task.strict_subnormals, task.convention, support.declared.compute, support.declared.rounding)


def support_of(host: Host, case: Case, op: Op, mode: Mode) -> Support:
    """By which precision and rounding the backend is to be judged. Raises Settled where it declines."""
    if mode is Mode.GRADIENT and not host.about.differentiates:
        raise EarlyVerdict(Verdict.UNSUPPORTED, "the backend has no vjp")
    for dtype in case.dtypes:
        if dtype not in FLOATS and dtype not in host.about.dtypes:
            raise EarlyVerdict(Verdict.UNSUPPORTED, f"the backend does not declare the dtype {dtype}")
    if case.mixed and not host.about.mixed:
        raise EarlyVerdict(Verdict.UNSUPPORTED, "the backend does not declare calls of mixed dtypes")
    for needed in case.destinations:
        if needed not in host.about.destinations:
            raise EarlyVerdict(Verdict.UNSUPPORTED, f"the backend does not declare the destination {str(needed)!r}")
    shapes = case.shapes
    names = list(shapes) if op.variadic else op.tensors
    params = {**op.params, **case.kwargs}
    support = host.support(op.name, "+".join(case.dtypes), mode, params, [shapes.get(n) for n in names])
    if support.reason:
        raise EarlyVerdict(Verdict.UNSUPPORTED, support.reason)
    _check_declared(support.declared)
    return support


def _check_declared(declared: Declaration) -> None:
    """Raises Settled for words that mean nothing."""
    if declared.compute not in (None, "storage", *COMPUTE_U):
        known = ", ".join(("storage", *COMPUTE_U))
        raise EarlyVerdict(Verdict.ERROR, f"it declares the precision {declared.compute!r}; expected one of {known}")
    for what, said, word in (("rounding", declared.rounding, Rounding.TRUNCATE), ("bits", declared.bits, VARY)):
        if said not in (None, word):
            raise EarlyVerdict(Verdict.ERROR, f"it declares the {what} {said!r}; expected None or {str(word)!r}")


def _forward_of(host: Host, case: Case, op: Op, timeout: float, threads: int):  # type: ignore[no-untyped-def] # noqa: ANN202
    """The backend's outputs as a function of inputs, contiguous ones: moved, they have no equal slices to share."""
    pair = make_fitting_question(replace(case.apart, layout="contiguous"), op, Mode.FORWARD, sys.maxsize)
    wanted = wanted_of(pair.asked, pair.outputs)

    def forward(inputs: Sequence[Array | None]) -> list[Array | None]:
        return host.call(Request(pair.asked.given(inputs=tuple(inputs)), wanted, threads=threads), timeout)

    return forward


def _describe_error(error: BaseException, op: Op) -> str:
    """What went wrong on our side, with the function and the file."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"the reference of {op.name} needs {error.name}, which is not installed: pip install {error.name}"
    if isinstance(error, OpError):  # what the reference does has no rule
        return make_plain(f"the reference of {op.name}: {' '.join(str(error).split())}")
    frame, where = error.__traceback__, ""
    while frame is not None:
        code = frame.tb_frame.f_code
        where = f"{code.co_name} ({code.co_filename}:{frame.tb_lineno})"
        frame = frame.tb_next
    return make_plain(f"{type(error).__name__} in {where}: {' '.join(str(error).split())}")
