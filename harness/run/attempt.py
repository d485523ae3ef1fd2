"""One task on one host: posed, asked three times, judged.

The calls: other data, the case's data, the other data again. The middle one is judged; the outer two must agree bit
for bit. Buffers of the one data end at a guard, those of the other begin at one; in an eighth of the cases the case's
data come first of all, in another they come once more where the other data have lain: a backend cannot tell which is
judged.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

import numpy as np

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
from opproof.harness.reference.chunks.question import LargeQuestionPair, Posing, make_fitting_question
from opproof.harness.reference.expected import values_of
from opproof.harness.reference.question import Question
from opproof.harness.reference.roundoff import COMPUTE_U
from opproof.harness.run.calls import (
    ON_END,
    STALE,
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
    RESULT_COPIES,
    bytes_of,
    bytes_of_inputs,
    check_fits,
    check_foreseen,
    check_free,
    explain_limit,
    explain_outgrown,
    limit_of,
)
from opproof.harness.run.refusal import judge_refusal, make_requests
from opproof.harness.run.request import Request, Wanted, wanted_of
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
    impl: tuple[str, ...] = ()  # what computed the answers, where the backend says it
    causes: dict[int, tuple[str, ...]] = field(default_factory=dict)  # of known failures, by the judgement explained

    def with_verdict(self, verdict: Verdict, message: str) -> Attempt:
        """The same with another verdict than its own."""
        return replace(self, judgement=replace(self.judgement, verdict=verdict, message=message))

    @property
    def is_kept(self) -> bool:
        """Whether the answer is that of the call before, which had other data, and is not one number."""
        if not self.judgement.stale or self.answer is None:
            return False
        return any(not _is_one_number(a) for a in self.answer.arrays if a is not None and a.size)


def as_told_by_itself(first: Attempt) -> Attempt:
    """Without another process to ask: a wrong answer equal to the one before, not one number, was kept from there."""
    return first.with_verdict(Verdict.NOT_REPEATABLE, STALE) if first.is_kept else first


#: Elements that are looked at at once.
_PIECE_ELEMENTS = 2**20


def _is_one_number(array: Array) -> bool:
    """Whether all elements are one number, NaN taken for 0; a large array has no second of its size beside it."""

    def numbers(part: Array) -> Array:
        return np.asarray(np.nan_to_num(np.asarray(part, dtype=np.float64)))

    flat = array.reshape(-1)
    first = numbers(flat[:1])
    parts = (flat[i : i + _PIECE_ELEMENTS] for i in range(0, flat.size, _PIECE_ELEMENTS))
    return all(bool((numbers(part) == first).all()) for part in parts)


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
    readable_guards: bool = False,
    single_call: bool = False,
) -> Attempt:
    """Run and judge `task`. `readable_guards` makes guards readable; `single_call` makes only the judged call.

    `posing` draws the question; that of run/cache keeps it, with what is expected, for the next who is asked.

    Raises nothing for what the backend does, and nothing for what goes wrong in the judge: that is a HARNESS_ERROR.
    """
    clock, fault, started = _Clock(), None, time.perf_counter()
    host.impls = frozenset()
    try:
        with with_memory_limit(limit_of(host, task)):
            judgement = _judge_task(
                host, task, op, timeout, clock, posing, readable_guards=readable_guards, single_call=single_call
            )
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
    return Attempt(judgement, *of, clock.seconds, judging, clock.declared, tuple(sorted(host.impls - {""})))


def _judge_task(
    host: Host,
    task: Task,
    op: Op,
    timeout: float,
    clock: _Clock,
    posing: Posing,
    *,
    readable_guards: bool,
    single_call: bool,
) -> Judgement:
    """Pose a task, ask for its answers and judge them. Raises Settled, HostFault, TooLarge."""
    case, mode = Case.parse(task.case), Mode(task.mode)
    if mode is Mode.REFUSAL:
        return _judge_wrong_call(host, task, case, op, timeout, clock, readable_guards=readable_guards)
    clock.needs = bytes_of_inputs(case, op)
    support = support_of(host, case, op, mode)
    rules = rules_of(task, support)
    plan = arrange_calls(task)
    copies = RESULT_COPIES + (0 if single_call else plan.leads + plan.stays)
    if host.shares_memory:
        check_fits(task, clock.needs)
        check_foreseen(case, op, mode, task, copies=copies)
    check_free(case, task.judge_memory)
    pair = posing(case, op, mode, sys.maxsize if task.is_by_itself else task.judge_memory)
    clock.posed, clock.rules, clock.declared = pair.case_data, rules, str(support.declared)
    if mode is Mode.GRADIENT and not any(pair.case_data.needs):
        raise EarlyVerdict(Verdict.UNSUPPORTED, "no input of this operator has a gradient")
    if task.threads and not host.about.threads:
        raise EarlyVerdict(Verdict.UNSUPPORTED, UNTOLD)
    wanted = wanted_of(pair.case_data, pair.outputs)
    clock.needs = bytes_of(Request(pair.case_data, wanted))
    if host.shares_memory:
        check_fits(task, clock.needs)
    check_free(case, task.judge_memory, wanted, copies=copies)
    varies = support.declared.bits is not None
    posed = _PosedTask(
        host, task, op, timeout, clock, case, mode, pair, wanted, rules, varies, readable_guards, single_call
    )
    return with_each(task.threads, posed.judge, wanted) if task.threads else posed.judge(0)[0]


def _judge_wrong_call(
    host: Host, task: Task, case: Case, op: Op, timeout: float, clock: _Clock, *, readable_guards: bool
) -> Judgement:
    """Judge whether a wrong call is refused. Raises as `_judge_task`."""
    support_of(host, replace(case, wrong=""), op, Mode.FORWARD)
    right, wrong = make_requests(case, op, task.judge_memory, readable_guards=readable_guards)
    started = time.perf_counter()
    try:
        return judge_refusal(host, right, wrong, timeout)
    finally:
        clock.seconds += time.perf_counter() - started


@dataclass(frozen=True)
class _Answers:
    """What came of the calls of a task with one number of threads."""

    request: Request
    decoy: Request
    answer: Outputs  # to the judged call, with those to the calls before it
    last: Sequence[Array | None]  # to the last call: of other data, unless the judged one is alone
    leading: Sequence[Array | None] | None  # to the judged question, where it was asked first of all
    by_halves: Sequence[Answered]  # to questions that share half of their elements with the judged one
    again: Sequence[Array | None] | None  # to the judged question, where other data have just lain in its memory


@dataclass(frozen=True)
class _PosedTask:
    """A task whose question is drawn, the host that is asked, and by what its answers are judged."""

    host: Host
    task: Task
    op: Op
    timeout: float
    clock: _Clock
    case: Case
    mode: Mode
    pair: LargeQuestionPair
    wanted: tuple[Wanted | None, ...]
    rules: Rules
    varies: bool  # the bits of its answers, as is declared
    readable_guards: bool
    single_call: bool

    @property
    def is_same(self) -> bool:
        """Whether the same call is to give the same bits."""
        return self.op.deterministic and not self.varies

    def judge(self, threads: int) -> tuple[Judgement, Outputs]:
        """Ask with a number of threads, 0 for that of the host, and judge the answers."""
        given = self._ask(threads)
        if not self.single_call and self.is_same and not are_same_answers(given.answer.before, given.last):
            unlike = [given.answer.before, given.last]
            on_end_of_other, room = self._repeat(given.decoy), self.pair.room
            return judge_unrepeatable(
                self.pair.decoy_data, unlike, on_end_of_other, "after", self.rules, room
            ), given.answer
        self.clock.answer = given.answer
        judgement = self._compare(given, threads)
        judgement = self._check_repeatability(judgement, given)
        self.host.late()
        return judgement, given.answer

    def _ask(self, threads: int) -> _Answers:
        pair, wanted, op, soft, plan = self.pair, self.wanted, self.op, self.readable_guards, arrange_calls(self.task)
        request = Request(pair.case_data, wanted, at_end=plan.at_end, readable_guards=soft, threads=threads)
        decoy = Request(pair.decoy_data, wanted, at_end=not plan.at_end, readable_guards=soft, threads=threads)
        around = [] if self.single_call else [decoy]
        early = [request] if plan.leads and around and op.deterministic else []
        first = [_make_forward(request, pair.outputs)] if op.drawn_from and self.mode is Mode.GRADIENT else []
        given = list(self._generate_answers(*early, *around, *first, request, *around))
        leading = given.pop(0) if early else None
        can_be_judged = pair.room is None and is_held(pair.case_data)
        stays = plan.stays and around and self.is_same and not self.host.about.once
        by_halves = call_with_halves(self._call, request, decoy, late=plan.late) if stays and can_be_judged else []
        again = call_in_reused_memory(self._call, request, decoy) if stays else None
        answer = Outputs(given[-1 - len(around)], given[0] if around else [], given[len(around)] if first else [])
        once = self.host.about.once
        if self.single_call and op.drawn_from and self.mode is Mode.FORWARD and not once:  # two draws are compared
            answer = replace(answer, before=self._call(decoy))
        return _Answers(request, decoy, answer, given[-1], leading, by_halves, again)

    def _generate_answers(self, *questions: Request) -> Iterator[list[Array | None]]:
        answers = self.host.several(questions, self.timeout)
        for _ in questions:
            started = time.perf_counter()
            try:
                answer = next(answers)
            finally:
                self.clock.seconds += time.perf_counter() - started
            yield answer

    def _call(self, question: Request) -> list[Array | None]:
        return next(self._generate_answers(question))

    def _repeat(self, question: Request) -> Sequence[Sequence[Array | None]]:
        """Ask a question many times on end, of a host that can be asked again."""
        return [] if self.host.about.once else on_end(self._call, question)

    def _compare(self, given: _Answers, threads: int) -> Judgement:
        """Judge the answer by itself, as the task says, or by the reference."""
        if self.task.is_by_itself:
            forward = _forward_of(self.host, self.case, self.op, self.timeout, threads)
            return judge_by_self(forward, self.pair.case_data, given.answer)
        return by_reference(self.pair.case_data, given.answer, self.rules, self.pair.room)

    def _check_repeatability(self, judgement: Judgement, given: _Answers) -> Judgement:
        """Make a judgement that nothing is wrong NOT_REPEATABLE where other calls show that the answer is not."""
        answer, request, leading = given.answer, given.request, given.leading
        if judgement.verdict is Verdict.PASS and leading is not None and self.is_same:
            repeated = partial(self._repeat, request)
            judgement = judge_repeatability(judgement, self.pair, leading, answer, self.rules, repeated)
        if (
            judgement.verdict is Verdict.PASS
            and self.single_call
            and self.is_same
            and has_differences(self._repeat(request))
        ):
            message = f"the same call gave other bits {ON_END}"
            judgement = replace(judgement, verdict=Verdict.NOT_REPEATABLE, message=message)
        if judgement.verdict is not Verdict.PASS or not self.op.deterministic or self.single_call:
            return judgement
        changed = self._find_changed(given)
        return replace(judgement, verdict=Verdict.NOT_REPEATABLE, message=changed) if changed else judgement

    def _find_changed(self, given: _Answers) -> str:
        """Find what shows in further calls that an answer is kept or varies, in words; empty where nothing does."""
        request, decoy, arrays, repeat = given.request, given.decoy, given.answer.arrays, self.task.repeat
        if self.varies:
            more = chain(filter(None, [given.leading]), (self._call(request) for _ in range(1, repeat)))
            changed = find_wrong_answer(self.pair, more, [given.answer.before, given.last], self.rules)
        else:
            changed = find_unrepeated(self._call, request, decoy, arrays, repeat)
            changed = changed or find_stale_bits(self._call, request, decoy, arrays, given.again)
            changed = changed or find_partial_key(given.by_halves, arrays, self._is_wrong)
        if not changed and self.task.invariant and self.is_same:
            changed = find_dependent_rows(self._call, request, decoy, arrays, self.task.invariant)
        return changed

    def _is_wrong(self, one: Answered) -> bool:
        """Whether the answer to a question beside the judged one is wrong by the reference."""
        posed, answer = one[0].posed, Outputs(one[1])
        if self.pair.case_data.periods is not None and _has_same_values(posed, self.pair.case_data):
            return False  # of the judged data it is right
        return by_reference(posed, answer, self.rules, self.pair.room, self.pair.case_data).verdict in WRONG


def _has_same_values(a: Question, b: Question) -> bool:
    """Whether the same is expected of two questions, which is quicker to tell than how far answers may be off."""
    pairs = zip(values_of(a), values_of(b), strict=True)
    return all(x is y or (x is not None and y is not None and np.array_equal(x, y)) for x, y in pairs)


def _make_forward(request: Request, outputs: Sequence[Array]) -> Request:
    """The forward of the call whose gradients are asked for."""
    posed = request.posed.given(mode=Mode.FORWARD, cotangents=(), case=request.posed.case.apart)
    return replace(request, posed=posed, wanted=wanted_of(posed, outputs))


def rules_of(task: Task, support: Support) -> Rules:
    """By what an answer is judged: what the task asks for, and what the backend declares."""
    declared = support.declared
    return Rules(task.strict_subnormals, task.convention, declared.compute, declared.rounding, task.signed_zeros)


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
    support = host.support(op.called, "+".join(case.dtypes), mode, params, [shapes.get(n) for n in names])
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
    wanted = wanted_of(pair.case_data, pair.outputs)

    def forward(inputs: Sequence[Array | None]) -> list[Array | None]:
        return host.call(Request(pair.case_data.given(inputs=tuple(inputs)), wanted, threads=threads), timeout)

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
