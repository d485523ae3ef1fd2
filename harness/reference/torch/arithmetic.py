"""Arithmetic of one evaluation: where it rounds noise enters, and what it decides all evaluations decide alike.

One evaluation has no noise and writes its decisions on a tape (comparisons, positions, integers, random draws), from
which the noisy ones read them. Numbers that are equal find the same noise in a pool by value. Of a backward only what
depends on cotangents is linear in them; its parts of the forward, such as exp(x - logsumexp(x)), are not.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from opproof.core.errors import OpError
from opproof.harness.reference.torch.stored_outputs import Decays, Operations, Products

#: Size of a pool.
POOL_PLACES = 1 << 16
#: An odd number near 2^64 over the golden ratio, as a signed one: products by it spread neighbours (Knuth 6.4).
_FACTOR = -7046029254386353131
#: Last bits of float64 in which the same sum in another order differs.
_IGNORED_BITS = 8


def places_of(torch: Any, values: Any, salt: int) -> Any:
    """A place in 0 .. POOL_PLACES - 1 for every element of float64 `values`, another one for another `salt`."""
    bits = values.detach().double().contiguous().view(torch.int64)
    mixed = ((bits + (1 << _IGNORED_BITS >> 1) >> _IGNORED_BITS) + salt) * _FACTOR
    mixed = (mixed ^ (mixed >> 29)) * _FACTOR
    return (mixed >> 48) & (POOL_PLACES - 1)


def mark_cotangent_dependent(tensor: Any) -> Any:
    """A tensor, marked as one that depends on cotangents."""
    tensor._pulled = True
    return tensor


def make_scattered(noise: Arithmetic, given: Any, made: Callable[[], Any]) -> Any:
    """What `made` gives: where nothing `given` depends on cotangents no sign is drawn, else the result does too."""
    if not any(getattr(v, "_pulled", False) for v in flatten(given)):
        noise.scattered = False
        try:
            return made()
        finally:
            noise.scattered = True
    found = made()
    for y in flatten(found):
        if hasattr(y, "untyped_storage"):
            mark_cotangent_dependent(y)
    return found


def flatten(values: Any) -> Iterator[Any]:
    """What nested values hold in the end, in order."""
    if isinstance(values, Mapping):
        values = list(values.values())
    if isinstance(values, tuple | list):
        for v in values:
            yield from flatten(v)
    else:
        yield values


#: Tensors of so many elements or more take their noise from a pool: drawing is slower than all else.
_MIN_POOLED_ELEMENTS = 1 << 12
_POOL_ELEMENTS = 1 << 20
#: Decisions that stay where others are taken anew: whoever asks for equality of what is rounded means other than that.
#: Not in a backward: there the largest are found again, as those that are equal to the maximum.
_FIXED_DECISIONS = frozenset(("eq", "ne", "equal"))


#: The end of the range of IEEE 754's binary formats, times their least normal number.
_TINIEST_TO_LARGEST = 4.0


class OutOfTime(ArithmeticError):
    """An evaluation came to its end in time."""


class Algorithm(StrEnum):
    """Which of several honest algorithms an evaluation takes."""

    PLAIN = "plain"
    OTHER = "other"  # softmax as exp(x - logsumexp(x)), sigmoid(x) as 1 - sigmoid(-x) in its backward
    FLUSHED = "flushed"  # subnormals are 0, between operations too
    OVERFLOWN = "overflown"  # what is beyond the range is infinite, between operations too
    LAST_OF_TIES = "last of ties"  # of equal elements, sort and topk take the last
    SEQUENTIAL = "sequential"  # sums in float32, term after term
    GIVEN = "given"  # inputs come without noise, and numbers that are equal are rounded alike
    FREE_BRANCHES = "free branches"  # so too, and noise decides each comparison again
    SCALAR_NOISE = "scalar noise"  # numbers read by item() keep their noise, and nothing else has any


@dataclass
class BranchTape:
    """What the exact evaluation decided, in order."""

    entries: list[tuple[str, Any]] = field(default_factory=list)
    position: int | None = None  # of the next entry to read; None while they are written
    taken: dict[str, None] = field(default_factory=dict)  # lines that take numbers out of float tensors, in order
    factors: set[float] = field(default_factory=set)  # numbers of Python's by which it multiplies
    stored: dict[int, str] = field(default_factory=dict)  # dtypes of outputs that others read again, by operation
    unordered: bool = False  # whether something was chosen among numbers of which one is NaN

    def kept(self, name: str, made: Callable[[], Any]) -> Any:
        """What `made` gave in the exact evaluation. Raises OpError where evaluations take different ways."""
        if self.position is None:
            self.entries.append((name, made()))
            return self.entries[-1][1]
        written, value = self.entries[self.position] if self.position < len(self.entries) else ("the end", None)
        if written != name:
            raise OpError(
                f"the reference does not repeat itself: {name} where {written} was before. Called again with the same "
                "tensors it has to take the same operations: give it what it keeps between calls as an argument."
            )
        self.position += 1
        return value

    def restart(self) -> BranchTape:
        """The tape, to be read from its beginning."""
        return replace(self, position=0, unordered=False)


@dataclass(frozen=True)
class NoiseLevels:
    """Of one rounding of values, and of one addition of a sum; below `tiny` rounding is absolute.

    `u` is the roundoff of the values, 0 where nothing is rounded.
    """

    interior: float
    summing: float
    tiny: float
    u: float = 0.0


@dataclass
class Arithmetic:
    """One evaluation; `amplitudes` None: the exact one."""

    torch: Any
    tape: BranchTape
    amplitudes: NoiseLevels | None = None
    seed: int = 0
    algorithm: Algorithm = Algorithm.PLAIN
    scattered: bool = False  # every rounding draws a sign, so that nothing cancels
    saturates: bool = False  # whether something did that is flat far out
    otherwise: bool = False  # whether something was decided anew and otherwise
    in_backward: bool = False  # whether gradients are computed, not values
    promoted: dict[str, None] = field(default_factory=dict)  # places where the reference left float64, in order
    draws: list[Any] = field(default_factory=list)  # random numbers that the reference drew in its own dtype, in order
    products: Products = field(default_factory=Products)  # of the exact evaluation
    saved: float = 0.0  # amplitude of one store of an output in 16 bits that the backward reads
    late: Callable[[], bool] = lambda: False  # whether no operation is to begin any more
    numbers: dict[tuple[str, float], float] = field(default_factory=dict)  # what was drawn for numbers of Python's
    operations: Operations = field(default_factory=Operations)  # of the forward
    decays: Decays = field(default_factory=Decays)  # of states, of the other algorithm
    _generator: Any = None
    _pool: Any = None
    _calls: int = 0  # how often noise was drawn by value

    @property
    def exact(self) -> bool:
        """Whether no noise enters."""
        return self.amplitudes is None

    def decide(self, name: str, made: Callable[[], Any]) -> Any:
        """A result of the exact evaluation that later code may change in place: a tensor, a tuple of them, a number.

        Decided anew it is this evaluation's own. Raises OpError where that has another shape.
        """
        if self.exact:
            return copy_nested(self.tape.kept(name, lambda: copy_nested(made())))
        kept = self.tape.kept(name, made)
        fixed = name in _FIXED_DECISIONS and not self.in_backward
        if self.algorithm is Algorithm.FREE_BRANCHES and not fixed and self.torch.is_tensor(kept):
            return self._decide_anew(name, kept, made())
        return copy_nested(kept)

    def _decide_anew(self, name: str, kept: Any, own: Any) -> Any:
        if own.shape != kept.shape:
            raise OpError(f"{name} of the reference gives another number of elements where rounding decides otherwise.")
        self.otherwise |= not self.torch.equal(own, kept)
        return copy_nested(own)

    def random(self, name: str, made: Callable[[], Any]) -> Any:
        """What was drawn in the reference's own dtype; where it is not known, drawn now."""

        def known() -> Any:
            if not self.draws or self.draws[0].name != name:
                return made()
            values = [v.double() if v.is_floating_point() else v for v in self.draws.pop(0).values]
            return values[0] if len(values) == 1 else tuple(values)

        if self.exact:
            return self.decide(name, known)
        return copy_nested(self.tape.kept(name, known))

    def size(self, name: str, made: Callable[[], Any]) -> Any:
        """The size of a sum's error, computed once, by the exact evaluation."""
        return self.tape.kept(name, made)

    def laid(self, y: Any) -> Any:
        """The result of a rule, with the strides of the exact evaluation: by them PyTorch chooses what comes next."""
        steps = self.tape.kept("laid", lambda: _strides_of(y))
        if self.exact:
            return y
        if isinstance(y, tuple | list):
            return tuple(map(_restore_strides, y, steps))
        return _restore_strides(y, steps)

    def rounded(self, y: Any) -> Any:
        """`y`, each element rounded once; exact zeros stay."""
        if self.amplitudes is None or not y.numel():
            return y
        if self.scattered:
            return y * self.draw_signs(y.real if y.is_complex() else y)
        delta, tiny = self.amplitudes.interior, self.amplitudes.tiny
        if self.algorithm is Algorithm.FLUSHED:
            return y.masked_fill(y.abs() < tiny, 0.0)
        if self.algorithm is Algorithm.OVERFLOWN:
            return self.torch.where(y.abs() * (tiny / _TINIEST_TO_LARGEST) >= 1, y * float("inf"), y)
        if y.is_complex():
            return y + self.torch.complex(self.drawn(y.real), self.drawn(y.real)) * y.abs() * delta
        size = y.abs()
        if tiny and float(size.amin()) < tiny:
            size = self.torch.where((size == 0) | size.isinf(), 0.0, size.clamp_min(tiny))
            return _restore_layout(self.torch.addcmul(y, size, self.drawn(y), value=delta), y)
        return _restore_layout(y * self.drawn(y).mul(delta).add_(1), y)

    def summed(self, y: Any, size: Any) -> Any:
        """A sum that committed `size` roundings, rounded once more where sums are more precise than what is stored."""
        if self.amplitudes is None or not y.numel():
            return y
        if self.scattered:
            return self.rounded(y)
        summing, size = self.amplitudes.summing, size.nan_to_num(0.0, 0.0, 0.0)
        if y.is_complex():
            y = y + self.torch.complex(self.drawn(y.real), self.drawn(y.real)) * size * summing
        else:
            y = _restore_layout(self.torch.addcmul(y, size.expand_as(y), self.drawn(y), value=summing), y)
        return self.rounded(y) if summing < self.amplitudes.interior else y

    def draw_once(self, why: str, number: float) -> float:
        """What is drawn for the rounding of a number of Python's: one, wherever it is used."""
        if (why, number) not in self.numbers:
            self.numbers[why, number] = float(self.drawn(self.torch.ones(())))
        return self.numbers[why, number]

    def draw_signs(self, like: Any) -> Any:
        """Numbers of either sign and mean square 1, so that two terms never cancel exactly."""
        drawn = self.drawn(like)
        return drawn.sign() * (0.5 + self.torch.special.ndtr(drawn.abs()) * 2 - 1).sqrt()

    def drawn(self, like: Any) -> Any:
        """Standard normal numbers in the shape of `like`."""
        shape, count, torch = like.shape, like.numel(), self.torch
        if self._generator is None:
            self._generator = torch.Generator().manual_seed(self.seed)
        if self.algorithm in (Algorithm.GIVEN, Algorithm.FREE_BRANCHES):
            return self._draw_by_value(like)
        if count < _MIN_POOLED_ELEMENTS:
            return torch.randn(shape, dtype=torch.float64, generator=self._generator)
        starts, pool = (
            torch.randint(_POOL_ELEMENTS, (-(-count // _POOL_ELEMENTS),), generator=self._generator).tolist(),
            _draw_normal(torch),
        )
        parts = [pool[s : s + _POOL_ELEMENTS] for s in starts]
        return (parts[0] if len(parts) == 1 else torch.cat(parts))[:count].reshape(shape)

    def _draw_by_value(self, like: Any) -> Any:
        """The same for numbers that are equal but for float64's own rounding, as whoever computes them alike has it."""
        if self._pool is None:
            self._pool = self.torch.randn(POOL_PLACES, dtype=self.torch.float64, generator=self._generator)
        self._calls += 1
        return self._pool[places_of(self.torch, like, self._calls)]


@functools.cache
def _draw_normal(torch: Any) -> Any:
    """Standard normal numbers, drawn once for all evaluations: each begins somewhere else in them."""
    return torch.randn(2 * _POOL_ELEMENTS, generator=torch.Generator().manual_seed(1)).double()


def _restore_layout(z: Any, y: Any) -> Any:
    """`z` with the strides of `y`: by them autograd chooses its backward, and both evaluations are to choose alike."""
    return z if z.stride() == y.stride() or 0 in y.stride() else z.new_empty_strided(y.shape, y.stride()).copy_(z)


def _strides_of(y: Any) -> Any:
    """Shape and strides of a tensor, or of each of several; None of what is none."""
    if isinstance(y, tuple | list):
        return tuple(map(_strides_of, y))
    return (y.shape, y.stride()) if hasattr(y, "untyped_storage") and not y.is_sparse else None


def _restore_strides(z: Any, known: Any) -> Any:
    if known is None or z.shape != known[0] or z.stride() == known[1] or 0 in known[1]:
        return z
    return z.new_empty_strided(*known).copy_(z)


def copy_nested(value: Any) -> Any:
    """`value`, its tensors cloned."""
    if isinstance(value, tuple | list):
        return tuple(copy_nested(v) for v in value)
    return value.clone() if hasattr(value, "clone") else value
