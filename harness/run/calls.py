"""What a backend cannot know of the calls of a case: which is judged, and whether its data have come before."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from opproof.core import arrays
from opproof.core.arrays import Array
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.judge.chunks import judge_in_slices
from opproof.harness.judge.judgement import Judgement, Rules, judge
from opproof.harness.judge.outputs import Outputs
from opproof.harness.judge.periods import judge_repeated
from opproof.harness.reference.chunks.memory_budget import ChunkPlan
from opproof.harness.reference.chunks.question import LargeQuestionPair
from opproof.harness.reference.question import Question
from opproof.harness.run.cache.judgements import judge_or_recall
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
    leading: Sequence[Array | None],
    answer: Outputs,
    rules: Rules,
    on_end: Callable[[], Sequence[Sequence[Array | None]]],
) -> Judgement:
    """A judgement that nothing is wrong, of a question that was asked first too: NOT_REPEATABLE where it was kept.

    `on_end`: answers to the question with no other call between.
    """
    if not are_same_answers(leading, answer.arrays):
        changed = judge_unrepeatable(pair.case_data, [leading], on_end(), "before", rules, pair.room)
        return replace(judgement, verdict=changed.verdict, message=changed.message)
    if are_same_answers(leading, answer.before) and is_held(
        pair.decoy_data
    ):  # two questions with one answer: right for both, or kept
        other = by_reference(pair.decoy_data, Outputs(answer.before), rules, pair.room, pair.case_data)
        if other.verdict in WRONG:
            return replace(judgement, verdict=Verdict.NOT_REPEATABLE, message=STALE, stale=True)
    return judgement


def judge_unrepeatable(
    posed: Question,
    answers: Sequence[Sequence[Array | None]],
    on_end: Sequence[Sequence[Array | None]],
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
    pair: LargeQuestionPair,
    case_answers: Iterable[Sequence[Array | None]],
    decoy_answers: Iterable[Sequence[Array | None]],
    rules: Rules,
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


def has_differences(answers: Sequence[Sequence[Array | None]]) -> bool:
    """Whether bits of answers to one question are not the same."""
    return any(not are_same_answers(answers[0], one) for one in answers[1:])


def are_same_answers(first: Sequence[Array | None], second: Sequence[Array | None]) -> bool:
    """Whether two answers are the same, bit for bit."""
    return all(
        (a is None and b is None) or (a is not None and b is not None and arrays.has_same_bits(a, b))
        for a, b in zip(first, second, strict=True)
    )
