"""Cases of window: every kind, periodic and not, one place, two and three, lengths even and odd."""

from itertools import cycle

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.row import join

_KINDS = (
    "kind=hann",
    "kind=hamming;p=0.54",
    f"kind=hamming;p={25 / 46}",
    "kind=blackman;periodic=true",
    "kind=nuttall",
    "kind=bartlett;periodic=true",
    "kind=cosine",
    "kind=exponential;p=3.0",
    "kind=gaussian;p=7.0;periodic=true",
    "kind=kaiser;p=12.0",
    "kind=cosines;p=(0.5,0.25,0.25);periodic=true",
)
_SHAPES = (
    ("5x31", "layout=transposed"),
    ("3x32", "layout=offset"),
    ("2x3x65", "layout=permuted"),
    ("4x33", "layout=sliced"),
    ("4x128", "layout=gapped"),
    ("5x63", "layout=broadcast"),
    ("9,", ""),
    ("3x97", "fill=wide"),
    ("3x30", "fill=offset"),
    ("3x64", "fill=extreme"),
    ("3x12", "fill=small;f32,bf16"),
    ("3x12", "fill=zeros"),
    ("5x22", "fill=special"),
    ("3x1", ""),
    ("3x2", ""),
    ("3x3", ""),
    ("0x4", ""),
    ("2x1031", ""),
    ("2x4099", "f32"),
    ("2x3x2x5x3x4", "f32;layout=permuted"),
)


def _in_turn(*rows: str) -> list[str]:
    return [join(row, kind) for row, kind in zip(rows, cycle(_KINDS))]


SMOKE = ["x=3x16", "x=3x15;kind=hamming;p=0.54;periodic=true"]
STANDARD = [
    *(f"x=3x{n};{kind}" for kind in _KINDS for n in (16, 17)),
    *(
        f"x=3x16;{kind.replace(';periodic=true', '') if 'periodic' in kind else f'{kind};periodic=true'}"
        for kind in _KINDS
    ),
    *_in_turn(*(join(f"x={shape}", rest) for shape, rest in _SHAPES)),
]
LAID = ["x=2x3x5;layout=cropped", "x=1x2;kind=cosine;layout=offset"]
ALIGNED = aligned(*_in_turn("x=16x64", "x=64x128", "x=32x128", "x=16x256", "x=2x16x64", "x=48x64", "x=16x1024"))
LONG, LONGEST = lengths("x={n}x5;kind=hamming;p=0.54", "x=2x{n};kind=gaussian;p=9000.0;f32", "x=1x{n};f32")
FULL = ["x=2x12289;kind=kaiser;p=9.0", "x=65537x3;kind=cosine"]
