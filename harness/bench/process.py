"""The process that times a backend, the judge's own clock beside it, and looks at what timed calls answer."""

from __future__ import annotations

import json
import math
import multiprocessing
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from opproof.backends.worker import serve
from opproof.backends.worker.protocol import BufferRef, dtype_of, name_of
from opproof.backends.worker.serve import from_metadata
from opproof.backends.worker.timing import ENDS, Block, SpotCheck, StoredArray, TimedCalls, main, plan_room
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
from opproof.harness.run.hosts.host import array_of, results_of
from opproof.harness.run.memory import poison
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


#: By how much the two clocks may differ, blocks being long: sending and refilling buffers are taken off before.
_APART = 1.5
#: Seconds of a block below which the pipe's own time says more than the calls'.
_MIN_BLOCK_SECONDS = 0.005


class Fault(Exception):
    """The backend cannot be timed; the text says why."""


class Worker:
    """A process that has loaded one backend."""

    def __init__(self, spec: str, timeout: float) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._timeout = timeout
        self._process = context.Process(target=main, args=(theirs, spec), daemon=True)
        self._process.start()
        theirs.close()
        self.ask(None)

    def ask(self, request: TimedCalls | Block | None) -> dict[str, Any]:
        """The answer to a request; None only waits for one. Raises Fault, after which the process is gone."""
        try:
            if request is not None:
                self._pipe.send(request)
            late = not self._pipe.poll(self._timeout)
            answer: dict[str, Any] = {} if late else json.loads(self._pipe.recv_bytes())
        except (EOFError, OSError, ValueError):
            self.close()
            raise Fault("its process died") from None
        if late or "error" in answer:
            self.close()
            raise Fault(str(answer.get("error", f"no answer within {self._timeout:g} s")))
        return answer

    def run_spot_check(self, block: Block, size: int) -> tuple[dict[str, Any], bytes]:
        """The answer to a block with a look, and the `size` bytes of the results. Raises Fault, as `ask` does."""
        told = self.ask(block)
        try:
            if self._pipe.poll(self._timeout):
                results = self._pipe.recv_bytes(size)
                if len(results) == size:
                    return told, results
        except (EOFError, OSError):
            pass
        self.close()
        raise Fault("its process did not tell what a timed call answered")

    @property
    def pid(self) -> str:
        return str(self._process.pid)

    @property
    def alive(self) -> bool:
        """Whether it can be asked again."""
        return not self._pipe.closed

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._pipe.close()


@dataclass(frozen=True)
class Clocks:
    """A block by two clocks, in seconds. Without what it waited for a core a block takes `least` by ours."""

    told: float  # by the clock in its process
    least: float
    most: float


@dataclass
class Blocks:
    """A timer of blocks in a worker, that looks at the judge's clock as well, and at answers where it is asked to."""

    worker: Worker
    cold: bool
    unseen: Unseen | None = None
    answers: SpotCheckAnswers = field(default_factory=SpotCheckAnswers)
    overhead: float = 0.0
    seen: list[Clocks] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.overhead = min(self._asked(0).most for _ in range(3))

    def __call__(self, calls: int) -> float:
        """See Timer."""
        clocks = self._asked(calls)
        self.seen.append(clocks)
        return clocks.told

    def look(self, calls: int) -> None:
        """A block, of two calls at least, whose last one's answer comes back. Its time counts nowhere."""
        if self.unseen is None:
            return
        look = self.unseen.looks[self.answers.looks % 2]
        told, results = self.worker.run_spot_check(Block(max(2, calls), self.cold, look), self.unseen.size)
        try:
            answer = from_metadata(told["answer"])
        except (LookupError, TypeError, ValueError, AttributeError):
            self.worker.close()
            raise Fault("its process did not tell what a timed call answered") from None
        self.answers.add(answer, results)

    @property
    def objection(self) -> str:
        """Why its clock is not to be believed; empty where it is. Evictions are in ours alone, so cold ones are not."""
        return "" if self.cold else find_disagreement(self.seen)

    def _asked(self, calls: int) -> Clocks:
        pids = ("self", self.worker.pid)
        before, started = sum(map(measure_waiting, pids)), time.perf_counter()
        told = self._seconds(self.worker.ask(Block(calls, self.cold)))
        spent = time.perf_counter() - started
        return Clocks(told, max(spent - (sum(map(measure_waiting, pids)) - before) - self.overhead, 0.0), spent)

    def _seconds(self, answer: dict[str, Any]) -> float:
        """What its process says that a block took. Raises Fault for what is no number, after which it is gone."""
        ns = answer.get("ns")
        if isinstance(ns, bool) or not isinstance(ns, int) or ns < 0:
            self.worker.close()
            raise Fault(f"its process answers {str(answer)[:100]!r}: expected the nanoseconds of a block")
        return ns / 1e9


def measure_waiting(pid: str) -> float:
    """Seconds for which a process was ready and had no core, by the kernel; 0 where it does not say."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def find_disagreement(blocks: Sequence[Clocks]) -> str:
    """What is wrong with the clock of some blocks; empty where it agrees with ours in a quarter of them.

    Other processes delay some answers. A clock that tells another median is wrong in most blocks.
    """
    long = [b for b in blocks if max(b.told, b.least) > _MIN_BLOCK_SECONDS]
    wrong = [b for b in long if b.least > _APART * b.told or b.told > _APART * b.most]
    if len(long) < 2 or 4 * len(wrong) < 3 * len(long):
        return ""
    one = wrong[len(wrong) // 2]
    return f"the clock in its process says {one.told:.3g} s of a block that took {one.least:.3g} s by the judge's"
