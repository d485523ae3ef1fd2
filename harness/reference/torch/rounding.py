"""Where single numbers round: Python's constants in float32, factors made of each other, parts of complex numbers.

0.9999 in float32 is 0.99989998, and what divides by its distance from 1 is off by 1.6e-4. A kernel that is given b
makes 1 - b in float32, with the roundoff of b, where a reference makes it in float64. Both are so in `Algorithm.OTHER`.
A product with a power of two rounds nothing; the parts of a complex product round by what its two terms amount to.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from opproof.harness.reference.torch.arithmetic import Algorithm, Arithmetic

#: Operations with such numbers, and where these stand.
_NUMBER_PLACES = {
    "add": (0, 1), "sub": (0, 1), "rsub": (0, 1), "clamp": (1, 2), "clamp_min": (1,), "clamp_max": (1,),
    "hardtanh": (1, 2), "threshold": (1, 2), "masked_fill": (2,), "where": (1, 2), "full": (1,), "full_like": (1,),
    "scalar_tensor": (0,),
}  # fmt: skip
_NUMBER_NAMES = ("min", "max", "value", "other", "fill_value")
#: Roundoffs of interior arithmetic that is no finer than float32.
_MAX_FINE_ROUNDOFF = 2.0**-30


def round_constant(
    noise: Arithmetic, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """The arguments of an operation; in the other way numbers that float32 has not have a roundoff of their own."""
    places = _NUMBER_PLACES.get(name)
    if places is None or noise.algorithm is not Algorithm.OTHER or noise.amplitudes is None or noise.scattered:
        return args, kwargs
    if noise.amplitudes.u < _MAX_FINE_ROUNDOFF:
        return args, kwargs
    moved = [_move_constant(noise, v) if i in places else v for i, v in enumerate(args)]
    return moved, {k: _move_constant(noise, v) if k in _NUMBER_NAMES else v for k, v in kwargs.items()}


def _move_constant(noise: Arithmetic, value: Any) -> Any:
    if not isinstance(value, float) or not math.isfinite(value) or noise.amplitudes is None or _is_float32(value):
        return value
    return value * (1 + noise.draw_once("in float32", value) * noise.amplitudes.summing)


def _is_float32(value: float) -> bool:
    try:
        return bool(struct.unpack("f", struct.pack("f", value))[0] == value)
    except OverflowError:
        return False


#: Operations with factors, and where these stand: by place and by name.
_FACTOR_PLACES = {"mul": (0, 1), "div": (1,), "lerp": (2,)}
_FACTOR_NAMES = {"add": "alpha", "sub": "alpha", "lerp": "weight", "addcmul": "value", "addcdiv": "value"}
#: Powers beyond are no step's number.
_MAX_STEP_POWER = 1 << 20


def takes_constants(name: str) -> bool:
    """Whether an operation may have numbers of Python's that have a roundoff."""
    return name in _NUMBER_PLACES or name in _FACTOR_PLACES or name in _FACTOR_NAMES


def made_of_others(
    noise: Arithmetic, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """The arguments of an operation; in the other way its factors have the roundoff of what they may be made of."""
    if name not in _FACTOR_PLACES and name not in _FACTOR_NAMES:
        return args, kwargs
    places = [i for i in _FACTOR_PLACES.get(name, ()) if i < len(args) and isinstance(args[i], float)]
    named = [k for k in (_FACTOR_NAMES.get(name, ""),) if isinstance(kwargs.get(k), float)]
    if noise.exact:
        found = [abs(v) for v in (*(args[i] for i in places), *(kwargs[k] for k in named))]
        noise.tape.factors.update(found if name != "lerp" else (*found, *(1 - v for v in found)))
    if noise.exact or noise.algorithm is not Algorithm.OTHER or noise.amplitudes is None or noise.scattered:
        return args, kwargs
    moved = [_move_factor(noise, v) if i in places else v for i, v in enumerate(args)]
    return moved, {k: _move_factor(noise, v) if k in named else v for k, v in kwargs.items()}


def _move_factor(noise: Arithmetic, factor: float) -> float:
    size = count_roundoffs(abs(factor), noise.tape.factors)
    if not size or noise.amplitudes is None:
        return factor
    return factor + math.copysign(size, factor) * noise.draw_once("of others", factor) * noise.amplitudes.interior


def count_roundoffs(factor: float, factors: Iterable[float]) -> float:
    """How many roundoffs of 1 `factor` has where it is made of the others; 0 where it is made of none.

    It is 1 - b, 1 - b^t, which has t b^t of them and one more, or the root of either.
    """
    for whole, slope in ((factor, 1.0), (factor * factor, 0.5 / factor if factor else 0.0)):
        power = 1 - whole
        if not 0 < power < 1:
            continue
        for b in factors:
            if not 0.5 < b < 1:
                continue
            steps = round(math.log(power) / math.log(b))
            if 1 <= steps <= _MAX_STEP_POWER and math.isclose(b**steps, power, rel_tol=1e-12):
                return slope * (steps * power + (steps > 1))
    return 0.0


#: The mantissa of a power of two.
_HALF = 0.5


def is_power_of_two(value: Any) -> bool:
    """Whether multiplying or dividing by a number of Python's rounds nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value == 0 or (math.isfinite(value) and abs(math.frexp(value)[0]) == _HALF)


def in_places(noise: Arithmetic, name: str, args: Sequence[Any], y: Any, rounded: Any) -> Any:
    """`rounded`, but `y` where the operation is exact.

    Inputs with noise are no powers of two; where they have none, x / scale is a half for everyone or nobody.
    """
    if noise.algorithm not in (Algorithm.GIVEN, Algorithm.FREE_BRANCHES) or not y.is_floating_point():
        return rounded
    torch = noise.torch
    exact = torch.zeros((), dtype=torch.bool)
    for factor in {"div": args[1:2], "mul": args[:2]}.get(name, ()):
        if hasattr(factor, "shape") and factor.is_floating_point():
            exact = exact | (torch.frexp(factor).mantissa.abs() == _HALF)
    if name == "exp2":
        exact = args[0] == args[0].round()
    return torch.where(exact, y, rounded) if bool(exact.any()) else rounded


#: What either part goes through alone, where at most one operand is complex, or both are added.
_BY_PART = frozenset(("add", "sub", "rsub", "mul", "div", "true_divide"))


def round_complex(noise: Arithmetic, name: str, args: Sequence[Any], y: Any) -> Any:
    """`y`, complex, rounded as the result of `name`."""
    if noise.exact or noise.scattered or not y.numel():
        return noise.rounded(y)
    whole = [v for v in args[:2] if isinstance(v, complex) or (hasattr(v, "is_complex") and v.is_complex())]
    if name in _BY_PART and (name in ("add", "sub", "rsub") or (len(whole) == 1 and args[0] is whole[0])):
        return noise.torch.complex(noise.rounded(y.real), noise.rounded(y.imag))
    if name != "mul" or not all(hasattr(v, "shape") for v in args[:2]):
        return noise.rounded(y)
    a, b = (v if v.is_complex() else v.to(y.dtype) for v in args[:2])
    delta = noise.amplitudes.interior if noise.amplitudes is not None else 0.0
    parts = []
    for part, one, other in ((y.real, a.real * b.real, a.imag * b.imag), (y.imag, a.real * b.imag, a.imag * b.real)):
        size = (one.square() + other.square()).sqrt()
        parts.append(noise.rounded(part + noise.drawn(part) * size * delta))
    return noise.torch.complex(*parts)
