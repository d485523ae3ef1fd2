"""Cases of topk_moe: one expert, several and all, both gates, renormalised and not, ties, the routers of models."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.row import BETWEEN

SMOKE = ["logits=7x9;k=3", "logits=7x33;k=4;gating=sigmoid;scale=2.5"]
STANDARD = [
    "logits=9x7;k=3;fill=edges",
    "logits=5x31;k=2;renormalize=false;fill=wide",
    "logits=3x32;k=32;renormalize=false;layout=offset",
    "logits=5x65;k=8;layout=transposed",
    "logits=3x33;k=8;scale=0.5;layout=sliced",
    "logits=6x8;k=7;gating=sigmoid;renormalize=false;layout=gapped",
    "logits=5x64;k=6;gating=sigmoid;layout=broadcast",
    "logits=9x8;k=2;fill=negative",
    "logits=9x6;k=4;renormalize=false;fill=positive;layout=sliced",
    "logits=4x1;k=1;renormalize=false",
    "logits=0x5;k=2",
    "logits=3x129;k=3;scale=-1.5",
    "logits=2x256;k=8;gating=sigmoid",
    "logits=7x33;k=9;fill=ties",
    "logits=6x9;k=5;gating=sigmoid;fill=kink",
    "logits=5x66;k=40;fill=zeros",
    f"logits=271x5;k=4;scale={8 * BETWEEN};f16,bf16",
    "logits=9x32;k=4",
    "logits=5x257;k=9;fill=ties",
    "logits=9x129;k=4;fill=past-exp",
    "logits=9x33;k=3;renormalize=false;fill=past-exp",
]
LAID = ["logits=1x1;k=1;renormalize=false;layout=offset"]
ALIGNED = aligned(
    "logits=16x64;k=16",
    "logits=64x128;k=8",
    "logits=32x128;k=8",
    "logits=16x256;k=8;gating=sigmoid",
    "logits=48x64;k=6",
    "logits=32x64;k=2;renormalize=false",
    "logits=16x16;k=2",
    "logits=32x32;k=4;renormalize=false",
)
LONG, LONGEST = lengths("logits={n}x3;k=2", "logits=2x{n};k=3", dtype="f32")
SHAPES = [
    "logits=1031x67;k=5;f32",
]
FULL = ["logits=2x12289;k=33;f32", "logits=65537x3;k=2;f32"]
WITHOUT = {
    "leading": "it has two axes",
    "extreme": "scores of small logits vanish, and which of equal scores are chosen is left open",
    "NaN, inf": "scores are NaN for a whole row, and which of them are chosen is left open",
    "special rows": "scores are NaN for a whole row, and which of them are chosen is left open",
}
PAIRED = [
    "logits=7x33;k=4;renormalize=false;scale=2.5",
    "logits=7x33;k=4;gating=sigmoid;renormalize=false;scale=0.5",
    "logits=5x128;k=8;renormalize=false",
    "logits=5x128;k=8;gating=sigmoid",
]
