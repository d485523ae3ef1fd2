"""Rows of fmod and remainder.

In 16 bits only a's gradient is asked for: the gradient of b multiplies by a whole quotient, and a / b
rounded to 16 bits is another whole number too often for an honest implementation to be told by it.
"""

from __future__ import annotations

from opproof.cases._rows import binary, join

_EXTRA = (
    "a=4x33;b=4x33;fill=halves",
    "a=2x3x9;b=3x9;fill=halves;layout=a:transposed",
    "a=6x13;b=6x13;fill=offset",
    "a=6x13;b=6x13;needs=b",
    "a=3,;b=1031x3",
)


def remainders() -> list[str]:
    """STANDARD rows; a tensor's remainder by itself is zero and shows nothing."""
    shared = [row for row in binary(drop=("extreme", "small")) if "@a" not in row]
    long = [join(row, "needs=a") for row in shared if "1031" in row]  # some quotient of so many is nearly whole
    rows = [*(row for row in shared if "1031" not in row), *_EXTRA]
    short = [join(row, "f16,bf16", "needs=a") for row in rows if "needs=" not in row]
    return [*(join(row, "f32") for row in rows), *short, *long]
