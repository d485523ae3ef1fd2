"""Cases of dsv4_hc_pre: weights of a stream and gates of each number, one stream and many, each laid out in turn."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.reasons import PRODUCTS
from opproof.cases._rows.row import join


def _row(t: object, h: object, n: object, rest: str = "", *, gate: bool = False) -> str:
    return join(f"x={t}x{h}x{n}", f"pre={t}x{h}x{n}" if gate else f"pre={t}x{h}", rest)


SMOKE = [_row(5, 4, 7), _row(5, 4, 7, "scale=0.5", gate=True)]
STANDARD = [
    _row(1, 1, 1),
    _row(5, 4, 31, "layout=transposed"),
    _row(5, 4, 33, "layout=transposed;scale=2.5", gate=True),
    _row(5, 3, 32, "layout=permuted", gate=True),
    _row(4, 4, 9, "layout=x:sliced"),
    _row(4, 4, 9, "layout=pre:sliced"),
    _row(4, 2, 63, "layout=gapped", gate=True),
    _row(4, 4, 64, "layout=offset"),
    _row(5, 4, 9, "layout=x:broadcast"),
    _row(5, 4, 9, "layout=pre:broadcast", gate=True),
    _row(5, 4, 9, "fill=wide"),
    _row(5, 4, 9, "fill=wide", gate=True),
    _row(5, 4, 9, "fill=offset"),
    _row(5, 4, 9, "fill=negative", gate=True),
    _row(5, 4, 9, "fill=zeros"),
    _row(5, 4, 9, "fill=small;f32,bf16"),
    _row(5, 4, 9, "fill=special"),
    _row(5, 4, 9, "needs=x", gate=True),
    _row(5, 4, 9, "needs=pre", gate=True),
    _row(5, 4, 9, "needs=pre"),
    _row(0, 4, 5),
    _row(3, 1031, 4, "f16,bf16"),
    _row(131, 4, 3),
    _row(2, 4, 1031),
]
LAID = [_row(3, 4, 5, "layout=cropped"), _row(1, 1, 1, "layout=offset"), _row(1, 1, 5, "layout=pre:offset")]
ALIGNED = aligned(
    _row(16, 16, 64),
    _row(64, 16, 16),
    _row(32, 16, 128, gate=True),
    _row(16, 16, 256),
    _row(64, 32, 32, gate=True),
    _row(16, 16, 48),
    _row(128, 16, 16),
)
LONG, LONGEST = lengths(
    _row("{n}", 2, 2), _row(2, "{n}", 2), _row(2, 2, "{n}"), _row("{n}", 1, 2, gate=True), _row(1, 2, "{n}", gate=True)
)
FULL = [_row(2, 4, 12289), _row(65537, 2, 3, gate=True)]
WITHOUT = PRODUCTS
