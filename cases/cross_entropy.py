"""Cases of cross_entropy: reductions, weights, an ignored class, smoothing, probabilities, spatial axes."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths

SMOKE = ["x=7x33;target=7,", "x=7x33;target=7x33"]
STANDARD = [
    "x=9x33;target=9,;reduction=none;fill=far;f32",
    "x=9x33;target=9,;reduction=none;fill=farther;f32",
    "x=9x33;target=9x33;reduction=none;fill=far;f32",
    "x=9x4;target=9,;ignore_index=2;reduction=none;fill=masked",
    "x=2x5x7;target=2x7;weight=5,;ignore_index=1;fill=masked",
    "x=9x4;target=9,;ignore_index=2;reduction=none;fill=masked-special",
    "x=2x5x7;target=2x7;weight=5,;ignore_index=1;fill=masked-special",
    "x=25x7;target=25,;reduction=none;fill=special-rows",
    "x=25x7;target=25x7;reduction=none;fill=special-rows",
    *(
        f"x={n}x{c};target={n},;reduction={r}{rest}"
        for n, c, r, rest in (
            (1, 5, "mean", ""),
            (5, 1, "sum", ""),
            (6, 9, "none", ";fill=wide"),
            (3, 31, "none", ";layout=x:transposed"),
            (4, 32, "sum", ";layout=offset"),
            (33, 3, "mean", ";fill=wide;layout=sliced"),
            (5, 65, "mean", ";layout=gapped"),
            (5, 63, "none", ";layout=x:broadcast"),
            (8, 11, "none", ";fill=extreme"),
            (8, 12, "mean", ";fill=offset"),
            (4, 13, "sum", ";fill=small"),
            (4, 7, "mean", ";fill=constant"),
            (4, 14, "sum", ";fill=ties"),
            (130, 10, "mean", ""),
            (9, 257, "none", ""),
            (2, 1031, "sum", ";f32"),
        )
    ),
    "x=5,;target=0d;label_smoothing=0.1",
    "x=6x9;target=6,;weight=9,",
    "x=6x9;target=6,;weight=9,;label_smoothing=0.2;reduction=sum",
    "x=9x4;target=9,;ignore_index=2",
    "x=9x4;target=9,;weight=4,;ignore_index=1;label_smoothing=0.1;layout=x:transposed",
    "x=9x4;target=9,;ignore_index=0;reduction=none",
    "x=9x4;target=9,;reduction=none;layout=target:offset",
    "x=7x33;target=7,;label_smoothing=0.1;reduction=none;fill=wide",
    "x=2x5x7;target=2x7;weight=5,",
    "x=2x3x4x7;target=2x4x7;ignore_index=1;reduction=sum;layout=permuted",
    "x=2x3x4x7;target=2x4x7;weight=3,;label_smoothing=0.3;reduction=none",
    "x=6x9;target=6x9;reduction=none;fill=wide",
    "x=6x9;target=6x9;weight=9,;layout=target:transposed",
    "x=6x9;target=6x9;label_smoothing=0.1;reduction=sum;needs=target",
    "x=2x5x7;target=2x5x7;weight=5,;label_smoothing=0.2;layout=x:transposed",
    "x=5,;target=5,;reduction=sum",
    "x=33x9;target=33,;weight=9,;fill=brink",
    "x=33x9;target=33x9;weight=9,;reduction=none;fill=brink",
    "x=8x11;target=8x11;reduction=none;fill=extreme",
    "x=0x5;target=0,;reduction=sum",
    "x=1031x3;target=1031,;reduction=sum;f16,bf16",
    "x=6x9;target=6,;weight=9,;layout=target:broadcast,weight:sliced",
    "x=2x5x7;target=2x7;weight=5,;layout=target:gapped,weight:offset",
    "x=1037x3;target=1037,;weight=3,;reduction=none;layout=sliced",
    "x=6x9;target=6,;weight=9,;reduction=sum;layout=weight:sliced",
    "x=65x3;target=65,;reduction=none;fill=special",
    "x=2x4099;target=2,;reduction=sum;f32",
    "x=8x11;target=8,;reduction=none;fill=negative",
    "x=9x257;target=9,;reduction=none;fill=past-exp",
    "x=9x9;target=9,;weight=9,",
    "x=2x5x5;target=2x5;weight=5,",
]
LAID = [
    "x=2x5x3x4;target=2x3x4;reduction=none;layout=cropped",
    "x=2x5x3x4;target=2x5x3x4;reduction=sum;layout=cropped",
    "x=5,;target=0d;reduction=sum;layout=target:offset",
    "x=4x1;target=4,;weight=1,;reduction=sum;layout=weight:offset",
]
ALIGNED = aligned(
    "x=16x64;target=16,;reduction=sum",
    "x=64x128;target=64,;weight=128,;reduction=none",
    "x=32x128;target=32,;reduction=none",
    "x=16x256;target=16x256;reduction=sum",
    "x=48x64;target=48,;reduction=none",
    "x=16x64;target=16,;label_smoothing=0.1;reduction=sum",
    "x=2x64x16;target=2x16;reduction=sum",
    "x=16x1024;target=16,;reduction=sum;f16,f32",
    "x=16x4096;target=16,;reduction=sum;f16,bf16",
)
LONG, LONGEST = lengths(
    "!x={n}x3;target={n},;weight=3,;reduction=sum",
    "x={n}x3;target={n}x3;reduction=sum",
    "x=2x{n};target=2,;weight={n},;reduction=sum",
    dtype="f32",
)
SHAPES = [
    "x=1031x67;target=1031,;f32",
    "x=7x2;target=7,;reduction=none",
    "x=3x1031;target=3,;weight=1031,;reduction=none",
    "x=5x1031;target=5,;weight=1031,;f32",
    "x=9x16391;target=9,;reduction=none;fill=crest;f32",
    # targets that are no class, and ignored
    "x=9x4;target=9,;ignore_index=-1",
    "x=9x4;target=9,;weight=4,;ignore_index=-1;label_smoothing=0.1",
    "x=2x5x7;target=2x7;ignore_index=-1;reduction=none",
]
FULL = ["x=2x12289;target=2,;reduction=none", "x=65537x3;target=65537,;reduction=sum"]
PAIRED = [
    "x=9x7;target=9,;ignore_index=1;label_smoothing=0.2",
    "x=9x7;target=9,;ignore_index=1;label_smoothing=0.2;reduction=sum",
]
WITHOUT = {"growing": "weights of classes have no gradient"}
