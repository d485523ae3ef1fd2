"""Questions that are read from the cache in place of being drawn and evaluated, and kept there once they were."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeAlias, TypedDict

import msgspec
import numpy as np

from opproof.cases import Case
from opproof.harness.run.cache.arrays import NotKept, Packed, encoded, packed
from opproof.harness.run.cache.judged import MOST, Passed
from opproof.harness.run.cache.sources import digest
from opproof.harness.run.cache.store import Store
from opproof.harness.truth.data import arguments
from opproof.harness.truth.differences import Estimated
from opproof.harness.truth.kinks import Kinked
from opproof.harness.truth.posed import Posed, redrawn
from opproof.harness.truth.reference import RUNS, Expected
from opproof.harness.truth.slices.pose import Pair, pose
from opproof.harness.truth.slices.room import MEMORY
from opproof.harness.truth.subgradient import Limits
from opproof.reference_ops import Op
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.modes import Mode

#: Elements beyond which the data of a case are drawn again: that is quicker than noise by far, and what is expected
#: takes less room than they do. Unless it took so many seconds an element, as sorting for kinks does.
LARGE, SLOW = 2**13, 1e-6


class Facts(TypedDict, total=False):
    """What Posed.once knows of a question, by the first word of its name and by its name."""

    expected: dict[str, list[Expected | None]]
    vacuous: dict[str, str]
    kinked: dict[str, dict[int, Kinked]]
    limits: dict[str, list[Limits]]
    differences: dict[str, list[Estimated | None]]


#: An array, by its number in the entry.
Numbered: TypeAlias = int | None


@dataclass(frozen=True)
class Data:
    """What was drawn for a question, and the dtypes and shapes of its outputs, as it is read."""

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


_KEPT = msgspec.msgpack.Decoder(Kept)


@dataclass
class Drawn:
    """A question, the name under which it is kept, and how many of its facts and answers are kept already."""

    pair: Pair
    name: bytes | None  # None: it is not kept
    facts: int = 0
    passed: int = 0
    seconds: float = 0.0  # that drawing took
    whole: bool = True  # else nothing is kept but answers that pass: the rest takes too much room


@dataclass
class Questions:
    """The questions of one case, each drawn once: to several backends, or to one again. It is a Posing.

    What is judged in slices is drawn again: to hold it takes more memory than there is.
    """

    store: Store | None = None
    drawn: dict[tuple[str, Mode, int], Drawn] = field(default_factory=dict)
    sliced: list[tuple[bytes, int, dict[bytes, Any]]] = field(default_factory=list)  # name, answers kept, answers

    def __call__(self, case: Case, op: Op, mode: Mode, memory: int = MEMORY) -> Pair:
        """See Posing."""
        key = (str(case), mode, memory)
        if key not in self.drawn:
            one = self._kept(case, op, mode, memory) or self._fresh(case, op, mode, memory)
            if one.pair.room is not None:
                self.sliced += [] if one.name is None else [(one.name, one.passed, one.pair.asked.passed)]
                return one.pair
            self.drawn[key] = one
        return self.drawn[key].pair

    def keep(self) -> None:
        """Leave with the store what it does not hold yet of the questions drawn, and forget them."""
        for one in self.drawn.values():
            if self.store is not None and one.name is not None and _grown(one):
                try:
                    self.store.put(one.name, _encoded(one) if one.whole else _answers(one.pair.asked.passed))
                except NotKept:
                    continue
        for name, kept, passed in self.sliced:
            if self.store is not None and len(passed) > kept:
                self.store.put(name, _answers(passed))
        self.drawn.clear()
        self.sliced.clear()

    def _kept(self, case: Case, op: Op, mode: Mode, memory: int) -> Drawn | None:
        name = None if self.store is None else _name(case, op, mode, memory)
        data = None if self.store is None or name is None else self.store.get(name)
        if data is None:
            return None
        try:
            found = packed(data)
            kept = _KEPT.decode(found.tree)
            pair = self._posed(case, op, mode, memory) if kept.data is None else _pair(found, kept.data, case, op, mode)
        except (NotKept, LookupError, TypeError, ValueError, msgspec.DecodeError):
            return None
        pair.asked.unread.append(lambda: _facts(found, kept.facts))
        pair.asked.passed.update(kept.passed)
        seconds = 0.0 if kept.data is None else math.inf  # what was worth keeping is
        return Drawn(pair, name, kept.count, len(kept.passed), seconds, whole=_is_whole(pair))

    def _fresh(self, case: Case, op: Op, mode: Mode, memory: int) -> Drawn:
        begun = time.process_time()
        pair = self._posed(case, op, mode, memory)
        seconds = time.process_time() - begun
        name = _name(case, op, mode, memory) if self.store is not None else None
        return Drawn(pair, name, seconds=seconds, whole=_is_whole(pair))

    def _posed(self, case: Case, op: Op, mode: Mode, memory: int) -> Pair:
        other = self.drawn.get((str(case), Mode.GRADIENT if mode is Mode.FORWARD else Mode.FORWARD, memory))
        return pose(case, op, mode, memory, None if other is None else other.pair)


def _name(case: Case, op: Op, mode: Mode, memory: int) -> bytes | None:
    """Under which the question is kept: of the case, the mode, the room for it, and the sources that answer it."""
    made_by = _digest(op.source, op.reference is not None)
    if made_by is None:
        return None
    return blake2b(f"{case}|{mode}|{memory}|".encode() + made_by, digest_size=16).digest()


@functools.cache
def _digest(source: Path, torch: bool) -> bytes | None:
    return digest(source, torch=torch)


def _grown(one: Drawn) -> bool:
    """Whether more is known of a question than is kept of it. Facts that were not read are no more than they were."""
    asked = one.pair.asked
    return (one.whole and not asked.unread and len(asked.facts) > one.facts) or len(asked.passed) > one.passed


def _is_whole(pair: Pair) -> bool:
    """Whether noise has room for all its runs at once."""
    return pair.room is None and pair.asked.together == pair.asked.runs == RUNS


def _facts(found: Packed, tree: msgspec.Raw) -> Mapping[str, Any]:
    """The facts that were kept, by name; none where they cannot be read."""
    try:
        by_kind: Mapping[str, Any] = found.read(Facts, tree)
    except NotKept:
        return {}
    return {name: fact for facts in by_kind.values() for name, fact in facts.items()}


def _answers(passed: dict[bytes, Any]) -> bytes:
    """An entry of answers that pass alone."""
    return encoded({"count": 0, "facts": {}, "data": None, "passed": _last(passed)}, "f64")


def _last(passed: dict[bytes, Any]) -> dict[bytes, Any]:
    return dict([*passed.items()][-MOST:])


def _encoded(one: Drawn) -> bytes:
    asked, other = one.pair.asked, one.pair.other
    asked.read()
    whole: dict[str, Any] = {"count": len(asked.facts), "passed": _last(asked.passed)}
    facts: dict[str, dict[str, Any]] = {}
    for name, fact in asked.facts.items():
        kind = name.partition(" ")[0]
        if kind not in Facts.__annotations__:
            raise NotKept(f"the fact {name!r}")
        facts.setdefault(kind, {})[name] = fact
    elements = sum(v.size for v in asked.inputs if v is not None)
    if elements > LARGE and one.seconds < SLOW * elements:
        return encoded({**whole, "facts": facts, "data": None}, asked.case.dtype)
    outputs = tuple((y.dtype.name, y.shape) for y in one.pair.outputs)
    data = {
        "inputs": asked.inputs, "other_inputs": other.inputs,
        "cotangents": asked.cotangents, "other_cotangents": other.cotangents,
        "needs": asked.needs, "outputs": outputs,
    }  # fmt: skip
    return encoded({**whole, "facts": facts, "data": data}, asked.case.dtype)


def _pair(found: Packed, data: Data, case: Case, op: Op, mode: Mode) -> Pair:
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
