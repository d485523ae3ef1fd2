"""Every element against a bound that is hardly ever too wide; those beyond it are suspects, and judged one by one."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.core.ulp import WorstUlp, find_worst_ulp
from opproof.harness.judge.bound import bound_of, compare
from opproof.harness.reference.question import Expected

#: Elements that are compared at once, and suspects that are kept: those farthest out.
MAX_COMPARED_ELEMENTS = 2**18
MAX_KEPT_SUSPECTS = 4096

Place = tuple[slice, ...]


@dataclass(frozen=True, order=True)
class SuspectElement:
    """An element: its error as a share of the narrow bound, and, in `out`, of the wide one."""

    share: float
    index: tuple[int, ...]
    out: float


@dataclass
class Screen:
    """What was seen of one tensor so far."""

    dtype: str
    strict: bool = False  # subnormals are not to be flushed
    kept: list[SuspectElement] = field(default_factory=list)  # a heap: the least share first
    suspects: int = 0
    out: int = 0  # beyond the wide bound as well
    nonfinite: int = 0
    finite: int = 0  # elements that are to be finite
    zeros: bool = True  # nothing but zeros came,
    nothing: bool = True  # and was expected
    share: float = -1.0  # the largest of the elements within the narrow bound
    units: float = 0.0
    limit: float = 0.0
    closest: tuple[int, ...] | None = None  # where that is
    ulp: WorstUlp | None = None  # the largest error in ULP, and where it is

    def add(self, got: Array, narrow: Expected, wide: Expected, *, at: tuple[int, ...]) -> None:
        """Look at a block of the tensor whose first element is `at`."""
        for part in split_array(got.shape):
            begins = tuple(a + s.start for a, s in zip(at, part, strict=True))
            self._add_piece(np.asarray(got[part]), _take_part(narrow, part), _take_part(wide, part), begins)

    def _add_piece(self, got: Array, narrow: Expected, wide: Expected, at: tuple[int, ...]) -> None:
        values = narrow.values
        self.zeros = self.zeros and not got.any()
        self.nothing = self.nothing and not values.any()
        if values.dtype.kind == "f":
            self.finite += int(np.count_nonzero(np.isfinite(values)))
            if self._is_within(got, narrow, at):
                return
        comparison = compare(got, narrow, self.dtype, strict_subnormals=self.strict)
        self._note_ulp(got, values, comparison.passed, comparison.bound, at)
        failing = np.flatnonzero(~comparison.passed)
        if not failing.size:
            return
        out = compare(got, wide, self.dtype, strict_subnormals=self.strict).shares.ravel()[failing]
        if not wide.exact:  # no slice had a scale there: that says nothing
            out = np.where(wide.scale.ravel()[failing] > 0, out, np.minimum(out, 1.0))
        shares = comparison.shares.ravel()[failing]
        self.suspects += failing.size
        self.out += int(np.count_nonzero(out > 1))
        if values.dtype.kind == "f":
            finite = np.isfinite(np.asarray(got, dtype=np.float64)) & np.isfinite(values)
            self.nonfinite += int(np.count_nonzero(~finite.ravel()[failing] & (out > 1)))
        for k in np.argsort(-shares, kind="stable")[:MAX_KEPT_SUSPECTS]:
            local = np.unravel_index(int(failing[k]), values.shape)
            index = tuple(int(a + i) for a, i in zip(at, local, strict=True))
            suspect = SuspectElement(float(shares[k]), index, float(out[k]))
            (heapq.heappush if len(self.kept) < MAX_KEPT_SUSPECTS else heapq.heappushpop)(self.kept, suspect)

    def _is_within(self, got: Array, narrow: Expected, at: tuple[int, ...]) -> bool:
        """Whether all is plainly within the bound: numbers near numbers. Quick: of most pieces it is all there is."""
        kind = DTYPES[self.dtype]
        with np.errstate(all="ignore"):
            error = np.abs(np.asarray(got, dtype=np.float64) - narrow.values)
            bound = bound_of(narrow, kind, strict_subnormals=self.strict)
            share = np.divide(error, bound, out=np.zeros_like(error), where=error != 0)
        if not share.size:
            return True
        worst = int(np.argmax(share))  # of a NaN, its place
        largest = float(share.flat[worst])
        if not (largest <= 1 and np.isfinite(float(np.max(bound)))):
            return False
        self._note_ulp(got, narrow.values, np.broadcast_to(np.True_, share.shape), bound, at)
        if largest > self.share:
            local = np.unravel_index(worst, share.shape)
            self.share, self.closest = largest, tuple(int(a + i) for a, i in zip(at, local, strict=True))
            one = tuple(slice(int(i), int(i) + 1) for i in local)
            near = compare(got[one], _take_part(narrow, one), self.dtype, strict_subnormals=self.strict)
            self.units, self.limit = float(near.units.max()), float(near.limit.max())
        return True

    def _note_ulp(self, got: Array, values: Array, passed: Array, bound: Array, at: tuple[int, ...]) -> None:
        worst = find_worst_ulp(got, values, self.dtype, passed, bound)
        if worst is not None and (self.ulp is None or worst[0] > self.ulp[0]):
            self.ulp = worst[0], tuple(a + i for a, i in zip(at, worst[1], strict=True))


def _take_part(expected: Expected, part: Place) -> Expected:
    return replace(expected, values=expected.values[part], scale=expected.scale[part])


def split_array(shape: tuple[int, ...]) -> Iterator[Place]:
    """An array of `shape` in pieces of MAX_COMPARED_ELEMENTS elements or fewer, or of one row."""
    sizes = list(shape)
    for k in range(len(sizes)):
        rest = int(np.prod(sizes[k + 1 :]))
        sizes[k] = max(1, min(sizes[k], MAX_COMPARED_ELEMENTS // max(rest, 1)))
    starts = [range(0, n, size) for n, size in zip(shape, sizes, strict=True)]
    for corner in np.ndindex(*map(len, starts)):
        begins = [r[i] for r, i in zip(starts, corner, strict=True)]
        yield tuple(slice(b, min(b + size, n)) for b, size, n in zip(begins, sizes, shape, strict=True))
