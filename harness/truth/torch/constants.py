"""Python's numbers that become elements, or stand beside them in a sum: 0.9999 in float32 is 0.99989998.

The nearest number of float32 is as far from 1 as 0.9999 is but for 1.6e-4 of it, and what divides by the distance has
that error. A reference in float64 has it not, and no noise of a result shows it: the number itself is off, by the same
roundoff wherever it stands. In `Way.OTHER` it is.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from opproof.harness.truth.torch.arithmetic import Arithmetic, Way

#: Operations with such numbers, and where these stand.
_PLACES = {
    "add": (0, 1), "sub": (0, 1), "rsub": (0, 1), "clamp": (1, 2), "clamp_min": (1,), "clamp_max": (1,),
    "hardtanh": (1, 2), "threshold": (1, 2), "masked_fill": (2,), "where": (1, 2), "full": (1,), "full_like": (1,),
    "scalar_tensor": (0,),
}  # fmt: skip
_NAMES = ("min", "max", "value", "other", "fill_value")
#: Roundoffs of interior arithmetic that is no finer than float32.
_COARSE = 2.0**-30


def rounded(
    noise: Arithmetic, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """The arguments of an operation; in the other way numbers that float32 has not have a roundoff of their own."""
    places = _PLACES.get(name)
    if places is None or noise.way is not Way.OTHER or noise.amplitudes is None or noise.scattered:
        return args, kwargs
    if noise.amplitudes.u < _COARSE:
        return args, kwargs
    moved = [_moved(noise, v) if i in places else v for i, v in enumerate(args)]
    return moved, {k: _moved(noise, v) if k in _NAMES else v for k, v in kwargs.items()}


def _moved(noise: Arithmetic, value: Any) -> Any:
    if not isinstance(value, float) or not math.isfinite(value) or noise.amplitudes is None or _single(value):
        return value
    return value * (1 + noise.drawn_once("in float32", value) * noise.amplitudes.summing)


def _single(value: float) -> bool:
    """Whether float32 has the number."""
    try:
        return bool(struct.unpack("f", struct.pack("f", value))[0] == value)
    except OverflowError:
        return False
