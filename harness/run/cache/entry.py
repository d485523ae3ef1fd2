"""What is kept of a question: judgements and diagnoses by the answer's bits, and its entry of the store as bytes.

A backend that answers as it did in an earlier run, bit for bit, is judged as it was then: a judgement that nothing is
wrong follows from these bits and the rules. Any other answer is judged anew; the verdict on a wrong one is given anew
in every run, and only how it looks is kept.

An entry has facts, data and answers: MessagePack in front, the elements of arrays behind it; nothing is ever executed.
An array that comes twice is written once, one of zeros takes no room, and float64 numbers that a smaller dtype holds as
well lie in that one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, TypeAlias, TypedDict, TypeVar

import msgspec
import numpy as np

from opproof.backends.worker.protocol import name_of
from opproof.cases import Case
from opproof.core.arrays import Array, bytes_of
from opproof.core.dtypes import DTYPES, Dtype
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.judge.array_statistics import ArrayStatistics
from opproof.harness.judge.judgement import Judgement, Rules
from opproof.harness.judge.outputs import Outputs
from opproof.harness.reference.chunks.question import LargeQuestionPair
from opproof.harness.reference.data import list_arguments
from opproof.harness.reference.kinks import EstimatedGradient, KinkIntervals, SlopeInterval
from opproof.harness.reference.question import Expected, Question, draw_other_case
from opproof.harness.run.cache.store import of_diagnoses
from opproof.reference_ops import Op
from opproof.reports import StandardVerdict, Ulp, Worst

#: Answers to one question that are kept, the last ones: of several backends, and of each when it has changed.
MAX_KEPT_ANSWERS = 8


@dataclass(frozen=True, slots=True)
class Passed:
    """What Judgement holds where nothing is wrong."""

    message: str
    units: float | None
    limit: float | None
    figures: ArrayStatistics
    share: float | None
    worst: Worst | None
    ulp: Ulp | None
    standard: StandardVerdict | None
    left_out: tuple[str, ...]


def judge_or_recall(
    posed: Question, answer: Outputs, rules: Rules, judge: Callable[[], Judgement], case_data: Question | None = None
) -> Judgement:
    """The judgement of the answer: that of the same answer before, or what `judge` says of it.

    `case_data`: the question of the case, with which what is said of this one, of other data, is kept.
    """
    data = () if case_data is None else (*posed.inputs, *posed.cotangents)
    key = key_of(answer, rules, before=bool(posed.op.drawn_from), data=data)
    passed = (case_data or posed).passed
    known = passed.get(key)
    if known is not None:
        return Judgement(
            Verdict.PASS, known.message, known.units, known.limit, known.figures,
            share=known.share, worst=known.worst, ulp=known.ulp, standard=known.standard, left_out=known.left_out,
        )  # fmt: skip
    judgement = judge()
    if judgement.verdict is Verdict.PASS:
        j = judgement
        of = j.message, j.units, j.limit, j.figures, j.share, j.worst, j.ulp, j.standard, j.left_out
        passed[key] = Passed(*of)
    return judgement


def key_of(answer: Outputs, rules: Rules, *, before: bool, data: Sequence[Array | None] = ()) -> bytes:
    """Of the bits of every array, their dtypes and shapes, and of how they are judged; with `before` also of what the
    answer is held against: that of the call before, and the other draws; `data`: those of another question.
    """
    parts = [answer.arrays, answer.before, answer.drawn] if before else [answer.arrays]
    parts += [data] if data else []
    told = [[None if a is None else (name_of(a.dtype), a.shape) for a in part] for part in parts]
    key = blake2b(repr((rules, told)).encode(), digest_size=32)
    for part in parts:
        for array in part:
            if array is not None:
                key.update(bytes_of(array).data)
    return key.digest()


@dataclass(frozen=True, slots=True)
class CachedDiagnosis:
    """What an error looks like, and what fits beside it."""

    label: str
    said: str
    also: tuple[tuple[str, str], ...]  # label and sentence of each


def explain_or_recall(
    posed: Question, answer: Outputs, rules: Rules | None, explain: Callable[[], CachedDiagnosis]
) -> CachedDiagnosis:
    """The diagnosis of a wrong answer: that of the same answer before, or what `explain` says of it."""
    key = of_diagnoses() + key_of(answer, Rules() if rules is None else rules, before=True)
    known: CachedDiagnosis | None = posed.told.get(key)
    if known is None:
        known = posed.told[key] = explain()
    return known


class CachedFacts(TypedDict, total=False):
    """What Posed.once knows of a question, by the first word of its name and by its name."""

    expected: dict[str, list[Expected | None]]
    vacuous: dict[str, str]
    kinked: dict[str, dict[int, KinkIntervals]]
    limits: dict[str, list[SlopeInterval]]
    differences: dict[str, list[EstimatedGradient | None]]
    reached: dict[str, list[tuple[Array, Array] | None]]


#: An array, by its number in the entry.
Numbered: TypeAlias = int | None


@dataclass(frozen=True)
class Data:
    """What was drawn for a question, and the dtypes and shapes of its outputs, as they are read."""

    asked: tuple[tuple[Numbered, ...], ...]  # inputs and cotangents
    other: tuple[tuple[Numbered, ...], ...]
    needs: tuple[bool, ...]
    outputs: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True)
class CacheEntry:
    """What the store holds of a question; no data of one whose data are drawn again."""

    facts: msgspec.Raw  # Facts, which nobody asks for where the answer is that of before;
    count: int  # so many
    data: Data | None
    passed: dict[bytes, Passed]
    told: dict[bytes, CachedDiagnosis]


#: Without arrays: nothing is read of these before it is asked for.
KEPT = msgspec.msgpack.Decoder(CacheEntry)


def facts_of(found: Packed, tree: msgspec.Raw) -> Mapping[str, Any]:
    """The facts that were kept, by name; none where they cannot be read."""
    try:
        by_kind: Mapping[str, Any] = found.read(CachedFacts, tree)
    except NotKept:
        return {}
    return {name: fact for facts in by_kind.values() for name, fact in facts.items()}


@dataclass(frozen=True)
class CachedAnswers:
    """What was said of answers to a question; it holds none of the question's data."""

    passed: dict[bytes, Any]
    told: dict[bytes, Any]

    @property
    def count(self) -> int:
        """How many."""
        return len(self.passed) + len(self.told)

    def last(self) -> dict[str, dict[bytes, Any]]:
        """Those that are kept, as the fields of an entry."""
        return {"passed": _take_last(self.passed), "told": _take_last(self.told)}


def answers_of(asked: Question) -> CachedAnswers:
    """Those to a question, which grow with it."""
    return CachedAnswers(asked.passed, asked.told)


def of_answers(answers: CachedAnswers) -> bytes:
    """An entry of what was said of answers, and of nothing else."""
    return encode({"count": 0, "facts": {}, "data": None, **answers.last()}, "f64")


def _take_last(answers: dict[bytes, Any]) -> dict[bytes, Any]:
    return dict([*answers.items()][-MAX_KEPT_ANSWERS:])


def of_question(pair: LargeQuestionPair, *, data: bool) -> bytes:
    """An entry of all that is known of a question, with its `data` where they are not to be drawn again.

    Raises NotKept.
    """
    asked, other = pair.case_data, pair.decoy_data
    asked.read()
    facts: dict[str, dict[str, Any]] = {}
    for name, fact in asked.facts.items():
        kind = name.partition(" ")[0]
        if kind not in CachedFacts.__annotations__:
            raise NotKept(f"the fact {name!r}")
        facts.setdefault(kind, {})[name] = fact
    drawn: dict[str, object] = {n: (q.inputs, q.cotangents) for n, q in (("asked", asked), ("other", other))}
    drawn |= {"needs": asked.needs, "outputs": [(y.dtype.name, y.shape) for y in pair.outputs]}
    whole = {"count": len(asked.facts), "facts": facts, "data": drawn if data else None, **answers_of(asked).last()}
    return encode(whole, asked.case.dtype)


def pair_of(found: Packed, data: Data, case: Case, op: Op, mode: Mode) -> LargeQuestionPair:
    """The question of these data. Raises NotKept and IndexError."""
    names = tuple(list_arguments(case, op))

    def question(of: Case, drawn: tuple[tuple[Numbered, ...], ...]) -> Question:
        inputs, cotangents = (tuple(None if n is None else found.array(n) for n in numbers) for numbers in drawn)
        return Question(of, op, mode, names, inputs, cotangents, data.needs)

    outputs = (np.broadcast_to(np.zeros((), dtype), shape) for dtype, shape in data.outputs)  # nobody sees the values
    return LargeQuestionPair(
        question(case, data.asked), question(draw_other_case(case, op), data.other), tuple(outputs)
    )


T = TypeVar("T")
#: Of one array: its dtype, that in which it lies here, its shape, where it begins, and how many bytes it takes.
_Described: TypeAlias = tuple[str, str, tuple[int, ...], int, int]

_DTYPES = {np.dtype(n).name: np.dtype(n) for n in ("bool", "int64", "float64")} | {
    np.dtype(d.numpy).name: np.dtype(d.numpy) for d in DTYPES.values()
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
#: Holds scales, of 8 digits, and many integers.
_SHORT = DTYPES["bf16"]
#: Arrays begin at a multiple of so many bytes.
_ALIGNED = 16
#: What reading bytes of something else raises.
_READ_ERRORS = (KeyError, IndexError, TypeError, ValueError, OverflowError, msgspec.DecodeError)
_FRONT = msgspec.msgpack.Decoder(tuple[list[_Described], msgspec.Raw])


class NotKept(Exception):
    """Something that has no form here, or bytes that are none of ours."""


def encode(value: object, dtype: str) -> bytes:
    """`value`, of records, lists, mappings and arrays, as bytes; `dtype` may hold some arrays. Raises NotKept."""
    described: list[_Described] = []
    chunks: list[bytes] = []
    seen: dict[int, int] = {}
    alive: list[Any] = []  # an id is that of one object as long as it lives
    end = 0

    def number(found: Any) -> int:
        """That of an array; of what NumPy makes of arrays without axes, too."""
        nonlocal end
        if not isinstance(found, np.ndarray | np.generic):
            raise NotKept(f"a {type(found).__name__}")
        if id(found) not in seen:
            seen[id(found)] = len(described)
            alive.append(found)
            stored, data = _pack_array(np.asarray(found), DTYPES[dtype])
            described.append((_NAMES[found.dtype], stored, found.shape, end, len(data)))
            chunks.append(data + bytes(-len(data) % _ALIGNED))
            end += len(chunks[-1])
        return seen[id(found)]

    with np.errstate(all="ignore"):
        try:
            tree = msgspec.msgpack.encode(value, enc_hook=number)
        except TypeError as error:
            raise NotKept(str(error)) from None
    front = msgspec.msgpack.encode((described, msgspec.Raw(tree)))
    head = len(front).to_bytes(8, "little") + front
    return b"".join([head, bytes(-len(head) % _ALIGNED), *chunks])


@dataclass(frozen=True)
class Packed:
    """Bytes that `encode` made, of which parts are read as they are asked for."""

    data: bytes
    described: list[_Described]
    tree: msgspec.Raw
    start: int  # of the first array
    arrays: dict[int, Array] = field(default_factory=dict)  # that were read, each once

    def read(self, kind: type[T], part: msgspec.Raw | None = None) -> T:
        """The value of this type, or of `part` of it, with its arrays, which are read-only. Raises NotKept."""
        try:
            tree = self.tree if part is None else part
            return msgspec.msgpack.decode(tree, type=kind, dec_hook=lambda _, number: self.array(number))
        except _READ_ERRORS as error:
            raise NotKept(str(error)) from None

    def array(self, number: int) -> Array:
        """That of a number; one that comes twice is one."""
        if number not in self.arrays:
            self.arrays[number] = _unpack_array(self.described[number], self.data, self.start)
        return self.arrays[number]


def parse_packed(data: bytes) -> Packed:
    """What `encode` made, to be read. Raises NotKept."""
    try:
        end = 8 + int.from_bytes(data[:8], "little")
        described, tree = _FRONT.decode(memoryview(data)[8:end])
        return Packed(data, described, tree, end + -end % _ALIGNED)
    except _READ_ERRORS as error:
        raise NotKept(str(error)) from None


def decode(data: bytes, kind: type[T]) -> T:
    """The whole value of this type that `encode` made bytes of. Raises NotKept."""
    return parse_packed(data).read(kind)


def _pack_array(value: Array, small: Dtype) -> tuple[str, bytes]:
    """The name of a dtype that holds the elements, and their bytes; none where all are zero."""
    if value.dtype not in _NAMES:
        raise NotKept(f"an array of {value.dtype}")
    plain = np.asarray(value, order="C")
    if plain.dtype != np.float64:
        data = plain.tobytes()
        return _NAMES[plain.dtype], data if data.strip(b"\0") else b""
    bits = int(np.bitwise_or.reduce(plain.reshape(-1).view(np.int64)))
    if not bits:
        return "float64", b""
    for dtype in (_SHORT, small):
        if dtype.digits < 53 and not bits & (2 ** (53 - dtype.digits) - 1):  # of no more digits, at least
            short = plain.astype(dtype.numpy)
            if short.astype(np.float64).tobytes() == plain.tobytes():
                return _NAMES[short.dtype], short.tobytes()
    return "float64", plain.tobytes()


def _unpack_array(described: _Described, data: bytes, start: int) -> Array:
    name, stored, shape, offset, size = described
    if not size:
        zeros: Array = np.zeros(shape, _DTYPES[name])
        return zeros
    lies, count = _DTYPES[stored], math.prod(shape)
    if size != count * lies.itemsize or offset < 0:
        raise NotKept("an array of another size")
    array: Array = np.frombuffer(data, lies, count, start + offset).reshape(shape)
    if name == stored:
        return array
    with np.errstate(all="ignore"):
        return array.astype(_DTYPES[name])
