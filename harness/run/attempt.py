"""One task on one host: posed, asked three times, judged.

The calls: other data, the case's data, the other data again. The middle one is judged; the outer two must agree bit
for bit. Buffers of the one data end at a guard, those of the other begin at one; in an eighth of the cases the case's
data come first of all, in another they come once more where the other data have lain: a backend cannot tell which is
judged.

Of a wrong call the right one that it was made of comes first: who declines that is not asked for what is wrong with it,
and who dies of it has said nothing of the wrong one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
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
from opproof.harness.reference.chunks.question import Posing, make_fitting_question
from opproof.harness.reference.expected import values_of
from opproof.harness.reference.question import Question
from opproof.harness.reference.roundoff import COMPUTE_U
from opproof.harness.reference.wrong_call import make_wrong_call
from opproof.harness.run.calls import (
    ON_END,
    STALE,
    UNTOLD,
    Answered,
    are_same_answers,
    arrange_calls,
    by_reference,
    call_in_reused_memory,
    call_with_halves,
    find_dependent_rows,
    find_partial_key,
    find_stale_bits,
    find_unrepeated,
    find_wrong_answer,
    has_differences,
    is_held,
    judge_repeatability,
    judge_unrepeatable,
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
from opproof.harness.run.request import Request, Tensors, wanted_of
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
    asked = _AskedTask(host, task, op, timeout, posing, readable_guards, single_call)
    fault, started = None, time.perf_counter()
    host.impls = frozenset()
    try:
        with with_memory_limit(limit_of(host, task)):
            judgement = asked.judge()
    except EarlyVerdict as settled:
        judgement = Judgement(settled.verdict, settled.message)
    except HostFault as error:
        verdict, message = explain_limit(error, task, asked.needs, whole=asked.posed is not None)
        judgement, fault = Judgement(verdict, make_plain(message)), error
    except (Exception, SystemExit, GeneratorExit) as error:  # a reference's, or a fault of the judge itself
        within = isinstance(error, MemoryError) and limit_of(host, task) < sys.maxsize
        told = explain_outgrown(task.case, task.judge_memory, error) if within else _describe_error(error, op)
        judgement = Judgement(Verdict.HARNESS_ERROR, make_plain(told))
    judging = time.perf_counter() - started - asked.seconds
    of = asked.posed, asked.answer, fault, asked.rules
    return Attempt(judgement, *of, asked.seconds, judging, asked.declared, tuple(sorted(host.impls - {""})))


@dataclass(frozen=True)
class _Answers:
    """What came of the calls of a task with one number of threads."""

    request: Request
    decoy: Request
    answer: Outputs  # to the judged call, with those to the calls before it
    last: Tensors  # to the last call: of other data, unless the judged one is alone
    leading: Tensors | None  # to the judged question, where it was asked first of all
    by_halves: Sequence[Answered]  # to questions that share half of their elements with the judged one
    again: Tensors | None  # to the judged question, where other data have just lain in its memory


@dataclass
class _AskedTask:
    """A task and the host that is asked: what is known of its question and answer, and seconds in the backend."""

    host: Host
    task: Task
    op: Op
    timeout: float
    posing: Posing
    readable_guards: bool
    single_call: bool
    seconds: float = 0.0  # by the judge's clock
    needs: int = 0  # bytes of the tensors, or of the inputs while no more is known
    posed: Question | None = None
    answer: Outputs | None = None
    rules: Rules = field(default_factory=Rules)
    declared: str = ""
    varies: bool = False  # the bits of its answers, as is declared

    def judge(self) -> Judgement:
        """Pose the task, ask for its answers and judge them. Raises EarlyVerdict, HostFault, TooLarge."""
        self.case, self.mode = Case.parse(self.task.case), Mode(self.task.mode)
        if self.mode is Mode.REFUSAL:
            return self._judge_wrong_call()
        self._pose()
        if self.task.threads:
            return with_each(self.task.threads, self._judge_with, self.wanted)
        return self._judge_with(0)[0]

    def _judge_wrong_call(self) -> Judgement:
        """Judge whether a wrong call is refused. Raises as `judge`."""
        support_of(self.host, replace(self.case, wrong=""), self.op, Mode.FORWARD)
        memory, soft = self.task.judge_memory, self.readable_guards
        right, wrong = make_requests(self.case, self.op, memory, readable_guards=soft)
        started = time.perf_counter()
        try:
            return judge_refusal(self.host, right, wrong, self.timeout)
        finally:
            self.seconds += time.perf_counter() - started

    def _pose(self) -> None:
        """Draw the question, unless it is declined or has no room. Raises EarlyVerdict, TooLarge."""
        host, task, op, case, mode = self.host, self.task, self.op, self.case, self.mode
        self.needs = bytes_of_inputs(case, op)
        support = support_of(host, case, op, mode)
        plan = arrange_calls(task)
        copies = RESULT_COPIES + (0 if self.single_call else plan.leads + plan.stays)
        if host.shares_memory:
            check_fits(task, self.needs)
            check_foreseen(case, op, mode, task, copies=copies)
        check_free(case, task.judge_memory)
        self.pair = self.posing(case, op, mode, sys.maxsize if task.is_by_itself else task.judge_memory)
        self.posed, self.rules = self.pair.case_data, rules_of(task, support)
        self.declared, self.varies = str(support.declared), support.declared.bits is not None
        if mode is Mode.GRADIENT and not any(self.posed.needs):
            raise EarlyVerdict(Verdict.UNSUPPORTED, "no input of this operator has a gradient")
        if task.threads and not host.about.threads:
            raise EarlyVerdict(Verdict.UNSUPPORTED, UNTOLD)
        self.wanted = wanted_of(self.posed, self.pair.outputs)
        self.needs = bytes_of(Request(self.posed, self.wanted))
        if host.shares_memory:
            check_fits(task, self.needs)
        check_free(case, task.judge_memory, self.wanted, copies=copies)

    @property
    def is_same(self) -> bool:
        """Whether the same call is to give the same bits."""
        return self.op.deterministic and not self.varies

    def _judge_with(self, threads: int) -> tuple[Judgement, Outputs]:
        """Ask with a number of threads, 0 for that of the host, and judge the answers."""
        given = self._ask(threads)
        if not self.single_call and self.is_same and not are_same_answers(given.answer.before, given.last):
            of = self.pair.decoy_data, [given.answer.before, given.last], self._repeat(given.decoy)
            return judge_unrepeatable(*of, "after", self.rules, self.pair.room), given.answer
        self.answer = given.answer
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
        first = list[Request]()  # the forward of the call whose gradients are asked for
        if op.drawn_from and self.mode is Mode.GRADIENT:
            posed = pair.case_data.given(mode=Mode.FORWARD, cotangents=(), case=pair.case_data.case.apart)
            first = [replace(request, posed=posed, wanted=wanted_of(posed, pair.outputs))]
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
                self.seconds += time.perf_counter() - started
            yield answer

    def _call(self, question: Request) -> list[Array | None]:
        return next(self._generate_answers(question))

    def _repeat(self, question: Request) -> Sequence[Tensors]:
        """Ask a question many times on end, of a host that can be asked again."""
        return [] if self.host.about.once else on_end(self._call, question)

    def _compare(self, given: _Answers, threads: int) -> Judgement:
        """Judge the answer by itself, as the task says, or by the reference."""
        if self.task.is_by_itself:
            return judge_by_self(self._make_function(threads), self.pair.case_data, given.answer)
        return by_reference(self.pair.case_data, given.answer, self.rules, self.pair.room)

    def _check_repeatability(self, judgement: Judgement, given: _Answers) -> Judgement:
        """Make a judgement that nothing is wrong NOT_REPEATABLE where other calls show that the answer is not."""
        leading = given.leading
        if judgement.verdict is Verdict.PASS and leading is not None and self.is_same:
            repeated = partial(self._repeat, given.request)
            judgement = judge_repeatability(judgement, self.pair, leading, given.answer, self.rules, repeated)
        if judgement.verdict is not Verdict.PASS or not self.op.deterministic:
            return judgement
        changed = self._find_changed(given)
        return replace(judgement, verdict=Verdict.NOT_REPEATABLE, message=changed) if changed else judgement

    def _find_changed(self, given: _Answers) -> str:
        """Find what shows in further calls that an answer is kept or varies, in words; empty where nothing does."""
        request, decoy, arrays, repeat = given.request, given.decoy, given.answer.arrays, self.task.repeat
        if self.single_call:
            differs = self.is_same and has_differences(self._repeat(request))
            return f"the same call gave other bits {ON_END}" if differs else ""
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

    def _make_function(self, threads: int) -> Callable[[Tensors], list[Array | None]]:
        """The backend's outputs as a function of inputs, contiguous ones: moved, they have no equal slices to share."""
        case = replace(self.case.apart, layout="contiguous")
        pair = make_fitting_question(case, self.op, Mode.FORWARD, sys.maxsize)
        wanted = wanted_of(pair.case_data, pair.outputs)

        def forward(inputs: Tensors) -> list[Array | None]:
            given = pair.case_data.given(inputs=tuple(inputs))
            return self.host.call(Request(given, wanted, threads=threads), self.timeout)

        return forward


def _has_same_values(a: Question, b: Question) -> bool:
    """Whether the same is expected of two questions, which is quicker to tell than how far answers may be off."""
    pairs = zip(values_of(a), values_of(b), strict=True)
    return all(x is y or (x is not None and y is not None and np.array_equal(x, y)) for x, y in pairs)


def rules_of(task: Task, support: Support) -> Rules:
    """By what an answer is judged: what the task asks for, and what the backend declares."""
    declared = support.declared
    how = declared.compute, declared.rounding, task.signed_zeros, task.profile
    return Rules(task.strict_subnormals, task.convention, *how)


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


def _describe_error(error: BaseException, op: Op) -> str:
    """What went wrong on our side, with the function and the file."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"the reference of {op.name} needs {error.name}, which is not installed: pip install {error.name}"
    if isinstance(error, TooLarge):
        return str(error)
    if isinstance(error, OpError):  # what the reference does has no rule
        return f"the reference of {op.name}: {' '.join(str(error).split())}"
    frame, where = error.__traceback__, ""
    while frame is not None:
        code = frame.tb_frame.f_code
        where = f"{code.co_name} ({code.co_filename}:{frame.tb_lineno})"
        frame = frame.tb_next
    return f"{type(error).__name__} in {where}: {' '.join(str(error).split())}"


#: What an error of a backend comes as; all else is an answer, or harm.
_REFUSED = frozenset({Verdict.ERROR, Verdict.UNSUPPORTED, Verdict.OUT_OF_MEMORY})
#: What an answer comes as whose form is not that of the right call.
_ANSWERED = frozenset({Verdict.WRONG_SHAPE, Verdict.WRONG_DTYPE, Verdict.NOT_WRITTEN, Verdict.WRONG_VALUE})


def make_requests(case: Case, op: Op, memory: int, *, readable_guards: bool = False) -> tuple[Request, Request]:
    """The right call and the wrong one, whose results have memory as those of the right one."""
    pair = make_fitting_question(replace(case, wrong=""), op, Mode.FORWARD, memory)
    wanted = wanted_of(pair.case_data, pair.outputs)
    right = Request(pair.case_data, wanted, readable_guards=readable_guards)
    return right, replace(right, posed=make_wrong_call(pair.case_data, case.wrong), wrong=True)


def judge_refusal(host: Host, right: Request, wrong: Request, timeout: float) -> Judgement:
    """Judge the wrong call, after the right one. Raises EarlyVerdict, and HostFault where the process ends."""
    dtype = wrong.posed.case.dtype
    if dtype not in FLOATS and dtype not in host.about.dtypes:
        raise EarlyVerdict(Verdict.UNSUPPORTED, f"the backend does not declare the dtype {dtype}")
    try:
        host.call(right, timeout)
    except EarlyVerdict as settled:
        if settled.verdict is Verdict.UNSUPPORTED:
            raise
    except HostFault as fault:
        said = f"the right call, without what is wrong, ends so already: {fault.message}"
        raise HostFault(Verdict.INCONCLUSIVE, said) from None
    try:
        host.call(wrong, timeout)
    except EarlyVerdict as settled:
        if settled.verdict in _REFUSED:
            host.late()
            return Judgement(Verdict.PASS, f"refused: {settled.message}")
        if settled.verdict not in _ANSWERED:
            raise
        how = f": {settled.message}"
    else:
        how = ", in the form of the right call"
    return Judgement(Verdict.NOT_REFUSED, f"it was answered{how}")
