"""Data from a case's id alone, the same on every machine, NumPy version and worker count.

Philox, a counter-based generator (Salmon et al., Parallel random numbers: as easy as 1, 2, 3,
2011), is keyed with a hash of the id and the tensor's name. Its raw bits are mapped to dyadic
rationals by integer arithmetic of our own, since NumPy may change its own mappings (NEP 19).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray

from opproof.cases import _limits
from opproof.cases._case import Case, Shape
from opproof.cases._definite import definite
from opproof.cases._every import EVERY, every, is_every
from opproof.cases._stored import is_stored, stored
from opproof.cases._uneven import OPPOSED, PADDED, SPECIAL_PAIRS, SPREAD, opposed, padded, special_pairs, spread
from opproof.cases._whole import WHOLE_FILLS, confined
from opproof.vocabulary.closed import Closed
from opproof.vocabulary.dtypes import DTYPES, Dtype, round_to
from opproof.vocabulary.errors import CaseError
from opproof.vocabulary.meant import meant
from opproof.vocabulary.whole import Whole

Floats = NDArray[np.float64]
Bits = Callable[[int], NDArray[np.uint64]]

#: The fill in which the bytes of quantised blocks run through all their values.
EVERY_BYTE = "every-byte"

#: The fill of rows whose exponentials overflow.
PAST_EXP = "past-exp"
#: Positive numbers, cotangents too: long sums only grow, and in 16 bits they stop growing.
GROWING = "growing"

#: The fill of tensors whose domain has its ends: targets of 0 and 1, weights and moments of 0, gates that are shut.
BRINK = "brink"

#: Magnitudes at which published bugs appear (exp overflow, saturation, softplus thresholds).
EXTREMES = (15.0, 50.0, 100.0, 1e4, 1e7)

#: Values that published bug reports pin, by the name of the report.
REPORTS: dict[str, tuple[float, ...]] = {
    # candle issue 2114: sigmoid's gradient is NaN at -548.3162.
    "candle-2114": (
        *(-548.3162, -201.7132, -74.2032, -27.2899, -10.0179, -3.6269, -1.1752, 0.0),
        *(1.1752, 3.6269, 10.0179, 27.2899, 74.2032, 201.7132, 548.3162),
    ),
}


class _Key(ISeedSequence):
    """A key for a generator: given as `key=`, it would have NumPy ask the system for entropy as well, for nothing."""

    def __init__(self, words: NDArray[np.uint64]) -> None:
        self.words = words

    def generate_state(self, n_words: int, dtype: Any = np.uint64) -> NDArray[np.uint64]:
        """The key itself; Philox asks for two words of 64 bits."""
        return self.words[:n_words].astype(dtype)


def bits_of(key: str) -> Bits:
    """A source of raw 64-bit words that depends on `key` alone."""
    words = np.frombuffer(hashlib.blake2b(key.encode(), digest_size=16).digest(), "<u8")
    generator = np.random.Philox(_Key(words.astype(np.uint64)))  # type: ignore[arg-type]  # what NumPy takes, it hides
    return lambda n: np.asarray(generator.random_raw(n), dtype=np.uint64) if n else np.zeros(0, np.uint64)


def draw(case: Case, constraints: Mapping[str, Any], variant: int = 0) -> dict[str, NDArray[Any]]:
    """Values of every tensor of `case`, each rounded to its dtype: float64, or int64 for index tensors.

    `constraints` maps a tensor's name to a `range` (integers), to (low, high) (floats strictly between), to Closed
    (floats between, on whose ends the fill "brink" sits), to "nonzero", to "definite" (symmetric matrices), to a Whole
    (whole numbers that are data), or to a function of raw bits and shape (the bytes of a quantised tensor).
    `variant` gives other data for the same case. An alias is the same array object.
    """
    if variant and case.fill in REPORTS:  # pinned values have no variants
        case = replace(case, fill="normal")
    values: dict[str, NDArray[Any]] = {}
    for name, shape in case.tensors:
        if isinstance(shape, str):
            values[name] = values[shape]
        else:
            values[name] = draw_tensor(case, name, shape, constraints.get(name), f"variant={variant}")
            if case.fill == "meet":
                values[name] = _meeting(case, values, name, f"variant={variant}")
    return values


def _meeting(case: Case, values: Mapping[str, NDArray[Any]], name: str, salt: str) -> NDArray[Any]:
    """The values of `name`, about half of them those of the first tensor in the same places, if it has its axes."""
    first, mine = values[case.tensors[0][0]], values[name]
    if mine is first or mine.dtype != first.dtype or first.shape[first.ndim - mine.ndim :] != mine.shape:
        return mine
    shared = first[(0,) * (first.ndim - mine.ndim)]
    same = _choice(bits_of(f"{case}|meet {name}|{salt}"), mine.shape, (0.0, 1.0)) != 0
    same.flat[:1] = True
    return np.where(same, shared, mine)


def draw_cotangent(case: Case, name: str, shape: Shape, variant: int = 0) -> Floats:
    """A random cotangent of O(1), never ones; whole or positive numbers where the case's fill is such."""
    fill = case.fill if case.fill in ("exact", "signs", GROWING, SPREAD) else "normal"
    bits = bits_of(f"{case}|cotangent {name}|variant={variant}")
    g = FILLS[fill](bits, shape, DTYPES[case.dtype])
    if is_every(case.fill):  # some derivatives are past the largest number, and times 0 they are no number
        g = np.where(g == 0, 0.5, g)
    return _array(round_to(g, DTYPES[case.dtype]), shape)


def draw_tensor(case: Case, name: str, shape: Shape, constraint: Any, salt: str) -> NDArray[Any]:
    """Values of one tensor. Raises CaseError for an unknown fill."""
    bits, dtype = bits_of(f"{case}|{name}|{salt}"), DTYPES[case.dtype_of(name)]
    if is_stored(case.fill):
        as_seen = not case.seed and salt == "variant=0"
        values = stored(case, name, shape, None if as_seen else np.argsort(bits(math.prod(shape)), kind="stable"))
        return _array(round_to(values, dtype), shape) if values.dtype.kind == "f" else values
    if isinstance(constraint, Whole) and not dtype.whole:
        constraint = constraint.allowed
    if isinstance(constraint, range):
        masks = case.fill == PADDED and constraint == range(2)
        return padded(bits, shape) if masks else _integers(bits, shape, constraint)
    if dtype.whole and not callable(constraint):
        return _whole(case, shape, constraint, bits)
    if callable(constraint):
        asked = {"every": True} if case.fill == EVERY_BYTE else {}
        drawn: NDArray[Any] = constraint(bits, shape, **asked)
        return drawn
    if case.fill == BRINK and isinstance(constraint, Closed):
        ordinary = _constrain(_normal(bits, shape, dtype), constraint)
        return _array(round_to(_limits.brink(bits, shape, *constraint, ordinary), dtype), shape)
    fill = "normal" if case.fill in OF_ONE and name != _one(case) else case.fill
    if fill in REPORTS:
        values = np.resize(np.array(REPORTS[fill]), shape)
    elif fill in FILLS:
        values = FILLS[fill](bits, shape, dtype)
        values = opposed(values, [n for n, _ in case.tensors].index(name)) if fill == OPPOSED else values
        if fill == SPECIAL_PAIRS:
            values = special_pairs(bits, shape, [n for n, _ in case.tensors].index(name))
    elif fill in WHOLE_FILLS:
        raise CaseError(f"fill {fill!r} draws whole numbers, and {case} is of floats: expected another one.")
    elif is_every(fill):
        in_order = name == case.tensors[0][0] and not case.seed and salt == "variant=0"
        values = every(fill, shape, dtype, None if in_order else bits)
    else:
        known = [*FILLS, EVERY, *REPORTS]
        hint = meant(case.fill, known)
        raise CaseError(f"unknown fill {case.fill!r} in {case}: expected one of {', '.join(known)}{hint}")
    if _alone(case, shape) and fill in _MODERATE:
        values = _MODERATE[fill](values)
    if constraint is not None and fill not in NOT_FINITE and not is_every(fill):
        values = _constrain(values, constraint)
    return _array(round_to(values, dtype), shape)


def _whole(case: Case, shape: Shape, constraint: Any, bits: Bits) -> Floats:
    """Whole numbers of the case's dtype. Raises CaseError for a fill that draws none."""
    if case.fill not in WHOLE_FILLS:
        known = ", ".join(WHOLE_FILLS)
        raise CaseError(f"fill {case.fill!r} draws no whole numbers in {case}: expected one of {known}.")
    dtype = DTYPES[case.dtype]
    values = WHOLE_FILLS[case.fill](bits, shape, dtype)
    if _alone(case, shape):  # see _MODERATE
        values = np.where(np.abs(values) < 2, 2.0, values)
    return _array(confined(values, constraint, dtype), shape)


def _one(case: Case) -> str:
    """The tensor that a fill of OF_ONE is about."""
    if case.fill == "far" and (added := {"mask", "attn_mask"} & set(case.shapes)):
        return min(added)
    return next((name for name, shape in case.shapes.items() if shape), case.tensors[0][0])


def draw_stored(case: Case, name: str, shape: Shape, constraint: Any, salt: str) -> NDArray[Any]:
    """What `draw_tensor` draws, in its own NumPy dtype; a large tensor a part at a time, where that can be."""
    dtype = DTYPES[case.dtype_of(name)].numpy
    whole = isinstance(constraint, range | Whole) or callable(constraint) or case.fill not in PIECEWISE
    whole = whole or DTYPES[case.dtype].whole or constraint == "definite"  # a matrix is no run of numbers
    if whole or math.prod(shape) <= PIECE:
        values = draw_tensor(case, name, shape, constraint, salt)
        return values.astype(dtype) if values.dtype.kind == "f" else values
    return _in_pieces(f"{case}|{name}|{salt}", shape, DTYPES[case.dtype_of(name)], case.fill, constraint)


def stored_cotangent(case: Case, name: str, shape: Shape, variant: int = 0) -> NDArray[Any]:
    """What `draw_cotangent` draws, in the case's own NumPy dtype, a part at a time."""
    fill = case.fill if case.fill in ("exact", "signs") else "normal"
    return _in_pieces(f"{case}|cotangent {name}|variant={variant}", shape, DTYPES[case.dtype], fill, None)


def _in_pieces(key: str, shape: Shape, dtype: Dtype, fill: str, constraint: Any) -> NDArray[Any]:
    bits = bits_of(key)
    flat = np.empty(math.prod(shape), dtype.numpy)
    for start in range(0, flat.size, PIECE):
        piece = flat[start : start + PIECE]
        values = FILLS[fill](bits, piece.shape, dtype)
        with np.errstate(all="ignore"):
            piece[...] = values if constraint is None else _constrain(values, constraint)
    return flat.reshape(shape)


def _array(values: Any, shape: Shape) -> Floats:
    """An array of its own, also of no axes, where NumPy's arithmetic makes a scalar."""
    return np.array(values, dtype=np.float64).reshape(shape)


def _integers(bits: Bits, shape: Shape, allowed: range) -> NDArray[np.int64]:
    raw = bits(math.prod(shape)) >> np.uint64(11)
    picked = (raw % np.uint64(max(len(allowed), 1))).astype(np.int64)
    if len(allowed) > 1 and picked.size > 1 and (picked == picked.flat[0]).all():
        picked.flat[0] = (picked.flat[0] + 1) % len(allowed)  # all alike, a mask would decide everything
    return (allowed.start + allowed.step * picked).reshape(shape)


def _alone(case: Case, shape: Shape) -> bool:
    """Whether a tensor of `shape` is one number beside larger tensors."""
    return math.prod(shape) == 1 and any(math.prod(s) > 1 for s in case.shapes.values())


#: One number beside many may decide them all, or change none (a factor of 1, a bound beyond the data): it is drawn so
#: that it cannot. Of magnitude 1/4 to 3/4; on the grid of ties; a whole number other than 0 and 1.
_MODERATE: dict[str, Callable[[Floats], Floats]] = {
    "normal": lambda v: np.copysign(np.abs(v) % 1 / 2 + 0.25, v),
    "kink": lambda v: np.copysign(0.5, v),
    "ties": lambda v: np.copysign(0.5, v),
    "halves": lambda v: np.copysign(0.5, v),
    "exact": lambda v: np.copysign(np.maximum(np.abs(v), 2.0), v),
    "signs": lambda v: np.full_like(v, -1.0),
}


def _constrain(values: Floats, constraint: Any) -> Floats:
    if isinstance(constraint, str):
        values = np.where(np.abs(values) < 2**-4, values + np.where(values < 0, -0.5, 0.5), values)
        return values if constraint == "nonzero" else definite(values)
    low, high = constraint
    if np.isinf(low) and np.isinf(high):
        return values
    if np.isinf(high):
        return low + np.maximum(np.abs(values - low), 2.0**-6)  # type: ignore[no-any-return]
    if np.isinf(low):
        return high - np.maximum(np.abs(values - high), 2.0**-6)  # type: ignore[no-any-return]
    return (low + high) / 2 + (high - low) / 2 * (values / (1 + np.abs(values)))  # type: ignore[no-any-return]


_FOUR = np.ones(4)


def _normal(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Sum of four 16-bit uniforms, a dyadic rational close to normal: |x| < 4, deviation 1.15."""
    quarters = bits(math.prod(shape)).astype("<u8", copy=False).view("<u2").reshape(-1, 4)
    total: Floats = quarters @ _FOUR  # whole numbers, which float64 adds without rounding
    return ((total - 131070) / 2**15).reshape(shape)


def _choice(bits: Bits, shape: Shape, values: tuple[float, ...] | NDArray[np.float64]) -> Floats:
    raw = bits(math.prod(shape)) >> np.uint64(11)
    picked: Floats = np.asarray(values)[(raw % np.uint64(len(values))).astype(np.int64)].reshape(shape)
    return picked


def _every(bits: Bits, shape: Shape, chosen: Floats, share: int, otherwise: Floats) -> Floats:
    """`chosen` at about one element in `share`, but at the first one always."""
    raw = bits(math.prod(shape)) >> np.uint64(11)
    mask = raw % np.uint64(share) == 0
    mask[:1] = True
    return np.where(mask.reshape(shape), chosen, otherwise)


def _extreme(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    sizes = [m for m in EXTREMES if m < dtype.max / 4]
    signed = _choice(bits, shape, tuple(s * m for m in sizes for s in (1, -1)))
    return _every(bits, shape, signed * (1 + _normal(bits, shape, dtype) / 64), 2, _normal(bits, shape, dtype))


def _special(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    odd = _choice(bits, shape, (np.nan, np.inf, -np.inf, 0.0, -0.0))
    values = _every(bits, shape, odd, 5, _normal(bits, shape, dtype))
    if values.size > 8 and not np.isnan(values).any():  # no case that asks for NaN is without one
        values.flat[values.size // 2] = np.nan
    return values


def _positive(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    return np.abs(_normal(bits, shape, dtype)) + 2**-4


def _with_zeros(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    return _every(bits, shape, np.zeros(shape), 2, _normal(bits, shape, dtype))


def _constant(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    rows = _normal(bits, (*shape[:-1], 1) if shape else (), dtype)
    return np.broadcast_to(rows, shape).copy()


def _close(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """1 and its neighbours in the dtype, of both signs: what any lower precision takes for equal."""
    return _choice(bits, shape, tuple(s * (1 + k * dtype.u) for s in (1, -1) for k in (-1, 0, 2)))


def _ties(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Few different numbers; two alike alone would hide which of them an answer has taken."""
    values = _choice(bits, shape, (-1.0, -0.5, 0.0, 0.5, 1.0))
    if values.size == 2 and values.flat[0] == values.flat[1]:
        values.flat[1] = 0.5 if values.flat[0] == 0 else 0.0
    return values


_GRID = np.arange(-12, 13) / 2

#: How values are drawn. Each takes raw bits, a shape and the dtype, and returns float64.
FILLS: dict[str, Callable[[Bits, Shape, Dtype], Floats]] = {
    "normal": _normal,
    "wide": lambda b, s, d: 6 * _normal(b, s, d),
    "offset": lambda b, s, d: 10 + _normal(b, s, d),
    "small": lambda b, s, d: _normal(b, s, d) / 2**10,
    "mixed": lambda b, s, d: _every(b, s, _normal(b, s, d) / 2**10, 2, _normal(b, s, d)),
    "positive": _positive,
    GROWING: _positive,
    "negative": lambda b, s, d: -np.abs(_normal(b, s, d)) - 2**-4,
    "extreme": _extreme,
    "special": _special,
    "zeros": _with_zeros,
    "ties": _ties,
    "halves": lambda b, s, d: _choice(b, s, _GRID),
    "constant": _constant,
    "kink": lambda b, s, d: _every(b, s, _choice(b, s, _GRID), 2, _normal(b, s, d)),
    "exact": lambda b, s, d: _choice(b, s, (-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0)),
    "signs": lambda b, s, d: _choice(b, s, (-1.0, 0.0, 1.0)),
    "subnormal": lambda b, s, d: _normal(b, s, d) * d.tiny,
    "tiny": lambda b, s, d: _every(b, s, np.zeros(s), 2, _normal(b, s, d) * d.tiny * 2**8),
    "close": _close,
    "special-rows": _limits.special_rows(_normal),
    "special-columns": _limits.along_first(_limits.special_rows(_normal)),
    "masked": _normal,
    "masked-special": _normal,
    "far": _limits.far,
    PAST_EXP: _limits.past_exp(_normal),
    "past-int32": lambda b, s, d: _every(b, s, _normal(b, s, d) * min(2.0**34, d.max / 8), 2, _normal(b, s, d)),
    "offset-1e3": _limits.about(1e3, _normal),
    "offset-1e4": _limits.about(1e4, _normal),
    "heavy": _limits.heavy(_normal),
    "least": _limits.least(_normal),
    "infinite": _limits.infinite(_normal),
    "branches": _limits.branches,
    "edges": lambda b, s, d: _every(b, s, _choice(b, s, _GRID), 2, _normal(b, s, d)),
    "meet": _normal,
    "lone": _limits.lone(_normal),
    OPPOSED: _normal,
    PADDED: _normal,
    SPREAD: spread(_normal),
    SPECIAL_PAIRS: _normal,
    BRINK: _with_zeros,
    EVERY_BYTE: _normal,
}

#: By fill, what stands where an operator's mask hides the elements that the fill drew.
HIDDEN: dict[str, Callable[[Bits, Shape, Dtype], Floats]] = {
    "masked": _limits.masked,
    "masked-special": _limits.masked_special,
}

#: Fills with NaN and infinities in place of numbers: constraints give way to them, and no gradient is asked for.
NOT_FINITE = frozenset({"special", "special-rows", "special-columns", SPECIAL_PAIRS})

#: By fill the dtypes of which no gradient is asked for: past exp a forward saves about 100, whose rounding alone is as
#: large as the gradient in bf16.
FORWARD_ALONE = {PAST_EXP: ("bf16",)}

#: Fills of one tensor, the first that has rows, or of "far" the mask that is added: the others are drawn as "normal".
OF_ONE = frozenset({"special-rows", "special-columns", "infinite", "far", PAST_EXP, "past-int32"})

#: Fills that sit on kinks and ties on purpose; all others keep a margin from them.
ON_KINKS = frozenset(
    NOT_FINITE
    | {"zeros", "ties", "halves", "constant", "kink", "exact", "signs", "subnormal", "tiny", "close"}
    | {"far", PAST_EXP, "past-int32", "offset-1e3", "offset-1e4", "heavy", "least"}
    | {"branches", "edges", "meet", "lone", BRINK}
)

#: Elements of a part of a large tensor, and the fills that take one raw word for each element, one after the other.
PIECE = 2**18
PIECEWISE = frozenset(
    {"normal", "wide", "offset", "small", "positive", "negative", "ties", "halves", "exact", "signs", "subnormal"}
)


def is_on_kinks(fill: str) -> bool:
    """Whether the fill may sit on kinks."""
    return fill in ON_KINKS or fill in REPORTS or is_every(fill) or is_stored(fill)
