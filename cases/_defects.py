"""What is wrong with a kernel, by name: what `opproof tolerance` tries, and `opproof audit` plants.

A defect changes numbers of inputs, results or gradients, all of them float64 arrays of NumPy. An audit's have a line of
a test that kills it, for a function f of x with a right `reference`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from opproof.core.arrays import Array

#: The part of an axis that is lost where a last tile is.
LOST_TILE_PART = 1 / 64
#: Calls of which one loses half of its result where there is a race.
RACE_PERIOD = 5
#: Where exp of a float32 overflows, nearly.
EXP_LIMIT = 88.0
#: Elements of a vector or a tile, past whose last multiple nothing is read.
TILE = 32
#: Bits of float16 and TF32.
COARSE_BITS = 11
#: Inputs of each of which the gradient may be missing.
MAX_GRADIENTS = 4
#: By dtype, the part of the largest number that a test cannot be asked to see: rtol of assert_close.
RESOLUTION = {"float64": 1e-7, "float32": 1.3e-6, "float16": 1e-3, "bfloat16": 1.6e-2}

Change: TypeAlias = Callable[[Array], Array]


def lose_tail(y: Array, axis: int = -1) -> Array:
    """Zeros at the end of an axis, one at least."""
    lost = max(1, int(y.shape[axis] * LOST_TILE_PART))
    kept = np.arange(y.shape[axis]) < y.shape[axis] - lost
    return np.where(kept if axis == -1 else kept[:, None], y, 0.0)


def _exchange_ends(y: Array) -> Array:
    return y[..., [-1, *range(1, y.shape[-2] - 1), 0][: y.shape[-2]], :]


#: By name, the fewest axes that a result needs, and what becomes of it.
_OF_RESULTS: dict[str, tuple[int, Change]] = {
    "zeros": (0, np.zeros_like),
    "× 1.01": (0, lambda y: y * 1.01),
    "× 1.005": (0, lambda y: y * 1.005),
    "× 1.001": (0, lambda y: y * 1.001),
    "last 1/64 of columns missing": (1, lose_tail),
    "last 1/64 of rows missing": (2, lambda y: lose_tail(y, -2)),
    "first and last row exchanged": (2, _exchange_ends),
    "every row is the first": (2, lambda y: np.broadcast_to(y[..., :1, :], y.shape)),
    "last two axes swapped": (2, lambda y: np.swapaxes(y, -1, -2).reshape(y.shape)),
    "heads in reverse order": (3, lambda y: y[:, ::-1]),
}


def list_wrong(right: Array) -> dict[str, Array]:
    """What stands in the place of a right result, by the defect's name; nothing that is the same array."""
    with np.errstate(all="ignore"):
        made = {n: change(right) for n, (rank, change) in _OF_RESULTS.items() if right.ndim >= rank and right.size}
    return {name: y for name, y in made.items() if not np.array_equal(y, right, equal_nan=True)}


def measure_off(wrong: Array, right: Array) -> float:
    """How far it is off, as a part of the largest number; infinite where one of the two alone is not finite."""
    finite = np.isfinite(right)
    if wrong.shape != right.shape or not np.array_equal(np.isfinite(wrong), finite):
        return np.inf
    off = float(np.max(np.abs(wrong - right, where=finite, out=np.zeros(right.shape)), initial=0.0))
    return off / max(float(np.max(np.abs(right), where=finite, initial=0.0)), np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class InputNumbers:
    """The numbers of one input; `packed`: those that lie in its memory in order, None where these are the same."""

    values: Array
    dtype: str
    packed: Array | None = None

    @property
    def is_float(self) -> bool:
        """Whether they are floats."""
        return "float" in self.dtype


@dataclass(frozen=True)
class RightCall:
    """What a right call was given and gave, its number, and what the first call with these shapes gave."""

    inputs: Sequence[InputNumbers]
    results: Sequence[Array]
    number: int = 1
    first: Sequence[Array] = field(default_factory=tuple)

    @cached_property
    def wrong(self) -> list[dict[str, Array]]:
        """What may stand in the place of each result."""
        return [list_wrong(y) for y in self.results]


#: For each input its numbers with the defect, None where they stay; or nothing.
Inputs: TypeAlias = Callable[[Sequence[InputNumbers]], Sequence[Array | None]]


@dataclass(frozen=True)
class PlantedDefect:
    """What is planted: one of the changes. Without `unreached` it is no defect where it changes nothing."""

    name: str
    line: str = ""  # where it is empty, a comparison as tight as the defect is small
    unreached: str = ""  # what no test does where nothing comes of it
    inputs: Inputs | None = None
    results: Callable[[RightCall], Sequence[Array | None]] | None = None
    gradient: Change | None = None
    of_input: int | None = None  # whose gradient: None for that of the result, and so of all; -1 for that of each input
    overwrites: bool = False  # its first input
    remembers: bool = False  # what it does depends on the calls before


def _each_float(change: Callable[[Array], Array | None]) -> Inputs:
    return lambda inputs: [change(x.values) if x.is_float else None for x in inputs]


def _lose_remainder(x: Array) -> Array | None:
    n = x.shape[-1] if x.ndim else 0
    return np.where(np.arange(n) < n - n % TILE, x, 0.0) if n > TILE and n % TILE else None


def _make_coarse(x: Array) -> Array:
    mantissa, exponent = np.frexp(x)
    return np.asarray(np.ldexp(np.rint(np.ldexp(mantissa, COARSE_BITS)), exponent - COARSE_BITS))


def _exchange_inputs(inputs: Sequence[InputNumbers]) -> Sequence[Array | None]:
    """The first two of the same shape and dtype, exchanged."""
    seen: dict[Any, int] = {}
    for j, x in enumerate(inputs):
        i = seen.setdefault((x.values.shape, x.dtype), j)
        if i != j:
            other = {i: x.values, j: inputs[i].values}
            return [other.get(k) for k in range(len(inputs))]
    return []


def _become_nan(call: RightCall) -> Sequence[Array | None]:
    sizes = [np.abs(x.values) for x in call.inputs if x.is_float]
    beyond = any(bool(np.any((x > EXP_LIMIT) & np.isfinite(x))) for x in sizes)
    return [np.full_like(y, np.nan) for y in call.results] if beyond else []


def _lose_half(call: RightCall) -> Sequence[Array | None]:
    if call.number % RACE_PERIOD:
        return []
    return [np.where(np.arange(y.size).reshape(y.shape) < y.size // 2, y, 0.0) for y in call.results]


def _of_results(name: str) -> Callable[[RightCall], Sequence[Array | None]]:
    return lambda call: [wrong.get(name) for wrong in call.wrong]


_CLOSE = "torch.testing.assert_close(f({0}), reference({0}))"
_OF_GRADIENT = (
    "w = torch.randn_like(f(x)); "
    "torch.testing.assert_close(*(torch.autograd.grad((g(x) * w).sum(), x) for g in (f, reference)))"
)
#: All that an audit plants.
PLANTED = (
    *(PlantedDefect(name, results=_of_results(name)) for name in _OF_RESULTS),
    PlantedDefect("two inputs of the same shape exchanged", inputs=_exchange_inputs),
    PlantedDefect("inputs rounded to the 11 bits of f16 and TF32", inputs=_each_float(_make_coarse)),
    PlantedDefect(
        f"last columns of inputs not read, past a multiple of {TILE}",
        _CLOSE.format("torch.randn(3, 127)"),
        f"has an input whose last axis is longer than {TILE} and no multiple of it",
        inputs=_each_float(_lose_remainder),
    ),
    PlantedDefect(
        "strides of inputs ignored",
        "torch.testing.assert_close(f(x.mT.contiguous().mT), f(x))",
        "has an input that is not contiguous",
        inputs=lambda inputs: [x.packed for x in inputs],
    ),
    PlantedDefect(
        "NaN in inputs taken for 0",
        "x[0, 0] = torch.nan; torch.testing.assert_close(f(x), reference(x), equal_nan=True)",
        "has NaN in an input",
        inputs=_each_float(lambda x: np.where(np.isnan(x), 0.0, x)),
    ),
    PlantedDefect(
        f"NaN where an input is beyond {EXP_LIMIT:g}",
        _CLOSE.format("1000 * x"),
        f"has an input beyond {EXP_LIMIT:g}",
        results=_become_nan,
    ),
    PlantedDefect(
        "result of an earlier call",
        "f(x); " + _CLOSE.format("2 * x"),
        "calls it twice with other numbers of the same shapes",
        results=lambda call: list(call.first),
        remembers=True,
    ),
    PlantedDefect(
        f"a race: of {RACE_PERIOD} calls one loses half of its result",
        f"assert all(torch.equal(f(x), f(x)) for _ in range({2 * RACE_PERIOD}))",
        f"calls it {RACE_PERIOD} times",
        results=_lose_half,
        remembers=True,
    ),
    PlantedDefect(
        "its first input overwritten", "before = x.clone(); f(x); assert torch.equal(x, before)", overwrites=True
    ),
    PlantedDefect("gradients × 2", _OF_GRADIENT, gradient=lambda g: 2 * g),
    PlantedDefect("gradients × 1.01", _OF_GRADIENT, gradient=lambda g: 1.01 * g),
    PlantedDefect("gradients of the wrong sign", _OF_GRADIENT, gradient=np.negative),
    PlantedDefect("last 1/64 of columns of gradients missing", _OF_GRADIENT, gradient=lose_tail, of_input=-1),
    *(
        PlantedDefect(f"no gradient of input {i}", _OF_GRADIENT, gradient=np.zeros_like, of_input=i)
        for i in range(MAX_GRADIENTS)
    ),
)
