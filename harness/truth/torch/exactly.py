"""Where what rounds as a rule rounds nothing: a product with a power of two, a power of two with a whole exponent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from opproof.harness.truth.torch.arithmetic import Arithmetic, Way

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
    if noise.way not in (Way.GIVEN, Way.ANEW) or not y.is_floating_point():
        return rounded
    torch = noise.torch
    exact = torch.zeros((), dtype=torch.bool)
    for factor in {"div": args[1:2], "mul": args[:2]}.get(name, ()):
        if hasattr(factor, "shape") and factor.is_floating_point():
            exact = exact | (torch.frexp(factor).mantissa.abs() == _HALF)
    if name == "exp2":
        exact = args[0] == args[0].round()
    return torch.where(exact, y, rounded) if bool(exact.any()) else rounded
