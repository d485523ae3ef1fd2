"""Cases of dsv4_hc_post: streams that are mixed and streams that stay, one and many, each input laid out in turn."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.reasons import PRODUCTS
from opproof.cases._rows.row import join


def _row(t: object, h: object, n: object, rest: str = "", *, comb: bool = True) -> str:
    mixed = f"comb={t}x{h}x{h}" if comb else ""
    return join(f"x={t}x{n};residual={t}x{h}x{n};post={t}x{h}", mixed, rest)


SMOKE = [_row(5, 4, 7), _row(5, 3, 7, comb=False)]
STANDARD = [
    _row(1, 1, 1),
    _row(5, 4, 31, "layout=transposed"),
    _row(5, 4, 33, "layout=transposed", comb=False),
    _row(5, 3, 32, "layout=permuted"),
    _row(4, 4, 9, "layout=x:sliced,post:sliced"),
    _row(4, 4, 9, "layout=residual:sliced,comb:sliced"),
    _row(4, 4, 9, "layout=comb:transposed"),
    _row(4, 2, 63, "layout=gapped"),
    _row(4, 4, 64, "layout=offset"),
    _row(5, 4, 9, "layout=x:broadcast,comb:broadcast"),
    _row(5, 4, 9, "layout=residual:broadcast,post:broadcast", comb=False),
    _row(5, 4, 9, "fill=wide"),
    _row(5, 4, 9, "fill=offset;f32,f16"),
    _row(5, 4, 9, "fill=zeros"),
    _row(5, 4, 9, "fill=small;f32,bf16"),
    _row(5, 4, 9, "fill=exact"),
    _row(5, 4, 9, "fill=signs;layout=transposed"),
    _row(5, 4, 9, "fill=special"),
    _row(5, 4, 9, "needs=x,post"),
    _row(5, 4, 9, "needs=residual"),
    _row(5, 4, 9, "needs=comb"),
    _row(0, 4, 5),
    _row(131, 4, 3),
    _row(2, 33, 5),
    _row(2, 4, 1031, "f16,bf16"),
    _row(3, 2, 4099, "f16,bf16", comb=False),
]
LAID = [_row(3, 4, 5, "layout=cropped"), _row(1, 1, 1, "layout=offset")]
ALIGNED = aligned(
    _row(16, 16, 64),
    _row(64, 16, 16),
    _row(32, 16, 128),
    _row(16, 16, 256, comb=False),
    _row(64, 32, 32),
    _row(16, 16, 48),
    _row(128, 16, 16),
)
LONG, LONGEST = lengths("!" + _row("{n}", 1, 2), _row(2, "{n}", 2, comb=False), _row(2, 2, "{n}"))
_SQUARE = Limit(0, "a matrix of streams by streams grows with the square of their number")
SHORT = {"comb.1": _SQUARE, "comb.2": _SQUARE}
FULL = [_row(2, 4, 12289), _row(65537, 2, 3)]
WITHOUT = PRODUCTS
