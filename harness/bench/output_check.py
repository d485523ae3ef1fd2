"""Looks at what timed calls answer: values that no block had, and the judgement of what came."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from random import Random

import numpy as np

from opproof.backends.worker import serve
from opproof.backends.worker.protocol import BufferRef, dtype_of, name_of
from opproof.backends.worker.timing import ENDS, SpotCheck, StoredArray, TimedCalls, plan_room
from opproof.cases import Case
from opproof.cases._layouts import cotangent_layout, layouts_of, storage_of
from opproof.core.arrays import Array
from opproof.core.text import make_plain
from opproof.core.verdicts import WRONG, Mode, Verdict
from opproof.harness.judge.judgement import Judgement, Rules
from opproof.harness.judge.outputs import EarlyVerdict, Outputs
from opproof.harness.reference.chunks.memory_budget import DEFAULT_MEMORY_BYTES, ChunkPlan
from opproof.harness.reference.chunks.question import LargeQuestionPair, make_fitting_question
from opproof.harness.reference.data import to_dtype
from opproof.harness.reference.question import Question
from opproof.harness.reference.roundoff import ignore_fp_warnings
from opproof.harness.run.calls import by_reference
from opproof.harness.run.hosts.output_check import array_of, results_of
from opproof.harness.run.memory.buffer import poison
from opproof.harness.run.request import Request, Returned, Wanted, wanted_of
from opproof.reference_ops import Op
from opproof.reports._text import number

#: Seeds of the values are below.
_SEEDS = 2**31
#: What is held against an answer. Other verdicts are none: of other values a trivial answer may be right, for instance.
_FAULTS = WRONG | {Verdict.NOT_WRITTEN, Verdict.WRONG_SHAPE, Verdict.WRONG_DTYPE, Verdict.ERROR}


@dataclass(frozen=True)
class Unseen:
    """The call of a case with values of a seed that nobody could know: no block has them, looks do."""

    question: Request
    room: ChunkPlan | None
    looks: tuple[
        SpotCheck, SpotCheck
    ]  # after calls with the same values in other places, which come first, and with others
    places: Sequence[BufferRef | None]  # of results, as they come back,
    size: int  # in so many bytes

    @property
    def case(self) -> Case:
        """Whose values they are."""
        return self.question.posed.case


def draw_unseen(case: Case, op: Op, mode: Mode, chance: Random, memory: int = DEFAULT_MEMORY_BYTES) -> Unseen | None:
    """Draw such values; judging takes `memory` bytes. None where an answer says nothing without another: gradients of
    what is drawn. Raises TooLarge.
    """
    if op.drawn_from and mode is Mode.GRADIENT:
        return None
    pair = make_fitting_question(case.with_seed(chance.randrange(1, _SEEDS)), op, mode, memory)
    wanted = wanted_of(pair.case_data, pair.outputs)
    values = inputs_of(pair.case_data), cotangents_of(pair.case_data)
    look = SpotCheck(*values, [None if w is None else _poison_of(w) for w in wanted])
    near = replace(look, moved=[_by(s, op, chance) for group in values for s in group if s is not None])
    places, size = plan_room([None if w is None else (name_of(w.dtype), w.shape) for w in wanted])
    return Unseen(Request(pair.case_data, wanted), pair.room, (near, look), places, size)


def _by(stored: StoredArray, op: Op, chance: Random) -> int:
    """By how many elements its values can be moved: 0 where they may be of use in their places alone."""
    dtype, between = dtype_of(stored.dtype), math.prod(stored.shape) - 2 * ENDS
    dense = len(stored.storage) == math.prod(stored.shape) * dtype.itemsize
    if op.domain is not None or not dense or dtype.kind in "iub" or between < ENDS:
        return 0
    return chance.randrange(1, between)


def _poison_of(wanted: Wanted) -> bytes:
    word = np.empty(wanted.dtype.itemsize, np.uint8)
    poison(word, wanted.dtype)
    return word.tobytes()


@dataclass
class SpotCheckAnswers:
    """What looks at one backend found: how many there were, and the answers that differ, the last one first."""

    looks: int = 0
    kept: dict[bytes, tuple[serve.WireReply, bytes]] = field(default_factory=dict)

    def add(self, answer: serve.WireReply, results: bytes) -> None:
        """One look more. `results` are as `plan_room` has their places."""
        self.looks += 1
        key = blake2b(repr(answer).encode() + results, digest_size=32).digest()
        self.kept = {key: self.kept.pop(key, (answer, results)), **self.kept}


def find_fault(answers: SpotCheckAnswers, asked: Unseen, rules: Rules, again: Callable[[Case], Verdict]) -> str:
    """What is wrong with an answer of a timed call, in words; empty where nothing is with any.

    Asked `again`, in a process that times nothing, the case has a verdict that tells a wrong formula from an answer
    that is kept, or never was computed.
    """
    for answer, results in answers.kept.values():
        try:
            judgement = _judge_answer(answer, results, asked, rules)
        except EarlyVerdict as settled:
            judgement = Judgement(settled.verdict, settled.message)
        if judgement.verdict in _FAULTS:
            words = f"the answer of a timed call is {judgement.verdict}: {_describe_judgement(judgement).rstrip('.')}"
            return f"{words}; {asked.case} is {again(asked.case)} when it is not timed"
    return ""


def _judge_answer(answer: serve.WireReply, results: bytes, asked: Unseen, rules: Rules) -> Judgement:
    """As `opproof run` judges an answer. Raises Settled."""
    if answer.outcome is not serve.CallOutcome.DONE:
        raise EarlyVerdict(Verdict.ERROR, make_plain(answer.message))
    memory = np.frombuffer(results, np.uint8)
    returned: list[Returned | None] = []
    for i, described in enumerate(answer.results):
        place = asked.places[i] if i < len(asked.places) else None
        if described is None:
            returned.append(None)
            continue
        array = None
        if place is not None and described.shape == place.shape:
            array = array_of(described, memory[place.offset :])
        returned.append(Returned(described.shape, make_plain(described.dtype), array))
    arrays = results_of(returned, asked.question, writes=True)
    with ignore_fp_warnings():
        return by_reference(asked.question.posed, Outputs(arrays), rules, asked.room)


def _describe_judgement(judgement: Judgement) -> str:
    worst = judgement.worst
    if judgement.message or worst is None:
        return judgement.message or "another answer than expected"
    at = f" at {list(worst.index)}" if worst.index else ""
    return f"{worst.tensor}{at} is {number(worst.got, 6)}, expected {number(worst.expected, 6)}"


def calls_of(pair: LargeQuestionPair, wanted: Sequence[Wanted | None]) -> TimedCalls:
    """The call with both sets of values, and the results to make room for."""
    asked = pair.case_data
    return TimedCalls(
        op=asked.op.called,
        params=dict(asked.params),
        gradient=asked.mode is Mode.GRADIENT,
        inputs=(inputs_of(asked), inputs_of(pair.decoy_data)),
        cotangents=(cotangents_of(asked), cotangents_of(pair.decoy_data)),
        results=[None if w is None else (name_of(w.dtype), w.shape) for w in wanted],
        needs=list(asked.needs),
    )


def inputs_of(posed: Question) -> list[StoredArray | None]:
    """Inputs in their dtypes, laid out as the case says."""
    layouts = layouts_of(posed.case)
    pairs = zip(posed.names, posed.inputs, strict=True)
    return [None if n is None or v is None else _store_array(v, posed.case.dtype_of(n), layouts[n]) for n, v in pairs]


def cotangents_of(posed: Question) -> list[StoredArray | None]:
    """Cotangents, likewise."""
    layout = cotangent_layout(posed.case)
    return [None if g is None else _store_array(g, posed.case.dtype, layout) for g in posed.cotangents]


def _store_array(values: Array, dtype: str, layout: str) -> StoredArray:
    native = to_dtype(values, dtype)
    storage, item = storage_of(native.shape, layout), native.dtype.itemsize
    memory = np.zeros(storage.size * item, np.uint8)
    strides, offset = tuple(s * item for s in storage.strides), storage.offset * item
    np.ndarray(native.shape, native.dtype, memory.data, offset, strides)[...] = native
    return StoredArray(memory.tobytes(), name_of(native.dtype), native.shape, strides, offset)
