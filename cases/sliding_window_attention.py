"""Cases of sliding_window_attention: windows of one key to all, more keys than queries and fewer, heads in groups."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.reasons import PRODUCTS
from opproof.cases._rows.row import BETWEEN


def _qkv(
    n: int | str, heads: int | str, groups: int | str, q: int | str, k: int | str, e: int | str, f: int | str,
    rest: str = "",
) -> str:  # fmt: skip
    row = f"query={n}x{heads}x{q}x{e};key={n}x{groups}x{k}x{e};value={n}x{groups}x{k}x{f}"
    return f"{row};{rest}" if rest else row


SMOKE = [_qkv(2, 4, 2, 5, 7, 9, 9), _qkv(2, 2, 2, 5, 9, 8, 8, "left=2")]
STANDARD = [
    _qkv(1, 1, 1, 3, 5, 1, 1),
    _qkv(2, 3, 3, 5, 9, 33, 33, "left=3;right=1"),
    _qkv(2, 3, 1, 4, 7, 64, 64, "scale=0.3;left=0;layout=transposed"),
    _qkv(2, 4, 2, 9, 5, 9, 7, "layout=permuted"),
    _qkv(2, 4, 2, 3, 6, 31, 5, "left=1;right=-1;layout=sliced"),
    _qkv(2, 6, 3, 5, 7, 8, 8, "left=4;layout=offset"),
    _qkv(2, 2, 2, 9, 5, 7, 7, "left=2;right=2;layout=gapped"),
    _qkv(3, 4, 2, 8, 11, 7, 6, "left=3;layout=key:transposed"),
    _qkv(2, 2, 2, 4, 5, 17, 17, "fill=wide;scale=0.05"),
    _qkv(2, 2, 2, 4, 5, 9, 9, "left=2;layout=key:broadcast,value:broadcast"),
    _qkv(2, 2, 2, 4, 6, 9, 9, "left=2;layout=query:broadcast"),
    _qkv(2, 4, 2, 4, 5, 9, 9, "left=2;needs=key"),
    _qkv(2, 4, 2, 4, 5, 9, 9, "needs=query,value"),
    _qkv(1, 2, 2, 1, 33, 32, 32, "left=7"),
    _qkv(0, 2, 2, 3, 4, 9, 9),
    _qkv(1, 2, 1, 3, 97, 16, 16, "left=31"),
    _qkv(1, 1, 1, 2, 1031, 4, 3, "f16,bf16"),
    _qkv(2, 2, 2, 4, 7, 9, 7, "left=3;fill=zeros"),
    _qkv(2, 2, 2, 5, 7, 9, 7, f"scale={BETWEEN};left=3;f16,bf16"),
    "query=1x4x1x64;key=1x2x256x64;value=1x2x256x64",
    "query=2x4x3x16;key=2x2x37x16;value=2x2x37x16;fill=opposed;f32,bf16",
    _qkv(2, 4, 2, 5, 37, 16, 16, "left=20;fill=agreed"),
]
LAID = [
    _qkv(2, 4, 2, 3, 5, 6, 7, "left=2;layout=cropped"),
    _qkv(1, 1, 1, 1, 3, 1, 1, "layout=query:offset"),
    _qkv(1, 1, 1, 3, 1, 1, 1, "right=-1;layout=key:offset,value:offset"),
]
ALIGNED = aligned(
    _qkv(1, 8, 1, 64, 128, 64, 64, "left=31"),
    _qkv(1, 4, 4, 64, 64, 64, 64),
    _qkv(2, 2, 2, 64, 128, 128, 128, "left=63"),
    _qkv(1, 2, 2, 64, 64, 64, 64, "left=15;right=16"),
    _qkv(1, 8, 2, 64, 64, 64, 64, "left=127"),
    _qkv(1, 4, 1, 16, 64, 64, 64, "left=15"),
    _qkv(2, 4, 2, 64, 128, 64, 64),
)
LONG, LONGEST = lengths(
    _qkv("{n}", 1, 1, 1, 2, 2, 2),
    _qkv(1, "{n}", "{n}", 1, 2, 2, 2),
    "!" + _qkv(1, 1, 1, "{n}", 3, 2, 2),
    _qkv(1, 1, 1, 2, 3, "{n}", 2),
    _qkv(1, 1, 1, 2, 3, 2, "{n}"),
    _qkv(1, 1, 1, 2, "{n}", 2, 2, "left=600"),
)
FULL = [_qkv(1, 2, 1, 2, 12289, 8, 8), _qkv(1, 1, 1, 65537, 3, 4, 4)]
WITHOUT = {
    **PRODUCTS,
    "NaN, inf": "a kernel of tiles multiplies what is beyond the window by zeros, which makes NaN of infinity",
}
PAIRED = [
    "query=2x3x5x9;key=2x3x9x9;value=2x3x9x9;left=3;right=1;scale=0.25",
]
