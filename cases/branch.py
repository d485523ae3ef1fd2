"""Cases of branch: the first of two, the second, one of five, each tensor laid out in turn."""

from itertools import cycle

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.row import join

_CALLS = (
    "functions=(add,mul)",
    "functions=(sub,logaddexp)",
    "functions=(add,sub,mul,logaddexp,add)",
    "functions=(mul)",
)
_ROWS = (
    ("5x31", "layout=a:transposed;fill=wide"),
    ("2x3x65", "layout=transposed"),
    ("2x3x4x7", "layout=permuted"),
    ("3x33", "layout=sliced"),
    ("4x128", "layout=gapped"),
    ("5x63", "layout=a:broadcast,b:broadcast"),
    ("3x32", "layout=offset"),
    ("19,", ""),
    ("127,", "fill=extreme;f32,bf16"),
    ("6x11", "fill=small"),
    ("2x97", "fill=positive"),
    ("2x99", "fill=negative"),
    ("9,", "fill=offset"),
    ("1x1x97x1", ""),
    ("66,", "fill=special"),
    ("66,", "fill=exact"),
    ("6x11", "fill=zeros"),
    ("3x0", ""),
    ("0d", ""),
    ("5x1031", ""),
    ("2x4099", "f32"),
    ("2x3x1x2x3x5", "f32;layout=permuted"),
    ("5x31", "layout=a:sliced"),
    ("5x31", "layout=a:gapped,b:transposed"),
    ("5x31", "layout=b:sliced"),
    ("5x31", "layout=b:gapped"),
    ("4x5", "needs=a"),
    ("4x5", "needs=b"),
)


def _row(call: str, shape: str, rest: str = "") -> str:
    return join(f"index=1,;a={shape};b={shape}", call, rest)


SMOKE = [_row(_CALLS[0], "7x33")]
STANDARD = [
    *(_row(call, f"7x{n}") for n in (17, 33, 65) for call in _CALLS[1:]),
    *(_row(call, *row) for call, row in zip(cycle(_CALLS), _ROWS)),
    *(_row(call, "9x13", rest) for call in _CALLS for rest in ("fill=exact", "fill=special")),
]
LAID = [_row(_CALLS[0], "2x3x5x9", "layout=cropped"), _row(_CALLS[1], "1x2", "layout=offset")]
ALIGNED = aligned(
    *(
        _row(call, shape)
        for call, shape in zip(
            cycle(_CALLS), ("16x64", "64x128", "16x256", "2x16x64", "48x64", "2x16x32", "16x128", "32x64")
        )
    )
)
LONG, LONGEST = lengths(_row(_CALLS[0], "1x{n}"), _row(_CALLS[1], "{n}x1"))
SHORT = {"index.0": Limit(0, "it is one number")}
FULL = [_row(call, shape) for call in _CALLS[:2] for shape in ("2x12289", "65537x3")]
