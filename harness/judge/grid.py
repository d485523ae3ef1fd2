"""Whether an answer lies on a grid that its dtype has no need of: rounded to fewer digits on the way.

A float16 kernel that keeps something in bfloat16 is off by no more than the noise of declared 16-bit intermediates
allows. But all its numbers end in three zero bits, which those of an honest one do once in 8 to the power of their
number. Where fewer digits are declared, noise is as large as the grid's step, and nothing tells.
"""

from __future__ import annotations

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import Dtype

#: Zero bits at the end of every number that are no chance: what float16 has more than bfloat16.
_ZERO_BITS = 3
#: Different numbers that are expected off the grid, and answered on it.
_TELLING = 16
#: An element tells where its noise is below this share of the grid's step. What cancels k bits lies on a grid of 2^k
#: for good reason: noise, a whole unit of what is stored, is half such a step there at least.
_FINE = 1 / 4


def fewer_digits(given: Array, values: Array, scale: Array, kind: Dtype) -> int:
    """How many digits the answer's numbers have at most, where that is no chance; 0 where they may have all of `kind`.

    `given` and `values`, what is expected, are float64 and flat; `scale` is in units of u(kind).
    """
    zeros = _zero_bits(given, kind)
    tells = zeros >= _ZERO_BITS and _count_off(values, scale, kind, zeros) >= _TELLING
    return kind.digits - zeros if tells else 0


def _zero_bits(values: Array, kind: Dtype) -> int:
    """At the end of every number's digits, the least of all; 0 where no number is told apart from 0."""
    normal = np.abs(values[np.abs(values) >= kind.tiny])
    digits = (np.frexp(normal)[0] * 2.0**kind.digits).astype(np.int64)
    every = int(np.bitwise_or.reduce(digits))
    return (every & -every).bit_length() - 1 if every else 0


def _count_off(values: Array, scale: Array, kind: Dtype, zeros: int) -> int:
    """How many different numbers are expected a quarter of a step and more off the grid, with noise that is less."""
    with np.errstate(all="ignore"):
        step = np.ldexp(2.0**zeros * kind.u, np.frexp(values)[1])
        off = np.abs(values - np.rint(values / step) * step)
        tells = (np.abs(values) >= kind.tiny) & (off >= step / 4) & (scale * kind.u <= _FINE * step)
    return int(np.unique(values[tells]).size)
