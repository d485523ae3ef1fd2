"""What a backend cannot know of the calls of a case, and whether a right answer is the same bits again.

Which call is judged, and whether its data have come before; repeated, of some rows alone, with other halves, with more
threads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from opproof.cases._layouts import layouts_of
from opproof.core import arrays
from opproof.core.arrays import Array, has_same_bits
from opproof.core.verdicts import FAILED, WRONG, Mode, Verdict
from opproof.harness.judge.chunks import judge_in_slices
from opproof.harness.judge.judgement import Judgement, Rules, judge
from opproof.harness.judge.outputs import EarlyVerdict, Outputs
from opproof.harness.judge.periods import judge_repeated
from opproof.harness.reference.axes import Axis, axes_of
from opproof.harness.reference.chunks.memory_budget import ChunkPlan
from opproof.harness.reference.chunks.question import LargeQuestionPair
from opproof.harness.reference.question import Question, name_outputs
from opproof.harness.run.cache.entry import judge_or_recall
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.request import Request, Tensors, Wanted
from opproof.harness.run.task import Task

#: When the same call differs that has kept nothing of other data.
ON_END = "with no other call between"
STALE = "the answer is that of the call before, which had other data"


#: By how much fewer noisy runs are tried at once where there was no memory for them.
_FEWER = 4


@dataclass(frozen=True)
class Arranged:
    """How the calls of a case are made."""

    at_end: bool  # the judged call's buffers end at a guard, those of the other data begin at one; else the reverse
    leads: bool  # the judged call is made before the other data too
    stays: bool  # it is made again where the other data have just lain in its memory
    late: bool  # and with half of its elements, the odd ones and the last ones, else the others


def arrange_calls(task: Task) -> Arranged:
    """Of the case and the mode alone, so that a run repeated makes the same calls; two halves, two eighths of them."""
    (drawn,) = hashlib.blake2b(f"{task.mode} {task.case}".encode(), digest_size=1).digest()
    return Arranged(drawn % 2 == 0, drawn // 2 % 8 == 0, drawn // 16 % 8 == 0, drawn // 128 == 1)


def judge_repeatability(
    judgement: Judgement,
    pair: LargeQuestionPair,
    leading: Tensors,
    answer: Outputs,
    rules: Rules,
    on_end: Callable[[], Sequence[Tensors]],
) -> Judgement:
    """A judgement that nothing is wrong, of a question that was asked first too: NOT_REPEATABLE where it was kept.

    `on_end`: answers to the question with no other call between.
    """
    if not are_same_answers(leading, answer.arrays):
        changed = judge_unrepeatable(pair.case_data, [leading], on_end(), "before", rules, pair.room)
        return replace(judgement, verdict=changed.verdict, message=changed.message)
    # Two questions with one answer: it is right for both, or kept.
    if are_same_answers(leading, answer.before) and is_held(pair.decoy_data):
        other = by_reference(pair.decoy_data, Outputs(answer.before), rules, pair.room, pair.case_data)
        if other.verdict in WRONG:
            return replace(judgement, verdict=Verdict.NOT_REPEATABLE, message=STALE, stale=True)
    return judgement


def judge_unrepeatable(
    posed: Question,
    answers: Sequence[Tensors],
    on_end: Sequence[Tensors],
    when: str,
    rules: Rules,
    room: ChunkPlan | None,
) -> Judgement:
    """The judgement of answers to one question that differ in bits, asked before or after a call with other data.

    `on_end`: answers with no other call between; where they differ, the other data are not the cause.
    """
    said = f"the same call gave other bits {ON_END if has_differences(on_end) else f'{when} a call with other data'}"
    right = (by_reference(posed, Outputs(some), rules, room).verdict is Verdict.PASS for some in (*answers, *on_end))
    if all(right):
        said += '; each answer is right: where the order of its sums is left open, declare it (bits -> "vary")'
    return Judgement(Verdict.NOT_REPEATABLE, said)


def find_wrong_answer(
    pair: LargeQuestionPair, case_answers: Iterable[Tensors], decoy_answers: Iterable[Tensors], rules: Rules
) -> str:
    """Which of several answers to the two questions is wrong, in words; empty where all are right: bits may vary."""
    if not is_held(pair.case_data):
        return ""
    for posed, answers in ((pair.case_data, case_answers), (pair.decoy_data, decoy_answers)):
        for some in answers:
            judgement = by_reference(posed, Outputs(some), rules, pair.room)
            if judgement.verdict in WRONG:
                units = "" if judgement.units is None else f": {judgement.units:.3g} units of {judgement.limit:.3g}"
                return f"its bits may vary, as declared, but the same call gave a wrong answer another time{units}"
    return ""


def is_held(posed: Question) -> bool:
    """Whether an answer is held against the question alone, not against what another call drew."""
    return posed.mode is Mode.FORWARD or not posed.op.drawn_from


def by_reference(
    posed: Question, answer: Outputs, rules: Rules, room: ChunkPlan | None, case_data: Question | None = None
) -> Judgement:
    """The verdict of the reference: of the whole, or of slices as memory allows. `case_data`: of the case."""

    def anew() -> Judgement:
        if posed.period is not None:  # of data that repeat one period is evaluated
            return _judge_with_fewer_runs(
                posed.period, lambda q: judge_repeated(replace(posed, period=q), answer, rules, held=room is None)
            )
        if room is not None:
            return judge_in_slices(posed, answer, rules, room)
        return _judge_with_fewer_runs(posed, lambda q: judge(q, answer, rules))

    return judge_or_recall(posed, answer, rules, anew, case_data)


def _judge_with_fewer_runs(asked: Question, judge_by: Callable[[Question], Judgement]) -> Judgement:
    """The judgement; where memory does not suffice, with fewer noisy runs at once, and at last with one.

    What is in between inputs and results, patches of an image for instance, no estimate knows beforehand.
    """
    while True:
        try:
            return judge_by(asked)
        except MemoryError:
            if asked.together == 1:
                raise
        asked = asked.given(together=max(1, min(asked.together, asked.runs) // _FEWER))


def has_differences(answers: Sequence[Tensors]) -> bool:
    """Whether bits of answers to one question are not the same."""
    return any(not are_same_answers(answers[0], one) for one in answers[1:])


def are_same_answers(first: Tensors, second: Tensors) -> bool:
    """Whether two answers are the same, bit for bit."""
    return all(
        (a is None and b is None) or (a is not None and b is not None and arrays.has_same_bits(a, b))
        for a, b in zip(first, second, strict=True)
    )


#: Calls on end: where one in five gives other bits, sixteen are alike in 3 of 100 series.
_ON_END = 17
Call = Callable[[Request], Tensors]


@dataclass(frozen=True)
class RequestOfRows:
    """The question of some slices along one axis, and which of those of the judged call they are."""

    request: Request
    axis: Axis
    words: str
    chosen: Array
    names: tuple[str | None, ...]  # of the results; None where all slices share one

    def take(self, x: Array | None, name: str | None, *, judged: bool) -> Array | None:
        """What the judged answer, or the answer to this question, has for the slices that both hold."""
        if x is None or name is None:
            return None
        both = self.chosen < self.axis.extent
        return x.take(self.chosen[both] if judged else np.flatnonzero(both), axis=self.axis.of[name])


def find_unrepeated(call: Call, request: Request, decoy: Request, answer: Tensors, repeat: int) -> str:
    """Which of `repeat` calls, with calls of other data between, gave other bits, in words; empty where none did."""
    for k in range(2, repeat + 1):
        call(decoy)
        if where := describe_difference(answer, call(request), request.wanted):
            return f"call {k} of {repeat} gave other bits than the first: {where}"
    return ""


def call_in_reused_memory(call: Call, request: Request, decoy: Request) -> Tensors:
    """The answer once more, where other data have just lain in its memory, and their results in that of its own.

    What is kept of a tensor by its address, weights that were packed, is then that of the other data, and who looks
    whether results are poisoned, or pages beside tensors closed, sees what a program's memory holds.
    """
    call(replace(decoy, at_end=request.at_end))
    return call(replace(request, as_left=True).with_soft_guards())


def find_stale_bits(call: Call, request: Request, decoy: Request, answer: Tensors, again: Tensors | None) -> str:
    """Which bits were others where other data had lain in the memory of the call, in words; empty where none were.

    That this is the cause is said where it has the same effect once more, and the call alone gives the same bits.
    """
    where = "" if again is None else describe_difference(answer, again, request.wanted)
    if not where or again is None:
        return ""
    if has_differences([again, call_in_reused_memory(call, request, decoy)]) or has_differences(on_end(call, request)):
        return f"the same call gave other bits {ON_END}: {where}"
    why = "as of what is kept by address, or where no memory is poisoned or closed"
    return f"other bits where other data had lain in its memory, {why}: {where}"


def on_end(call: Call, request: Request) -> Sequence[Tensors]:
    """Answers to one question with no other call between: where they differ, nothing that was kept is to blame.

    Those that are alike are one: a large answer is held as often as it differs.
    """
    call(request)  # it may have what a call before it left
    answers: list[Tensors] = []
    for _ in range(_ON_END - 1):
        answer = call(request)
        answers.append(next((one for one in answers if not has_differences([one, answer])), answer))
    return answers


def find_dependent_rows(call: Call, request: Request, decoy: Request, answer: Tensors, company: Sequence[str]) -> str:
    """Which rows give other bits in other company, in words; empty where none do."""
    for some in iterate_companies(request, decoy, company):
        got = call(some.request)
        whole = [some.take(a, n, judged=True) for a, n in zip(answer, some.names, strict=True)]
        again = [some.take(g, n, judged=False) for g, n in zip(got, some.names, strict=True)]
        if where := describe_difference(whole, again, some.request.wanted):
            return f"{some.words}, give other bits than among all: {where}"
    return ""


def iterate_companies(request: Request, decoy: Request, company: Sequence[str]) -> Iterator[RequestOfRows]:
    """Questions of the judged rows in other company, along every axis whose slices are independent."""
    posed = request.posed
    for axis in axes_of(posed.case, posed.op):
        if posed.op.independent is None and -1 in axis.of.values():
            continue  # single elements are beside others in their row as well
        if all(axis.count_sharing(n, shape) in (1, axis.extent) for n, shape in posed.case.shapes.items()):
            along = ", ".join(f"axis {at} of {name}" for name, at in axis.of.items() if name in posed.case.shapes)
            known = [c for c in company if c != "padding" or _SHARED not in layouts_of(posed.case).values()]
            for words, chosen in _list_companies(axis.extent, along, known):
                yield _make_request_of(request, decoy, axis, words, chosen)


def _list_companies(n: int, along: str, company: Sequence[str]) -> Iterator[tuple[str, Array]]:
    """Slices in another company: in words, and their numbers, which from `n` on are those of other data."""
    every, alone = np.arange(n), "evaluated without the others"
    if "batch" in company:
        yield f"slice {n // 2} along {along}, {alone}", every[n // 2 : n // 2 + 1]
        yield f"slices 1 to {n - 1} along {along}, {alone}", every[1:]
    if "chunk" in company:
        yield f"slices 0 to {n // 2 - 1} along {along}, {alone}", every[: n // 2]
        yield f"slices {n // 2} to {n - 1} along {along}, {alone}", every[n // 2 :]
    if "order" in company:
        yield f"slices along {along}, in reverse order", every[::-1]
    if "padding" in company:
        yield f"slices along {along}, followed by as many of other data", np.arange(2 * n)


def _make_request_of(request: Request, decoy: Request, axis: Axis, words: str, chosen: Array) -> RequestOfRows:
    posed, other = request.posed, decoy.posed

    def has(name: str | None, shape: Sequence[int]) -> bool:
        return name is not None and axis.count_sharing(name, tuple(shape)) < axis.extent

    def taken(name: str | None, x: Array | None, y: Array | None) -> Array | None:
        if name is None or x is None or y is None or not has(name, x.shape):
            return x
        return np.concatenate([x, y], axis=axis.of[name]).take(chosen, axis=axis.of[name])

    outputs = name_outputs(posed.op, len(posed.cotangents) or len(request.wanted))
    inputs = tuple(map(taken, posed.names, posed.inputs, other.inputs))
    cotangents = tuple(map(taken, outputs, posed.cotangents, other.cotangents))
    shapes = {n: x.shape for n, x in zip(posed.names, inputs, strict=True) if n is not None and x is not None}
    case = replace(posed.case, tensors=tuple((name, shapes[name]) for name, _ in posed.case.tensors))
    names = outputs if posed.mode is Mode.FORWARD else posed.names
    wanted = []
    for name, want in zip(names, request.wanted, strict=True):
        shape = [] if want is None else [*want.shape]
        if name is not None and has(name, shape):
            shape[axis.of[name]] = len(chosen)
        wanted.append(want and replace(want, shape=tuple(shape)))
    few = replace(request, posed=posed.given(case=case, inputs=inputs, cotangents=cotangents), wanted=tuple(wanted))
    known = (n if w is not None and has(n, w.shape) else None for n, w in zip(names, request.wanted, strict=True))
    return RequestOfRows(few, axis, words, chosen, tuple(known))


def describe_difference(first: Tensors, second: Tensors, wanted: Sequence[Wanted | None]) -> str:
    """The first element whose bits differ, in words; empty where none do."""
    for a, b, want in zip(first, second, wanted, strict=True):
        if a is None or b is None or want is None or has_same_bits(a, b):
            continue
        words = np.dtype(f"u{a.dtype.itemsize}")
        unlike = np.ascontiguousarray(a).view(words) != np.ascontiguousarray(b).view(words)
        index = tuple(int(i) for i in np.argwhere(unlike.reshape(a.shape))[0])
        return f"{want.name} at {list(index)} is {b[index]}, not {a[index]}"
    return ""


#: Elements of a tensor that lies so are one place in memory, which holds one number.
_SHARED = "broadcast"
Answered = tuple[Request, Tensors]


def call_with_halves(
    call: Callable[[Request], Tensors], request: Request, decoy: Request, *, late: bool
) -> list[Answered]:
    """The questions that share half of every tensor with `request`, and their answers.

    A backend that cannot take such data, a matrix that is no longer what it has to be, has said nothing.
    """
    answered = []
    for question in make_halves(request, decoy, late=late):
        try:
            answered.append((question, call(question)))
        except EarlyVerdict:
            continue
    return answered


def make_halves(request: Request, decoy: Request, *, late: bool) -> Iterator[Request]:
    """Questions with every second element of a float tensor from `request`, or one end; the rest is `decoy`'s.

    `late`: it is the odd elements, and the end.
    """
    posed = request.posed
    layouts = layouts_of(posed.case)
    pairs = list(zip(posed.names, posed.inputs, decoy.posed.inputs, strict=True))
    shared = {id(x) for name, x, _ in pairs if name is not None and layouts[name] == _SHARED}  # and who is it again
    for alternate in (True, False):
        mixed: dict[int, Array] = {}  # one array given twice stays one
        for name, x, y in pairs:
            if x is None or y is None or name is None or id(x) in shared:
                continue
            if x.dtype.kind == "f" and x.shape == y.shape and x.size > 1:
                at = np.arange(x.size).reshape(x.shape)
                own = (at % 2 if alternate else at >= x.size // 2) == late
                mixed[id(x)] = np.where(own, x, y)
        if mixed:
            inputs = tuple(x if x is None else mixed.get(id(x), x) for _, x, _ in pairs)
            yield replace(request, posed=posed.given(inputs=inputs))


def find_partial_key(answered: Sequence[Answered], answer: Tensors, wrong: Callable[[Answered], bool]) -> str:
    """That an answer to a question of other data is the judged one and is `wrong`, in words; empty where none is."""
    for one in answered:
        if are_same_answers(one[1], answer) and wrong(one):
            return "the answer stays where half of the elements are others: it is kept by the rest"
    return ""


#: What a host declines with where its backend cannot be told.
UNTOLD = "the backend cannot be told how many threads to use: it has no set_threads"


def with_each(
    counts: Sequence[int], judged: Callable[[int], tuple[Judgement, Outputs]], wanted: Sequence[Wanted | None]
) -> Judgement:
    """The first judgement that is no PASS, which names its number of threads; else that of the first number.

    Sums that are taken apart have other bits with other numbers of threads: that passes within the bound, and is
    told. Raises Settled and HostFault, which name the number too.
    """
    passed: tuple[Judgement, Tensors] | None = None
    for count in counts:
        try:
            judgement, answer = judged(count)
        except EarlyVerdict as settled:
            raise EarlyVerdict(settled.verdict, _name_threads(settled.verdict, count, settled.message)) from None
        except HostFault as fault:
            message = _name_threads(fault.verdict, count, fault.message)
            raise HostFault(fault.verdict, message, guard=fault.guard) from None
        if judgement.verdict is not Verdict.PASS:
            return replace(judgement, message=_name_threads(judgement.verdict, count, judgement.message))
        if passed is None:
            passed = judgement, answer.arrays
        elif where := describe_difference(passed[1], answer.arrays, wanted):
            told = f"other bits with {_count_threads(count)} than with {counts[0]}, within the bound: {where}"
            first = passed[0]
            passed = replace(first, message="; ".join(filter(None, (first.message, told)))), passed[1]
    assert passed is not None
    return passed[0]


def _name_threads(verdict: Verdict, count: int, message: str) -> str:
    return f"with {_count_threads(count)}: {message}" if verdict in FAILED else message


def _count_threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"
