"""Cases of varlen_attention: one sequence and many, empty ones, more keys than queries and fewer, heads in groups."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.reasons import PRODUCTS
from opproof.cases._rows.row import BETWEEN


def _qkv(
    cuts: int | str, heads: int | str, groups: int | str, q: int | str, k: int | str, e: int | str, f: int | str,
    rest: str = "",
) -> str:  # fmt: skip
    row = f"query={q}x{heads}x{e};key={k}x{groups}x{e};value={k}x{groups}x{f}"
    row += f";cu_seqlens_q={cuts},;cu_seqlens_k={cuts},"
    return f"{row};{rest}" if rest else row


SMOKE = [_qkv(4, 4, 2, 17, 19, 9, 9), _qkv(3, 2, 2, 15, 22, 8, 8, "causal=true")]
STANDARD = [
    _qkv(3, 4, 2, 14, 17, 9, 7, "causal=true;scale=0.25"),
    _qkv(2, 1, 1, 3, 5, 1, 1),
    _qkv(5, 3, 3, 25, 33, 33, 33, "causal=true"),
    _qkv(4, 3, 1, 14, 17, 64, 64, "scale=0.3;layout=transposed"),
    _qkv(3, 4, 2, 9, 25, 9, 7, "causal=true;layout=permuted"),
    _qkv(9, 4, 2, 13, 16, 31, 5, "layout=sliced"),
    _qkv(4, 6, 3, 15, 17, 8, 8, "causal=true;layout=offset"),
    _qkv(3, 2, 2, 19, 15, 7, 7, "layout=gapped"),
    _qkv(4, 4, 2, 18, 21, 7, 6, "causal=true;layout=key:transposed"),
    _qkv(3, 2, 2, 14, 15, 17, 17, "fill=wide;scale=0.05"),
    _qkv(3, 2, 2, 14, 15, 9, 9, "layout=key:broadcast"),
    _qkv(3, 2, 2, 14, 15, 9, 9, "layout=value:broadcast"),
    _qkv(3, 2, 2, 14, 16, 9, 9, "causal=true;layout=query:broadcast"),
    _qkv(4, 4, 2, 14, 15, 9, 9, "causal=true;needs=key"),
    _qkv(4, 4, 2, 14, 15, 9, 9, "needs=query,value"),
    _qkv(3, 2, 2, 0, 4, 9, 9),
    _qkv(6, 2, 1, 33, 97, 16, 16, "causal=true"),
    _qkv(2, 1, 1, 2, 1031, 4, 3, "f16,bf16"),
    _qkv(3, 2, 2, 14, 17, 9, 7, "fill=zeros"),
    _qkv(3, 2, 2, 15, 17, 9, 7, f"scale={BETWEEN};f16,bf16"),
    "query=9x4x16;key=37x2x16;value=37x2x16;cu_seqlens_q=3,;cu_seqlens_k=3,;fill=opposed;f32,bf16",
    _qkv(3, 4, 2, 9, 37, 16, 16, "fill=agreed"),
]
LAID = [
    _qkv(3, 4, 2, 13, 15, 6, 7, "layout=cropped"),
    _qkv(2, 1, 1, 1, 3, 1, 1, "layout=query:offset"),
    _qkv(2, 1, 1, 3, 1, 1, 1, "layout=key:offset,value:offset"),
]
ALIGNED = aligned(
    _qkv(3, 4, 2, 64, 128, 64, 64, "causal=true"),
    _qkv(4, 4, 4, 96, 64, 64, 64),
    _qkv(2, 2, 1, 64, 64, 128, 128, "causal=true"),
    _qkv(3, 4, 2, 64, 80, 64, 64),
    _qkv(3, 8, 2, 48, 64, 64, 64, "causal=true"),
    _qkv(3, 2, 2, 32, 32, 32, 32, "causal=true"),
    _qkv(5, 4, 2, 64, 128, 128, 128),
)
LONG, LONGEST = lengths(
    "!" + _qkv("{n}", 1, 1, 5, 6, 2, 2),
    "!" + _qkv(3, 1, 1, "{n}", 3, 2, 2),
    "!" + _qkv(3, 1, 1, 3, "{n}", 2, 2, "causal=true"),
    _qkv(2, "{n}", "{n}", 1, 2, 2, 2),
    _qkv(2, 1, 1, 2, 3, "{n}", 2),
    _qkv(2, 1, 1, 2, 3, 2, "{n}"),
)
FULL = [_qkv(2, 2, 1, 2, 12289, 8, 8), _qkv(3, 1, 1, 65537, 3, 4, 4)]
WITHOUT = {**PRODUCTS, "NaN, inf": "a kernel of tiles multiplies other sequences by zeros, which makes NaN of infinity"}
