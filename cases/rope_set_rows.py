"""Cases of rope_set_rows: both pairings, partial rotation, rows out of order, one row written, all of them."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.row import BETWEEN


def _row(rows: int | str, tokens: int | str, heads: int | str, d: int | str, rest: str) -> str:
    return f"cache={rows}x{heads}x{d};x={tokens}x{heads}x{d};positions={tokens},;indices={tokens},;{rest}"


SMOKE = [_row(9, 5, 3, 12, "n_dims=8"), _row(9, 5, 3, 12, "n_dims=12;mode=neox")]
STANDARD = [
    _row(9, 5, 3, 34, "n_dims=34;inplace=cache"),
    _row(7, 4, 2, 24, "n_dims=20;mode=neox;layout=cache:permuted;inplace=cache"),
    _row(9, 5, 3, 32, "n_dims=32;layout=transposed"),
    _row(9, 5, 3, 34, "n_dims=32;fill=wide;layout=sliced"),
    _row(7, 4, 2, 66, "n_dims=20;mode=neox;layout=permuted"),
    _row(9, 6, 3, 64, "n_dims=64;mode=neox;layout=gapped"),
    _row(8, 3, 4, 10, "n_dims=6;freq_base=500.0;layout=offset"),
    _row(5, 4, 2, 10, "n_dims=10;layout=cache:broadcast"),
    _row(9, 4, 2, 10, "n_dims=10;layout=x:broadcast"),
    _row(9, 4, 2, 10, "n_dims=10;layout=x:transposed"),
    _row(9, 4, 2, 16, "n_dims=16;freq_base=1000000.0;mode=neox;f32"),
    _row(9, 4, 2, 10, "n_dims=6;needs=x"),
    _row(9, 4, 2, 10, "n_dims=6;needs=cache"),
    _row(7, 4, 2, 10, "n_dims=6;fill=extreme"),
    _row(7, 4, 2, 10, "n_dims=10;fill=zeros"),
    _row(7, 5, 3, 12, "n_dims=8;fill=special"),
    _row(6, 6, 1, 4, "n_dims=4"),
    _row(6, 3, 0, 8, "n_dims=8"),
    _row(130, 97, 1, 4, "n_dims=4"),
    _row(9, 6, 3, 12, f"n_dims=12;freq_base={80 * BETWEEN};f16,bf16"),
    _row(4099, 66, 2, 10, "n_dims=10;f32,f16,bf16"),
    _row(9, 4, 2, 16, "n_dims=16;freq_base=1000000.0;f16,bf16"),
]
LAID = [
    _row(5, 4, 3, 8, "n_dims=8;layout=cropped"),
    _row(5, 1, 2, 4, "n_dims=4;layout=positions:offset,indices:offset"),
]
ALIGNED = aligned(
    _row(32, 16, 4, 64, "n_dims=64"),
    _row(16, 8, 4, 64, "n_dims=64;mode=neox"),
    _row(9, 4, 2, 128, "n_dims=128"),
    _row(9, 4, 3, 128, "n_dims=128;mode=neox"),
    _row(8, 4, 3, 64, "n_dims=32;mode=neox"),
    _row(8, 4, 2, 256, "n_dims=256;mode=neox"),
    _row(9, 4, 3, 64, "n_dims=64"),
    _row(8, 5, 2, 64, "n_dims=64;mode=neox"),
)
LONG, LONGEST = lengths(
    _row("{n}", 3, 1, 2, "n_dims=2"),
    "!" + _row("{n}", "{n}", 1, 2, "n_dims=2"),
    _row(3, 2, "{n}", 2, "n_dims=2"),
    _row(3, 2, 1, "{n}", "n_dims=2"),
)
FULL = [_row(65537, 300, 1, 2, "n_dims=2"), _row(3, 2, 1, 12290, "n_dims=12288")]
