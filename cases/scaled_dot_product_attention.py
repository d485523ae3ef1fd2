"""Cases of scaled_dot_product_attention: causal and masked with unequal lengths, heads in groups, caps, sinks,
rows that see nothing, head sizes around vector widths.
"""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.mixed import HALVES, mixed
from opproof.cases._rows.reasons import PRODUCTS, SCORES


def _qkv(
    n: int | str,
    heads: int | str,
    groups: int | str,
    q: int | str,
    k: int | str,
    e: int | str,
    f: int | str,
    rest: str = "",
    tensors: str = "",
) -> str:
    """A row: `tensors` stand behind query, key and value, then enable_gqa where heads are grouped, then `rest`."""
    shapes = f"query={n}x{heads}x{q}x{e};key={n}x{groups}x{k}x{e};value={n}x{groups}x{k}x{f}"
    gqa = "enable_gqa=true" if heads != groups else ""
    return ";".join(p for p in (shapes, tensors, gqa, rest) if p)


SMOKE = [_qkv(2, 4, 2, 5, 7, 9, 9, "is_causal=true")]
STANDARD = [
    "query=1x40x2x4;key=1x8x3x4;value=1x8x3x4;attn_mask=2x3;enable_gqa=true;max_bias=8.0",
    "query=2x3x5x8;key=2x3x9x8;value=2x3x9x7;attn_mask=2x1x5x9;scale=0.5;fill=far;f32",
    "query=2x4x4x9;key=2x2x9x9;value=2x2x9x7;enable_gqa=true;is_causal=true;fill=masked",
    "query=2x2x8x5;key=2x2x3x5;value=2x2x3x6;keep=2x1x1x3;fill=masked",
    "query=2x2x5x8;key=2x2x7x8;value=2x2x7x8;attn_mask=2x1x5x7;keep=5x7;fill=masked",
    "query=2x3x8x5;key=2x3x9x5;value=2x3x9x5;fill=special-rows",
    _qkv(1, 1, 1, 1, 1, 1, 1),
    _qkv(2, 3, 3, 5, 9, 63, 63),
    _qkv(2, 3, 3, 4, 7, 64, 64, "scale=0.3;layout=query:transposed"),
    _qkv(1, 2, 2, 9, 5, 65, 65, "is_causal=true;layout=key:transposed"),
    _qkv(2, 6, 2, 5, 8, 66, 66, "is_causal=true;layout=value:transposed"),
    _qkv(3, 4, 1, 8, 3, 9, 17, "is_causal=true;layout=permuted"),
    _qkv(2, 4, 2, 3, 6, 31, 5, "layout=sliced", "attn_mask=2x1x3x6"),
    _qkv(2, 6, 3, 5, 7, 8, 8, "max_bias=8.0;scale=0.5;layout=offset", "attn_mask=2x1x5x7"),
    _qkv(2, 3, 3, 5, 7, 8, 9, "max_bias=4.0;is_causal=true;layout=attn_mask:transposed", "attn_mask=5x7"),
    _qkv(2, 2, 2, 9, 2, 7, 7, "layout=gapped", "keep=2x1x9x2"),
    _qkv(2, 4, 2, 8, 3, 7, 6, "layout=keep:transposed", "keep=8x3"),
    _qkv(2, 4, 2, 9, 2, 6, 7, "", "attn_mask=9x2;keep=2x1x9x2"),
    _qkv(2, 6, 3, 4, 5, 9, 7, "softcap=3.0;scale=1.0"),
    _qkv(2, 2, 2, 4, 6, 9, 9, "softcap=20.0;is_causal=true;fill=wide"),
    _qkv(2, 4, 2, 5, 6, 9, 9, "is_causal=true", "sinks=4,"),
    _qkv(2, 3, 3, 7, 2, 9, 5, "softcap=5.0;max_bias=8.0", "attn_mask=2x1x7x2;keep=7x2;sinks=3,"),
    _qkv(2, 2, 2, 4, 5, 17, 17, "fill=wide;scale=0.05"),
    _qkv(2, 2, 2, 4, 5, 17, 17, "fill=offset;scale=0.01;f32,f16"),
    _qkv(2, 2, 2, 4, 5, 17, 17, "fill=constant"),
    _qkv(2, 2, 2, 4, 5, 9, 9, "layout=key:broadcast,value:broadcast"),
    _qkv(2, 4, 2, 4, 5, 9, 9, "needs=key", "attn_mask=4x5"),
    _qkv(2, 4, 2, 4, 5, 9, 9, "needs=query,value"),
    _qkv(2, 2, 2, 1, 33, 32, 32),
    _qkv(1, 4, 2, 1, 256, 64, 64),
    _qkv(2, 4, 2, 3, 257, 32, 32, "fill=padded", "keep=2x1x3x257"),
    _qkv(2, 4, 2, 3, 257, 32, 32, "fill=padded", "attn_mask=2x1x3x257"),
    _qkv(2, 4, 2, 3, 37, 16, 16, "fill=opposed;f32,bf16"),
    _qkv(2, 4, 2, 3, 37, 16, 16, "fill=agreed"),
    _qkv(2, 4, 2, 7, 37, 16, 16, "fill=truths", "keep=7x37"),
    _qkv(2, 2, 2, 5, 9, 8, 7, "fill=truths", "attn_mask=2x1x5x9;keep=2x1x5x9"),
    _qkv(1, 2, 2, 33, 32, 8, 8, "is_causal=true"),
    _qkv(2, 2, 2, 3, 1, 9, 9),
    _qkv(0, 2, 2, 3, 4, 9, 9),
    _qkv(1, 2, 1, 3, 257, 96, 96, "f32,f16"),
    _qkv(1, 1, 1, 2, 1031, 9, 9, "f32"),
    _qkv(1, 2, 2, 7, 257, 16, 16, "fill=wide;f32"),  # maxima that rise from block to block
    "query=2x2x3x9;key=2x2x5x9;value=2x2x5x7;fill=zeros",
    "query=1x1x2x4;key=1x1x1031x4;value=1x1x1031x3;f16,bf16",
    "query=2x3x4x9;key=2x3x7x9;value=2x3x7x5;attn_mask=2x1x4x7;keep=4x7;sinks=3,;softcap=5.0;max_bias=8.0;layout=query:broadcast,attn_mask:broadcast,keep:broadcast,sinks:sliced",
    "query=2x3x4x9;key=2x3x7x9;value=2x3x7x5;attn_mask=2x1x4x7;keep=4x7;sinks=3,;softcap=5.0;max_bias=8.0;layout=attn_mask:gapped,keep:sliced,sinks:offset",
    "query=2x4x9x6;key=2x2x2x6;value=2x2x2x7;attn_mask=9x2;keep=2x1x9x2;enable_gqa=true;layout=keep:offset",
    "query=1x1x2x8;key=1x1x4099x8;value=1x1x4099x8;f32",
    "query=1x1x4099x2;key=1x1x3x2;value=1x1x3x2;fill=growing;f16,bf16",
    "query=2x5x3x5;key=2x5x4x5;value=2x5x4x5;sinks=5,",
    # Two features without a third: a kernel may forget one in the branch of the other.
    _qkv(2, 4, 2, 4, 33, 9, 7, "softcap=5.0", "keep=4x33"),
    _qkv(2, 3, 3, 5, 31, 7, 6, "scale=1.0", "keep=2x1x5x31"),
    _qkv(2, 4, 2, 3, 6, 9, 9, "softcap=2.0", "attn_mask=2x1x3x6"),
    _qkv(2, 3, 3, 4, 6, 5, 9, "softcap=1.0", "sinks=3,"),
    _qkv(2, 4, 4, 5, 3, 6, 6, "scale=1.0", "sinks=4,"),
]
MIXED = mixed(
    "key,value",
    HALVES,
    "query=2x4x5x32;key=2x2x7x32;value=2x2x7x32;enable_gqa=true",
    "query=1x2x3x64;key=1x2x33x64;value=1x2x33x64",
    "query=2x3x4x9;key=2x3x5x9;value=2x3x5x7;layout=key:transposed",
    "query=1x2x1x128;key=1x1x9x128;value=1x1x9x128;enable_gqa=true;fill=wide;scale=0.05",
)
LAID = [
    _qkv(2, 4, 2, 3, 5, 6, 7, "layout=cropped", "attn_mask=2x1x3x5;keep=2x1x3x5"),
    _qkv(1, 1, 1, 1, 3, 1, 1, "layout=query:offset"),
    _qkv(1, 1, 1, 3, 1, 1, 1, "layout=key:offset,value:offset"),
    _qkv(1, 1, 1, 1, 1, 5, 5, "layout=attn_mask:offset,keep:offset,sinks:offset", "attn_mask=1x1;keep=1x1;sinks=1,"),
]
ALIGNED = aligned(
    _qkv(1, 8, 1, 64, 128, 64, 64, "is_causal=true"),
    _qkv(1, 4, 4, 64, 64, 64, 64),
    _qkv(2, 2, 2, 64, 128, 128, 128, "is_causal=true"),
    _qkv(1, 2, 2, 64, 64, 256, 256),
    _qkv(1, 8, 1, 64, 64, 64, 64),
    _qkv(1, 32, 8, 16, 64, 64, 64, "is_causal=true"),
    _qkv(2, 4, 2, 64, 128, 64, 64, "", "attn_mask=64x128"),
    _qkv(2, 2, 2, 64, 128, 64, 64, "", "keep=2x1x64x128"),
    _qkv(1, 8, 1, 1, 128, 128, 128),
    _qkv(2, 4, 2, 16, 128, 64, 64, "is_causal=true", "attn_mask=16x128;keep=2x1x16x128;sinks=4,"),
    _qkv(1, 2, 2, 128, 128, 64, 64, "is_causal=true"),
)
LONG, LONGEST = lengths(
    _qkv("{n}", 1, 1, 1, 2, 2, 2, "", "attn_mask={n}x1x1x2;keep={n}x1x1x2"),
    "!" + _qkv(1, "{n}", "{n}", 1, 2, 2, 2, "", "sinks={n},"),
    _qkv(1, 1, 1, "{n}", 3, 2, 2, "", "attn_mask={n}x3;keep={n}x3"),
    _qkv(1, 1, 1, 2, 3, "{n}", 2),
    _qkv(1, 1, 1, 2, 3, 2, "{n}"),
    _qkv(1, 1, 1, 2, "{n}", 2, 2, "", "attn_mask=2x{n};keep=2x{n}"),
)
SHAPES = [
    "query=2x3x5x8;key=2x3x7x8;value=2x3x7x8;attn_mask=1x3x5x7",
    "query=2x3x5x8;key=2x3x7x8;value=2x3x7x8;attn_mask=2x3x5x7",
    "query=1x2x150x16;key=1x2x150x16;value=1x2x150x16;is_causal=true",
    "query=1x2x70x16;key=1x2x150x16;value=1x2x150x16;is_causal=true;f32",
    # one query, as decoding has it: more keys than a block has threads, whole blocks of none; usual sizes of heads
    "query=1x3x1x64;key=1x1x1031x64;value=1x1x1031x64;enable_gqa=true;f32",
    "query=1x2x1x80;key=1x2x515x80;value=1x2x515x80;keep=1x1x1x515;f32,f16",
    "query=2x2x1x128;key=2x1x263x128;value=2x1x263x128;enable_gqa=true;f32,bf16",
    # slices of one tensor, by the size of a head; more batches than a grid has, in 16 bits
    *(_qkv(1, 2, 2, 5, 7, e, e, "f16,bf16;layout=gapped") for e in (64, 96, 128, 192, 256)),
    _qkv(65537, 1, 1, 1, 2, 1, 1, "f16"),
]
FULL = [_qkv(1, 2, 1, 2, 12289, 8, 8), _qkv(1, 1, 1, 65537, 3, 4, 4)]
WITHOUT = {**PRODUCTS, **SCORES}
PAIRED = [
    "query=2x4x5x9;key=2x2x7x9;value=2x2x7x6;enable_gqa=true;is_causal=true;scale=0.25",
    "query=2x4x5x9;key=2x2x7x9;value=2x2x7x6;enable_gqa=true;scale=0.25;softcap=5.0;max_bias=8.0",
]
