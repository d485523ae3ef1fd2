"""How many slices fit into the judge's memory at once: measured on a few, and doubled from there."""

from __future__ import annotations

import functools
import math
import mmap
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from opproof.harness.reference.axes import Axis, Shape
from opproof.harness.reference.chunks.blocks import Block, take_block
from opproof.harness.reference.expected import values_of
from opproof.harness.reference.question import Question
from opproof.harness.reference.roundoff import RUNS
from opproof.reference_ops import Op, Trait

#: Evaluations at once; there is room for two (memory_budget.py). NumPy computes outside the interpreter's lock.
MAX_PARALLEL_BLOCKS = 2


#: Bytes that a judge may use by default.
DEFAULT_MEMORY_BYTES = 2**30
#: Elements of all tensors below which nothing is measured: a judge has room for them.
MAX_UNMEASURED_ELEMENTS = 2**17
#: Bytes an element that judging takes where nothing is measured: without noise, and for each noisy run at once.
BYTES_PER_ELEMENT = 100
_BYTES_PER_NOISY_ELEMENT = 47
#: Peaks of one evaluation that the judge holds beside the noise, and that each noisy run at once takes.
_PEAKS_BESIDE_NOISE = 2.0
_PEAKS_PER_NOISY_RUN = 1.5
#: By how much a noisy run is slower than an evaluation; and the fewest runs, of slices that are a large part of a case.
_NOISY_RUN_SLOWDOWN = 6
MIN_NOISY_RUNS = 8

Sizes = tuple[int, ...]


class TooLarge(Exception):
    """The judge has no room for a case; the text is a sentence that says what is needed."""


@dataclass(frozen=True)
class NoisePlan:
    """How the scale of one result is found: `runs` of noise, `together` at once, of blocks of `sizes` slices."""

    sizes: tuple[int, ...]
    runs: int
    together: int


@dataclass(frozen=True)
class ChunkPlan:
    """Blocks that fit: `values` of so many slices are evaluated at once; by result, how noise is run."""

    axes: tuple[Axis, ...]
    values: tuple[int, ...]
    noise: Mapping[str, NoisePlan]
    memory: int = DEFAULT_MEMORY_BYTES

    @property
    def in_one(self) -> bool:
        """Whether noise of the whole fits, all runs at once."""
        extents = tuple(axis.extent for axis in self.axes)
        return all(n.sizes == extents and n.together == RUNS for n in self.noise.values())


def fits_surely(elements: int, memory: int, op: Op) -> bool:
    """Whether a case of numbers mapped one by one fits whole, by twice what any has taken: it need not be measured."""
    return (
        Trait.POINTWISE in op.traits and 2 * elements * (BYTES_PER_ELEMENT + RUNS * _BYTES_PER_NOISY_ELEMENT) <= memory
    )


def is_held_whole(elements: int, memory: int) -> bool:
    """Whether a case of any operator fits whole, all noisy runs at once."""
    return elements * (BYTES_PER_ELEMENT + RUNS * _BYTES_PER_NOISY_ELEMENT) <= memory


def count_runs_at_once(elements: int, memory: int) -> int:
    """How many noisy runs of a case fit at once, one at least."""
    return max(1, min(RUNS, int((memory / elements - BYTES_PER_ELEMENT) // _BYTES_PER_NOISY_ELEMENT)))


def count_runs_without_axes(elements: int, memory: int, case: object) -> int:
    """How many noisy runs of a case fit at once where no slices are independent. Raises TooLarge."""
    together = int((memory / elements - BYTES_PER_ELEMENT) // _BYTES_PER_NOISY_ELEMENT)
    if together < 1:
        raise TooLarge(_describe_need(case, elements * (BYTES_PER_ELEMENT + _BYTES_PER_NOISY_ELEMENT), memory))
    return min(RUNS, together)


def count_runs_by_peak(posed: Question, memory: int) -> int:
    """How many noisy runs of a case fit at once, by what one evaluation of it holds. Raises TooLarge.

    Patches of windows take many times the elements of a case.
    """
    fresh = posed.given()  # nothing of it is evaluated yet
    peak = max(1, _measure_peak(lambda: values_of(fresh)))
    together = int((memory / peak - _PEAKS_BESIDE_NOISE) // _PEAKS_PER_NOISY_RUN)
    if together < 1:
        raise TooLarge(_describe_need(posed.case, peak * (_PEAKS_BESIDE_NOISE + _PEAKS_PER_NOISY_RUN), memory))
    return min(RUNS, together)


def room_of(posed: Question, axes: Sequence[Axis], results: Mapping[str, Shape], memory: int) -> ChunkPlan:
    """The largest blocks whose evaluation takes half of `memory`; `results` by name. Raises TooLarge."""
    measure = _Measure(posed, tuple(axes), memory)
    ones = tuple(1 for _ in axes)
    needed = measure.measure_peak(ones) * (_PEAKS_BESIDE_NOISE + _PEAKS_PER_NOISY_RUN)
    if needed > memory:
        raise TooLarge(_describe_need(posed.case, needed, memory))
    values = measure.largest(_choose_small_block(posed, axes), ones, _PEAKS_BESIDE_NOISE)
    return ChunkPlan(tuple(axes), values, {name: measure.noise(name, shape) for name, shape in results.items()}, memory)


@dataclass
class _Measure:
    """Bytes that blocks take, by their sizes."""

    posed: Question
    axes: tuple[Axis, ...]
    memory: int
    known: dict[Sizes, int] = field(default_factory=dict)

    def measure_peak(self, sizes: Sizes) -> int:
        """Bytes that one evaluation of so many slices holds at most."""
        if sizes not in self.known:
            block: Block = tuple((0, n) for n in sizes)
            self.known[sizes] = _measure_peak(lambda: values_of(take_block(self.posed, self.axes, block)))
        return self.known[sizes]

    def largest(self, start: Sizes, least: Sizes, factor: float) -> Sizes:
        """Of so many slices `factor` peaks are at most half of the memory; `least` where `start` is too large."""
        budget, shapes = self.memory / 2 / factor, self.posed.case.shapes
        sizes = start if self.measure_peak(start) <= budget else least
        guess = float(self.measure_peak(sizes))  # never too small: twice the slices take at most twice the memory
        grown = True
        while grown:
            grown = False
            for k, axis in enumerate(self.axes):
                larger = axis.larger(sizes[k], shapes)
                growth = larger / sizes[k]
                if guess * growth > budget:
                    guess = self.measure_peak(sizes)
                if growth > 1 and guess * growth <= budget:
                    sizes, guess, grown = (*sizes[:k], larger, *sizes[k + 1 :]), guess * growth, True
        return sizes

    def noise(self, name: str, shape: Shape) -> NoisePlan:
        """Of blocks in which the result is complete, where that fits; else of single slices, which are added up."""
        least = tuple(axis.count_sharing(name, shape) for axis in self.axes)
        ones = tuple(1 for _ in self.axes)
        at_most = self.measure_peak(ones) * math.prod(least) * (_PEAKS_BESIDE_NOISE + _PEAKS_PER_NOISY_RUN)
        if (
            at_most > 2 * self.memory
            or self.measure_peak(least) * (_PEAKS_BESIDE_NOISE + _PEAKS_PER_NOISY_RUN) > self.memory
        ):
            least = ones
        sizes = self.largest(least, least, _PEAKS_BESIDE_NOISE + RUNS * _PEAKS_PER_NOISY_RUN)
        together = int((self.memory / self.measure_peak(sizes) - _PEAKS_BESIDE_NOISE) // _PEAKS_PER_NOISY_RUN)
        share = math.prod(sizes) / math.prod(axis.extent for axis in self.axes)
        runs = RUNS if share == 1 or RUNS * share * _NOISY_RUN_SLOWDOWN <= 1 else MIN_NOISY_RUNS
        return NoisePlan(sizes, runs, max(1, min(runs, together)))


def _choose_small_block(posed: Question, axes: Sequence[Axis]) -> tuple[int, ...]:
    """Sizes of a block of few elements: what is smaller need not be measured."""
    shapes, sizes = posed.case.shapes, [1 for _ in axes]
    share = MAX_UNMEASURED_ELEMENTS / 8 / max(math.prod(s) for s in shapes.values()) * math.prod(a.extent for a in axes)
    while math.prod(sizes) * 2 <= share:
        k = min((k for k in range(len(axes)) if sizes[k] < axes[k].extent), key=lambda k: sizes[k], default=None)
        if k is None:
            break
        sizes[k] = axes[k].larger(sizes[k], shapes)
    return tuple(sizes)


def _measure_peak(evaluate: Callable[[], object]) -> int:
    if tracemalloc.is_tracing():
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        evaluate()
        return tracemalloc.get_traced_memory()[1] - before
    tracemalloc.start()
    try:
        evaluate()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def round_up_memory(needed: float) -> int:
    """MiB for --judge-memory: of bytes, a multiple of 16."""
    return math.ceil(needed / 2**24) * 16


def _describe_need(case: object, needed: float, memory: int) -> str:
    least = round_up_memory(needed)
    return (
        f"judging {case} takes about {least} MiB, and --judge-memory is {memory // 2**20}; "
        f"give --judge-memory {least} or more, or a smaller case"
    )


#: By how much a judge may exceed its limit, as a share of it.
_EXCESS_RATIO = 0.2
#: Bytes by which it may at least, for stacks and code that is loaded late.
_MIN_EXCESS_BYTES = 192 * 2**20

#: Rows of a product that has OpenBLAS take what it works in: where it gets none, it ends the process (memory.c).
_PRODUCT = 128


@functools.cache
def reserve() -> None:
    """Have OpenBLAS take what it works in, once in a process, for as many products at once as there may be."""
    together = threading.Barrier(MAX_PARALLEL_BLOCKS + 1)

    def multiply() -> None:
        a = np.ones((_PRODUCT, _PRODUCT))
        together.wait()
        for _ in range(8):
            a @ a

    some = [threading.Thread(target=multiply) for _ in range(MAX_PARALLEL_BLOCKS + 1)]
    for thread in some:
        thread.start()
    for thread in some:
        thread.join()


@contextmanager
def with_memory_limit(memory: int) -> Iterator[None]:
    """Within it this process may take `memory` bytes and a fifth beside what it holds: more raises MemoryError.

    What begins within it inherits the limit; no process may be started there.
    """
    if memory >= sys.maxsize or _measure_data_bytes() is None:
        yield
        return
    reserve()
    held = _measure_data_bytes() or 0
    import resource  # POSIX alone has it

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = held + memory + max(int(memory * _EXCESS_RATIO), _MIN_EXCESS_BYTES)
    lowered = min((n for n in (limit, soft, hard) if n != resource.RLIM_INFINITY), default=limit)
    resource.setrlimit(resource.RLIMIT_DATA, (lowered, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _measure_data_bytes() -> int | None:
    """Bytes of memory of this process alone, as RLIMIT_DATA counts them; None where it is not Linux."""
    if not sys.platform.startswith("linux"):
        return None
    with suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text().split()[5]) * mmap.PAGESIZE
    return None
