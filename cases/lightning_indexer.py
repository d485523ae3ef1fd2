"""Cases of lightning_indexer: one head and many, with a mask and without, each input laid out in turn."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.reasons import PRODUCTS
from opproof.cases._rows.row import join


def _row(n: object, t: object, h: object, s: object, d: object, rest: str = "", *, mask: bool = True) -> str:
    masked = f"mask={n}x{t}x{s}" if mask else ""
    return join(f"q={n}x{t}x{h}x{d};k={n}x{s}x{d};head_weights={n}x{t}x{h}", masked, rest)


SMOKE = [_row(2, 3, 4, 5, 7), _row(1, 4, 3, 6, 8, mask=False)]
STANDARD = [
    _row(1, 1, 1, 1, 1),
    _row(2, 5, 3, 31, 32, "layout=transposed"),
    _row(2, 4, 3, 9, 33, "layout=permuted", mask=False),
    _row(2, 3, 4, 7, 5, "layout=q:sliced"),
    _row(2, 3, 4, 7, 5, "layout=k:sliced,head_weights:sliced,mask:sliced"),
    _row(2, 3, 4, 7, 5, "layout=k:transposed,head_weights:transposed", mask=False),
    _row(2, 3, 2, 8, 63, "layout=gapped"),
    _row(2, 3, 2, 8, 9, "layout=offset"),
    _row(2, 3, 4, 7, 5, "layout=q:broadcast,mask:broadcast"),
    _row(2, 3, 4, 7, 5, "layout=k:broadcast,head_weights:broadcast", mask=False),
    _row(2, 3, 4, 7, 5, "fill=wide"),
    _row(2, 3, 4, 7, 5, "fill=offset;f32,f16"),
    _row(2, 3, 4, 7, 5, "fill=negative", mask=False),
    _row(2, 3, 4, 7, 33, "fill=zeros"),
    _row(2, 3, 4, 7, 5, "fill=small;f32,bf16"),
    _row(2, 3, 4, 7, 5, "fill=exact;needs=head_weights", mask=False),
    _row(2, 3, 4, 7, 5, "fill=signs;needs=head_weights,mask"),
    _row(2, 3, 4, 7, 5, "needs=q"),
    _row(2, 3, 4, 7, 5, "needs=k,mask"),
    _row(2, 3, 4, 7, 5, "needs=head_weights"),
    _row(0, 3, 2, 4, 5),
    _row(1, 2, 3, 1031, 4),
    _row(1, 131, 2, 3, 5, mask=False),
    _row(1, 3, 65, 5, 4),
    _row(1, 2, 2, 3, 4099, "f16,bf16"),
]
LAID = [_row(2, 3, 4, 5, 6, "layout=cropped"), _row(1, 1, 1, 1, 1, "layout=offset")]
ALIGNED = aligned(
    _row(2, 16, 16, 16, 64),
    _row(1, 16, 16, 64, 128),
    _row(1, 32, 16, 16, 32),
    _row(1, 16, 64, 32, 16),
    _row(2, 16, 16, 48, 32, mask=False),
    _row(1, 16, 32, 16, 64),
    _row(1, 48, 16, 16, 16),
)
LONG, LONGEST = lengths(
    _row("{n}", 1, 1, 2, 2),
    "!" + _row(1, "{n}", 1, 2, 2),
    _row(1, 1, "{n}", 1, 2, mask=False),
    _row(1, 2, 1, "{n}", 2),
    _row(1, 3, 1, 5, "{n}", mask=False),
)
FULL = [_row(1, 3, 4, 12289, 2), _row(65537, 1, 1, 2, 3)]
WITHOUT = {**PRODUCTS, "NaN, inf": "at NaN max(x, 0) has two definitions"}
