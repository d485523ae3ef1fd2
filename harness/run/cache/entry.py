"""What the store holds of a question: its facts, its data, and answers to it that pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypedDict

import msgspec
import numpy as np

from opproof.cases import Case
from opproof.core.arrays import Array
from opproof.core.verdicts import Mode
from opproof.harness.reference.chunks.question import Pair
from opproof.harness.reference.data import arguments
from opproof.harness.reference.expected import Expected
from opproof.harness.reference.finite_differences import Estimated
from opproof.harness.reference.kinks import Kinked, Limits
from opproof.harness.reference.question import Posed, redrawn
from opproof.harness.run.cache.arrays import NotKept, Packed, encoded
from opproof.harness.run.cache.judged import MOST, Passed
from opproof.harness.run.cache.told import Told
from opproof.reference_ops import Op


class Facts(TypedDict, total=False):
    """What Posed.once knows of a question, by the first word of its name and by its name."""

    expected: dict[str, list[Expected | None]]
    vacuous: dict[str, str]
    kinked: dict[str, dict[int, Kinked]]
    limits: dict[str, list[Limits]]
    differences: dict[str, list[Estimated | None]]
    reached: dict[str, list[tuple[Array, Array] | None]]


#: An array, by its number in the entry.
Numbered: TypeAlias = int | None


@dataclass(frozen=True)
class Data:
    """What was drawn for a question, and the dtypes and shapes of its outputs, as they are read."""

    inputs: tuple[Numbered, ...]
    other_inputs: tuple[Numbered, ...]
    cotangents: tuple[Numbered, ...]
    other_cotangents: tuple[Numbered, ...]
    needs: tuple[bool, ...]
    outputs: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True)
class Kept:
    """What the store holds of a question; no data of one whose data are drawn again."""

    facts: msgspec.Raw  # Facts, which nobody asks for where the answer is that of before;
    count: int  # so many
    data: Data | None
    passed: dict[bytes, Passed]
    told: dict[bytes, Told]


#: Without arrays: nothing is read of these before it is asked for.
KEPT = msgspec.msgpack.Decoder(Kept)


def facts_of(found: Packed, tree: msgspec.Raw) -> Mapping[str, Any]:
    """The facts that were kept, by name; none where they cannot be read."""
    try:
        by_kind: Mapping[str, Any] = found.read(Facts, tree)
    except NotKept:
        return {}
    return {name: fact for facts in by_kind.values() for name, fact in facts.items()}


@dataclass(frozen=True)
class Answers:
    """What was said of answers to a question; it holds none of the question's data."""

    passed: dict[bytes, Any]
    told: dict[bytes, Any]

    @property
    def count(self) -> int:
        """How many."""
        return len(self.passed) + len(self.told)

    def last(self) -> dict[str, dict[bytes, Any]]:
        """Those that are kept, as the fields of an entry."""
        return {"passed": _last(self.passed), "told": _last(self.told)}


def answers_to(asked: Posed) -> Answers:
    """Those to a question, which grow with it."""
    return Answers(asked.passed, asked.told)


def of_answers(answers: Answers) -> bytes:
    """An entry of what was said of answers, and of nothing else."""
    return encoded({"count": 0, "facts": {}, "data": None, **answers.last()}, "f64")


def _last(answers: dict[bytes, Any]) -> dict[bytes, Any]:
    return dict([*answers.items()][-MOST:])


def of_question(pair: Pair, *, data: bool) -> bytes:
    """An entry of all that is known of a question, with its `data` where they are not to be drawn again.

    Raises NotKept.
    """
    asked, other = pair.asked, pair.other
    asked.read()
    facts: dict[str, dict[str, Any]] = {}
    for name, fact in asked.facts.items():
        kind = name.partition(" ")[0]
        if kind not in Facts.__annotations__:
            raise NotKept(f"the fact {name!r}")
        facts.setdefault(kind, {})[name] = fact
    drawn = {
        "inputs": asked.inputs, "other_inputs": other.inputs,
        "cotangents": asked.cotangents, "other_cotangents": other.cotangents,
        "needs": asked.needs, "outputs": [(y.dtype.name, y.shape) for y in pair.outputs],
    }  # fmt: skip
    whole = {"count": len(asked.facts), "facts": facts, "data": drawn if data else None, **answers_to(asked).last()}
    return encoded(whole, asked.case.dtype)


def pair_of(found: Packed, data: Data, case: Case, op: Op, mode: Mode) -> Pair:
    """The question of these data. Raises NotKept and IndexError."""
    names = tuple(arguments(case, op))

    def arrays(numbers: tuple[Numbered, ...]) -> tuple[Array | None, ...]:
        return tuple(None if n is None else found.array(n) for n in numbers)

    asked = Posed(case, op, mode, names, arrays(data.inputs), arrays(data.cotangents), data.needs)
    others = arrays(data.other_inputs), arrays(data.other_cotangents)
    other = Posed(redrawn(case, op), op, mode, names, *others, data.needs)
    return Pair(asked, other, tuple(_like(dtype, shape) for dtype, shape in data.outputs))


def _like(dtype: str, shape: tuple[int, ...]) -> Array:
    """An array of this dtype and shape; its values are nobody's to look at."""
    return np.ndarray(shape, dtype, bytes(np.dtype(dtype).itemsize), strides=(0,) * len(shape))
