"""Questions that are read from the cache in place of being drawn and evaluated, and kept there once they were."""

from __future__ import annotations

import functools
import math
import time
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

import msgspec

from opproof.cases import Case
from opproof.core.verdicts import Mode
from opproof.harness.reference.chunks.memory_budget import DEFAULT_MEMORY_BYTES
from opproof.harness.reference.chunks.question import LargeQuestionPair, make_fitting_question
from opproof.harness.reference.roundoff import RUNS
from opproof.harness.run.cache import entry
from opproof.harness.run.cache.entry import NotKept, parse_packed
from opproof.harness.run.cache.store import CacheStore, digest_of_operator
from opproof.reference_ops import Op

#: Elements beyond which the data of a case are drawn again: that is quicker than noise by far, and what is expected
#: takes less room than they do. Unless it took so many seconds an element, as sorting for kinks does.
MAX_KEPT_ELEMENTS = 2**13
SLOW_SECONDS_PER_ELEMENT = 4e-7


@dataclass
class Drawn:
    """A question, the name under which it is kept, and how many of its facts and answers are kept already."""

    pair: LargeQuestionPair
    name: bytes | None  # None: it is not kept
    facts: int = 0
    answers: int = 0
    seconds: float = 0.0  # that drawing took
    whole: bool = True  # else nothing is kept but what was said of answers: the rest takes too much room


@dataclass
class Questions:
    """The questions of one case, each drawn once: to several backends, or to one again. It is a Posing.

    What is judged in slices is drawn again: to hold it takes more memory than there is.
    """

    store: CacheStore | None = None
    drawn: dict[tuple[str, Mode, int], Drawn] = field(default_factory=dict)
    sliced: list[tuple[bytes, int, entry.CachedAnswers]] = field(default_factory=list)  # name, answers kept, answers

    def __call__(self, case: Case, op: Op, mode: Mode, memory: int = DEFAULT_MEMORY_BYTES) -> LargeQuestionPair:
        """See Posing."""
        key = (str(case), mode, memory)
        if key not in self.drawn:
            one = self._kept(case, op, mode, memory) or self._draw_anew(case, op, mode, memory)
            if one.pair.room is not None:
                if one.name is not None:
                    self.sliced.append((one.name, one.answers, entry.answers_of(one.pair.case_data)))
                return one.pair
            self.drawn[key] = one
        return self.drawn[key].pair

    def keep(self) -> None:
        """Leave with the store what it does not hold yet of the questions drawn, and forget them."""
        for one in self.drawn.values():
            if self.store is not None and one.name is not None and _has_grown(one):
                with suppress(NotKept):
                    self.store.put(one.name, _encode(one))
        for name, kept, answers in self.sliced:
            if self.store is not None and answers.count > kept:
                self.store.put(name, entry.of_answers(answers))
        self.drawn.clear()
        self.sliced.clear()

    def _kept(self, case: Case, op: Op, mode: Mode, memory: int) -> Drawn | None:
        name = None if self.store is None else _name(case, op, mode, memory)
        data = None if self.store is None or name is None else self.store.get(name)
        if data is None:
            return None
        try:
            found = parse_packed(data)
            kept = entry.KEPT.decode(found.tree)
            of = (case, op, mode)
            pair = self._make_question(*of, memory) if kept.data is None else entry.pair_of(found, kept.data, *of)
        except (NotKept, LookupError, TypeError, ValueError, msgspec.DecodeError):
            return None
        pair.case_data.unread.append(lambda: entry.facts_of(found, kept.facts))
        pair.case_data.passed.update(kept.passed)
        pair.case_data.told.update(kept.told)
        seconds = 0.0 if kept.data is None else math.inf  # what was worth keeping is
        return Drawn(pair, name, kept.count, entry.answers_of(pair.case_data).count, seconds, whole=_is_whole(pair))

    def _draw_anew(self, case: Case, op: Op, mode: Mode, memory: int) -> Drawn:
        begun = time.process_time()
        pair = self._make_question(case, op, mode, memory)
        seconds = time.process_time() - begun
        name = _name(case, op, mode, memory) if self.store is not None else None
        return Drawn(pair, name, seconds=seconds, whole=_is_whole(pair))

    def _make_question(self, case: Case, op: Op, mode: Mode, memory: int) -> LargeQuestionPair:
        other = self.drawn.get((str(case), Mode.GRADIENT if mode is Mode.FORWARD else Mode.FORWARD, memory))
        return make_fitting_question(case, op, mode, memory, None if other is None else other.pair)


def _name(case: Case, op: Op, mode: Mode, memory: int) -> bytes | None:
    """Under which the question is kept: of the case, the mode, the room for it, and the sources that answer it."""
    made_by = _digest_of_sources(op.source, op.reference is not None)
    if made_by is None:
        return None
    return blake2b(f"{case}|{mode}|{memory}|".encode() + made_by, digest_size=16).digest()


@functools.cache
def _digest_of_sources(source: Path, torch: bool) -> bytes | None:
    return digest_of_operator(source, torch=torch)


def _has_grown(one: Drawn) -> bool:
    """Whether more is known of a question than is kept of it. Facts that were not read are no more than they were."""
    asked = one.pair.case_data
    more = one.whole and not asked.unread and len(asked.facts) > one.facts
    return more or entry.answers_of(asked).count > one.answers


def _is_whole(pair: LargeQuestionPair) -> bool:
    """Whether noise has room for all its runs at once; of data that repeat, one period is quick to draw again."""
    asked = pair.case_data
    return pair.room is None and asked.periods is None and asked.together == asked.runs == RUNS


def _encode(one: Drawn) -> bytes:
    """All that is known of a question, as far as there is room for it. Raises NotKept."""
    asked = one.pair.case_data
    if not one.whole:
        return entry.of_answers(entry.answers_of(asked))
    elements = sum(v.size for v in asked.inputs if v is not None)
    return entry.of_question(
        one.pair, data=elements <= MAX_KEPT_ELEMENTS or one.seconds >= SLOW_SECONDS_PER_ELEMENT * elements
    )
