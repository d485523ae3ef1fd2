"""Cases of lbfgs_direction: one pair and several, few parameters and many, each tensor laid out in turn."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.reasons import PRODUCTS


def _row(n: int | str, m: int, rest: str = "") -> str:
    row = f"grad={n},;steps={m}x{n};changes={m}x{n}"
    return f"{row};{rest}" if rest else row


SMOKE = [_row(33, 3)]
STANDARD = [
    _row(9, 1),
    _row(65, 2, "fill=wide"),
    _row(31, 5, "layout=transposed"),
    _row(17, 3, "layout=sliced"),
    _row(64, 4, "layout=gapped"),
    _row(32, 2, "layout=offset"),
    _row(63, 3, "layout=steps:broadcast"),
    _row(63, 3, "layout=changes:broadcast"),
    _row(97, 6, "layout=changes:transposed"),
    _row(33, 2, "fill=zeros"),
    _row(0, 2),
    _row(4099, 2, "f16,bf16"),
]
LAID = [_row(1, 1, "layout=offset"), _row(5, 1, "layout=steps:offset")]
ALIGNED = aligned(
    _row(64, 1), _row(128, 16), _row(256, 1), _row(64, 1), _row(128, 1), _row(256, 16), _row(192, 1), _row(512, 16)
)
LONG, LONGEST = lengths("!" + _row("{n}", 2))
_PAIRS = Limit(0, "two times as many sums follow one another, and of the last no digit is certain")
SHORT = {"steps.0": _PAIRS, "changes.0": _PAIRS}
FULL = [_row(65537, 3)]
WITHOUT = {
    **PRODUCTS,
    "leading": "it has at most two axes",
    "NaN, inf": "a number that is special is so in every sum, and in the whole direction",
}
