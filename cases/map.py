"""Cases of map: functions of one tensor, of two and of three, every rank, each tensor laid out in turn."""

from itertools import cycle

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.row import join

_CALLS = ("a;tanh", "a b;mul", "a b c;addcmul", "a b;sub", "a b;logaddexp")
_ROWS = (
    ("5x31", "layout=a:transposed;fill=wide"),
    ("2x3x65", "layout=transposed"),
    ("2x3x4x7", "layout=permuted"),
    ("3x33", "layout=sliced"),
    ("4x128", "layout=gapped"),
    ("5x63", "layout=broadcast"),
    ("3x32", "layout=offset"),
    ("19,", ""),
    ("127,", "fill=extreme;f32,bf16"),
    ("6x11", "fill=small"),
    ("2x97", "fill=positive"),
    ("2x99", "fill=negative"),
    ("9,", "fill=offset"),
    ("1x1x97x1", ""),
    ("66,", "fill=special"),
    ("3x0", ""),
    ("0d", ""),
    ("5x1031", ""),
    ("2x4099", "f32"),
    ("2x3x1x2x3x5", "f32;layout=permuted"),
    ("2x17x3x5", "f32;layout=planes"),
)


def _row(call: str, shape: str, rest: str = "") -> str:
    tensors, function = call.split(";")
    return join(*(f"{name}={shape}" for name in tensors.split()), f"function={function}", rest)


SMOKE = [_row("a b;sub", "7x33"), _row("a b c;addcmul", "7x9")]
STANDARD = [
    *(_row(call, "7x33") for call in _CALLS),
    *(_row(call, *row) for call, row in zip(cycle(_CALLS), _ROWS)),
    *(
        _row("a b c;addcmul", "5x31", f"layout={name}:{layout}")
        for name in "abc"
        for layout in ("transposed", "sliced", "gapped", "broadcast", "offset")
    ),
    *(_row(call, "9x13", rest) for call in _CALLS for rest in ("fill=zeros", "fill=exact", "fill=special")),
    *(_row(call, "5x17", f"inplace={name}") for call in _CALLS for name in call.partition(";")[0].split()),
    *(_row("a b c;addcmul", "4x5", f"needs={name}") for name in "abc"),
    _row("a b;mul", "5x17", "layout=a:transposed;inplace=a"),
    "a=5x17;b=@a;function=sub",
]
LAID = [
    _row("a b c;addcmul", "2x3x5x9", "layout=cropped"),
    _row("a b c;addcmul", "1x2", "layout=offset"),
    _row("a b c;addcmul", "97x1", "f32;layout=gapped"),
]
ALIGNED = aligned(
    *(
        _row(call, shape)
        for call, shape in zip(
            cycle(_CALLS[1:3]), ("16x64", "64x128", "16x256", "2x16x64", "48x64", "2x16x32", "16x128", "32x64")
        )
    )
)
LONG, LONGEST = lengths(_row("a b c;addcmul", "1x{n}"), _row("a b c;addcmul", "{n}x1"))
FULL = [_row(call, shape) for call in _CALLS[:3] for shape in ("2x12289", "65537x3")]
