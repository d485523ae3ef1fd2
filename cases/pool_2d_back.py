"""Cases of pool_2d_back: windows that overlap, leave cells out, hang over the padding; ties go to the first."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.windows import backward_attributes

_ROWS = (
    ("1x1x1x1", "1x1x1x1", "kernel_size=1", ""),
    ("2x3x2x3", "2x3x4x6", "kernel_size=2", ""),
    ("2x3x3x2", "2x3x7x5", "kernel_size=(3,2);stride=2", "layout=grad:transposed"),
    ("1x2x4x6", "1x2x5x8", "kernel_size=(2,3);stride=1", "layout=x:transposed"),
    ("2x3x3x3", "2x3x6x5", "kernel_size=3;stride=2;padding=1", "fill=wide"),
    ("3x2x2x3", "3x2x5x8", "kernel_size=2;stride=3", "layout=permuted"),
    ("1x5x3x4", "1x5x6x7", "kernel_size=(4,3);stride=(1,2);padding=(0,1)", "layout=sliced"),
    ("2x2x2x2", "2x2x4x4", "kernel_size=2", "layout=gapped"),
    ("2x2x5x1", "2x2x9x4", "kernel_size=(1,4);stride=(2,1)", "layout=offset"),
    ("3x2x3x3", "3x2x5x5", "kernel_size=3;stride=1", "layout=x:broadcast"),
    ("2x3x3x4", "2x3x6x8", "kernel_size=3;stride=2;padding=1", "fill=ties"),
    ("2x3x2x3", "2x3x4x6", "kernel_size=2", "fill=constant"),
    ("2x3x2x3", "2x3x4x6", "kernel_size=2", "fill=negative"),
    ("2x3x3x4", "2x3x5x7", "kernel_size=3;stride=2;padding=1", "fill=negative"),
    ("2x3x2x3", "2x3x4x6", "kernel_size=2", "fill=extreme"),
    ("0x3x2x2", "0x3x4x4", "kernel_size=2", ""),
    ("1x1x1x33", "1x1x2x66", "kernel_size=2", ""),
    ("1x2x1x257", "1x2x1x1031", "kernel_size=(1,5);stride=4;padding=(0,0)", ""),
)


def _rows(op: str) -> list[str]:
    return [";".join(p for p in (f"grad={g};x={x};op={op}", how, rest) if p) for g, x, how, rest in _ROWS]


SMOKE = [f"grad=2x3x3x4;x=2x3x5x6;op={op};kernel_size=3;stride=1" for op in ("max", "avg")]
STANDARD = [
    "grad=2x3x9x3;x=2x3x9x9;op=max;kernel_size=(1,3);fill=special-rows",
    "grad=2x3x9x3;x=2x3x9x9;op=avg;kernel_size=(1,3);fill=special-rows",
    *_rows("max"),
    *_rows("avg"),
    "grad=2x3x3x4;x=2x3x5x6;op=max;kernel_size=3;stride=1;layout=grad:broadcast",
    "grad=2x3x3x4;x=2x3x5x6;op=avg;kernel_size=3;stride=1;fill=special",
]
LAID = [
    "grad=2x3x2x3;x=2x3x4x6;op=max;kernel_size=2;layout=cropped",
    "grad=1x1x1x1;x=1x1x2x2;op=avg;kernel_size=2;layout=grad:offset",
    "grad=1x1x1x1;x=1x1x1x1;op=max;kernel_size=1;layout=x:offset",
]
ALIGNED = aligned(
    "grad=1x16x16x16;x=1x16x32x32;op=max;kernel_size=2",
    "grad=1x16x16x16;x=1x16x32x32;op=avg;kernel_size=2",
    "grad=2x16x16x16;x=2x16x16x16;op=max;kernel_size=3;stride=1;padding=1",
    "grad=2x16x16x16;x=2x16x16x16;op=avg;kernel_size=3;stride=1;padding=1",
    "grad=2x4x16x16;x=2x4x32x32;op=max;kernel_size=2",
    "grad=2x4x16x32;x=2x4x32x64;op=avg;kernel_size=2",
    "grad=2x3x16x16;x=2x3x16x32;op=max;kernel_size=(1,2)",
)
LONG, LONGEST = lengths(
    "grad={n}x1x1x1;x={n}x1x2x2;op=max;kernel_size=2",
    "grad=1x{n}x1x1;x=1x{n}x2x2;op=avg;kernel_size=2",
    "grad=1x1x{n}x1;x=1x1x{n}x2;op=max;kernel_size=(1,2)",
    "grad=1x1x1x{n};x=1x1x2x{n};op=avg;kernel_size=(2,1)",
)
ATTRIBUTES = backward_attributes(("op=max", "op=avg"))
FULL = [f"grad=1x1x1x6144;x=1x1x2x12289;op={op};kernel_size=2" for op in ("max", "avg")]
