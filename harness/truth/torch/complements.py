"""Factors that another honest way makes of each other: 1 - 0.999 in float32 is off by 1.3e-5 of 0.001.

Moving averages m = b m + (1 - b) g, and their corrections by 1 - b^t, have factors that a reference computes in
float64, as Python does. A kernel that is given b makes them in float32, where 1 - b has the roundoff of b. Where a
reference multiplies by b and by 1 - b, or divides by 1 - b^t or its root, these have that roundoff in `Way.OTHER`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from opproof.harness.truth.torch.arithmetic import Arithmetic, Way

#: Operations with factors, and where these stand: by place and by name.
_PLACES = {"mul": (0, 1), "div": (1,), "lerp": (2,)}
_NAMES = {"add": "alpha", "sub": "alpha", "lerp": "weight", "addcmul": "value", "addcdiv": "value"}
#: Powers beyond are no step's number.
_STEPS = 1 << 20


def made_of_others(
    noise: Arithmetic, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """The arguments of an operation; in the other way its factors have the roundoff of what they may be made of."""
    if name not in _PLACES and name not in _NAMES:
        return args, kwargs
    places = [i for i in _PLACES.get(name, ()) if i < len(args) and isinstance(args[i], float)]
    named = [k for k in (_NAMES.get(name, ""),) if isinstance(kwargs.get(k), float)]
    if noise.exact:
        found = [abs(v) for v in (*(args[i] for i in places), *(kwargs[k] for k in named))]
        noise.tape.factors.update(found if name != "lerp" else (*found, *(1 - v for v in found)))
    if noise.exact or noise.way is not Way.OTHER or noise.amplitudes is None or noise.scattered:
        return args, kwargs
    moved = [_moved(noise, v) if i in places else v for i, v in enumerate(args)]
    return moved, {k: _moved(noise, v) if k in named else v for k, v in kwargs.items()}


def _moved(noise: Arithmetic, factor: float) -> float:
    size = roundoffs(abs(factor), noise.tape.factors)
    if not size or noise.amplitudes is None:
        return factor
    return factor + math.copysign(size, factor) * noise.drawn_once("of others", factor) * noise.amplitudes.interior


def roundoffs(factor: float, factors: Iterable[float]) -> float:
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
            if 1 <= steps <= _STEPS and math.isclose(b**steps, power, rel_tol=1e-12):
                return slope * (steps * power + (steps > 1))
    return 0.0
