"""Cases of scaled_mm: every type of codes, scales for the whole, for every row, and one of each."""

from itertools import cycle

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import ONE_AXIS, lengths
from opproof.cases._rows.reasons import PRODUCTS
from opproof.cases._rows.shapes import of_one_row

_TYPES = ("f8e4m3", "f8e5m2", "i8", "u8")


def _row(m: int | str, k: int | str, n: int | str, kind: str, scales: str = "rows", rest: str = "") -> str:
    """Scales: of rows, of the whole ("whole"), or of the rows of a or b alone."""
    left = f"{m}," if scales in ("rows", "a") else "0d"
    right = f"{n}," if scales in ("rows", "b") else "0d"
    parts = (f"a={m}x{k}", f"b={n}x{k}", f"scale_a={left}", f"scale_b={right}", f"type={kind}", rest)
    return ";".join(p for p in parts if p)


_LAYOUTS = ("transposed", "sliced", "gapped", "offset")
_turns = cycle(_TYPES)

SMOKE = [_row(3, 32, 5, "f8e4m3"), _row(3, 32, 5, "i8", "whole")]
STANDARD = [
    *(_row(7, 33, 5, kind, scales) for kind in _TYPES for scales in ("rows", "whole")),
    *(_row(5, 64, 9, next(_turns), scales, "fill=wide") for scales in ("a", "b")),
    *(_row(3, 8, 256, kind, "rows", "f32,bf16;fill=every-byte") for kind in _TYPES),
    *(_row(6, 33, 9, next(_turns), "rows", f"layout={layout}") for layout in _LAYOUTS),
    *(_row(6, 33, 9, next(_turns), "rows", f"layout={name}:sliced") for name in ("a", "b", "scale_a")),
    *(_row(6, 33, 9, next(_turns), "rows", f"layout={n}:broadcast") for n in ("a", "b", "scale_a", "scale_b")),
    _row(6, 33, 9, "i8", "rows", "layout=b:transposed"),
    _row(31, 128, 65, "f8e4m3", "rows", "fill=offset"),
    _row(4, 17, 3, "i8", "rows", "fill=zeros"),
    _row(4, 17, 3, "f8e4m3", "rows", "fill=small;f32,bf16"),
    _row(4, 17, 3, "u8", "rows", "needs=scale_a"),
    _row(4, 17, 3, "f8e5m2", "whole", "needs=scale_b"),
    _row(0, 17, 3, "i8"),
    _row(3, 0, 4, "f8e4m3"),
    _row(1, 1, 1, "f8e4m3", "whole"),
    _row(2, 4128, 3, "f8e4m3"),
    _row(2, 4128, 3, "i8", "whole"),
    _row(33, 2, 1, "i8"),
    _row(9, 33, 9, "f8e4m3", "a"),
    _row(9, 33, 9, "i8", "b"),
]
LAID = [
    _row(4, 5, 6, "f8e4m3", "rows", "layout=cropped"),
    "a=1x1;b=3x1;scale_a=0d;scale_b=0d;type=i8;layout=offset",
    "a=1x1;b=1x1;scale_a=1,;scale_b=1,;type=i8;layout=offset",
]
ALIGNED = aligned(
    _row(64, 64, 64, "f8e4m3"),
    _row(64, 128, 64, "i8"),
    _row(16, 256, 32, "f8e4m3", "whole"),
    _row(32, 256, 16, "f8e5m2"),
    _row(64, 64, 64, "u8", "whole"),
    _row(16, 128, 16, "f8e4m3"),
    _row(48, 64, 64, "i8"),
    _row(64, 64, 128, "f8e4m3"),
)
LONG, LONGEST = lengths(
    "!" + _row("{n}", 2, 3, "f8e4m3"),
    _row(1, "{n}", 2, "i8"),
    _row(2, 2, "{n}", "f8e4m3"),
)
SHORT = {f"scale_{m}.first": ONE_AXIS for m in "ab"}
FULL = [_row(8, 12289, 4, "i8"), _row(65537, 3, 2, "f8e4m3")]
WITHOUT = {
    **PRODUCTS,
    "leading": "both are matrices, without a batch",
    "NaN, inf": "a scale that is special decides a whole row or all, and no result of it is finite",
}
SHAPES = [
    *(_row(7, 33, 5, kind, "rows", "f32,bf16;fill=nan-codes") for kind in ("f8e4m3", "f8e5m2")),
    *of_one_row(_row(1, "{k}", "{n}", "f8e4m3", "rows", "f32,bf16")),
    *of_one_row(_row(1, "{k}", "{n}", "i8", "rows", "f32")),
]
