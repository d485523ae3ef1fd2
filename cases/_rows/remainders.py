"""Rows of fmod and remainder.

In 16 bits most rows ask for a's gradient alone: the gradient of b multiplies by a whole quotient, and a / b
rounded to 16 bits is another integer too often for an honest implementation to be told by it. Both are asked for
in rows of few elements, where inputs can keep their distance: none of their quotients is another when it is rounded.
"""

from __future__ import annotations

from opproof.cases._rows.elementwise import binary
from opproof.cases._rows.row import join

_EXTRA = (
    "a=4x33;b=4x33;fill=halves",
    "a=2x3x9;b=3x9;fill=halves;layout=a:transposed",
    "a=6x13;b=6x13;fill=offset",
    "a=6x13;b=6x13;needs=b",
    "a=3,;b=1031x3",
)

#: Both gradients in 16 bits, in every layout.
IN_16_BITS = tuple(
    f"{row};f16,bf16"
    for row in (
        "a=4x5;b=4x5;layout=transposed",
        "a=2x3x4;b=2x3x4;layout=permuted",
        "a=3x7;b=3x7;layout=sliced",
        "a=3x9;b=3x9;layout=gapped",
        "a=2x3x5;b=2x3x5;layout=cropped",
        "a=4x7;b=4x7;layout=offset",
        "a=3x5;b=3x5;layout=a:broadcast",
        "a=5x4;b=5x4;layout=b:broadcast",
        "a=6x3;b=6x3;layout=a:sliced",
        "a=5x3;b=5x3;layout=b:gapped",
        "a=3x8;b=3x8;needs=b",
        "a=65x5;b=65x1;needs=b",  # so many sums that what they are made of shows, rounded
    )
)


def remainders() -> list[str]:
    """STANDARD rows; a tensor's remainder by itself is zero and shows nothing."""
    shared = [row for row in binary(drop=("extreme", "small")) if "@a" not in row]
    long = [join(row, "needs=a") for row in shared if "1031" in row]  # some quotient of so many is nearly whole
    rows = [*(row for row in shared if "1031" not in row), *_EXTRA]
    short = [join(row, "f16,bf16", "needs=a") for row in rows if "needs=" not in row]
    return [*(join(row, "f32") for row in rows), *short, *long]
