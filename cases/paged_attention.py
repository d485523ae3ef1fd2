"""Cases of paged_attention: blocks shared and never used, the last one in part, unused slots that hold anything."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.reasons import PRODUCTS
from opproof.cases._rows.row import BETWEEN


def _row(
    n: int | str, heads: int | str, groups: int | str, blocks: int | str, slots: int | str, most: int | str,
    e: int | str, f: int | str, rest: str = "",
) -> str:  # fmt: skip
    row = f"query={n}x{heads}x{e};key_cache={blocks}x{slots}x{groups}x{e};value_cache={blocks}x{slots}x{groups}x{f}"
    row += f";block_tables={n}x{most};context_lens={n},"
    return f"{row};{rest}" if rest else row


SMOKE = [_row(3, 4, 2, 9, 4, 3, 8, 8), _row(2, 2, 2, 5, 3, 2, 9, 7, "scale=0.5")]
STANDARD = [
    _row(3, 4, 2, 9, 4, 3, 8, 8, "fill=masked"),
    _row(3, 2, 1, 11, 5, 2, 7, 9, "fill=masked-special"),
    _row(1, 1, 1, 1, 1, 1, 1, 1),
    _row(5, 3, 3, 6, 2, 4, 33, 33),
    _row(2, 3, 1, 7, 4, 3, 64, 64, "scale=0.3;layout=transposed"),
    _row(4, 4, 2, 5, 3, 2, 9, 7, "layout=permuted"),
    _row(3, 4, 2, 6, 4, 3, 31, 5, "layout=sliced"),
    _row(3, 4, 2, 6, 4, 3, 16, 16, "fill=opposed;f32,bf16"),
    _row(3, 4, 2, 6, 4, 3, 16, 16, "fill=agreed"),
    _row(2, 6, 3, 7, 3, 3, 8, 8, "layout=offset"),
    _row(3, 2, 2, 5, 4, 3, 7, 7, "layout=gapped"),
    _row(3, 4, 2, 5, 4, 3, 7, 6, "layout=key_cache:permuted"),
    _row(3, 2, 2, 5, 4, 3, 17, 17, "fill=wide;scale=0.05"),
    _row(3, 2, 2, 5, 4, 3, 9, 9, "layout=key_cache:broadcast"),
    _row(3, 2, 2, 5, 4, 3, 9, 9, "layout=value_cache:broadcast"),
    _row(4, 2, 2, 5, 4, 3, 9, 9, "layout=query:broadcast,block_tables:broadcast"),
    _row(4, 2, 2, 5, 4, 3, 9, 9, "layout=context_lens:sliced,block_tables:gapped"),
    _row(3, 4, 2, 5, 4, 3, 9, 9, "needs=key_cache"),
    _row(3, 4, 2, 5, 4, 3, 9, 9, "needs=query,value_cache"),
    _row(0, 2, 2, 3, 4, 2, 9, 9),
    _row(33, 2, 1, 97, 2, 3, 4, 4),
    _row(3, 2, 2, 5, 4, 3, 9, 7, "fill=zeros"),
    _row(3, 2, 2, 5, 4, 3, 9, 7, f"scale={BETWEEN};f16,bf16"),
]
LAID = [
    _row(3, 4, 2, 5, 4, 3, 6, 7, "layout=cropped"),
    _row(1, 1, 1, 2, 2, 1, 1, 1, "layout=query:offset,block_tables:offset,context_lens:offset"),
    _row(2, 1, 1, 1, 1, 3, 1, 1, "layout=key_cache:offset,value_cache:offset"),
]
ALIGNED = aligned(
    _row(4, 8, 2, 16, 16, 4, 64, 64),
    _row(3, 4, 4, 8, 16, 4, 64, 64),
    _row(2, 8, 1, 12, 16, 5, 128, 128),
    _row(4, 4, 2, 9, 32, 2, 64, 64),
    _row(3, 8, 2, 16, 16, 3, 64, 64),
    _row(3, 4, 2, 8, 8, 4, 32, 32),
    _row(2, 4, 2, 8, 16, 4, 64, 64),
)
LONG, LONGEST = lengths(
    "!" + _row("{n}", 1, 1, 3, 2, 1, 2, 2),
    _row(1, "{n}", "{n}", 2, 1, 2, 2, 2),
    "!" + _row(2, 1, 1, "{n}", 1, 3, 2, 2),
    _row(2, 1, 1, 2, "{n}", 1, 2, 2),
    _row(2, 1, 1, 60, 2, "{n}", 2, 2),  # of few blocks a key is read thousands of times, and its one rounding is too
    _row(2, 1, 1, 2, 3, 2, "{n}", 2),
    _row(2, 1, 1, 2, 3, 2, 2, "{n}"),
)
FULL = [_row(2, 2, 1, 5, 12289, 1, 4, 4), _row(65537, 1, 1, 9, 2, 2, 2, 2)]
WITHOUT = {
    **PRODUCTS,
    "NaN, inf": "a kernel of tiles multiplies slots out of use by zeros, which makes NaN of infinity",
}
