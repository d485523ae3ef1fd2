"""Cases of collective_permute: rings, exchanges, processes that send to themselves or get nothing, every layout."""

from itertools import cycle

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.row import join

_CALLS = ("4;pairs=(0,1,1,2,2,3,3,0)", "4;pairs=(0,3,3,0)", "3;pairs=(0,0,1,2)", "3;pairs=(2,0)", "2;pairs=(0,1,1,0)")
_ROWS = (
    ("31", "layout=transposed;fill=wide"),
    ("2x65", "layout=permuted"),
    ("33", "layout=sliced"),
    ("128", "layout=gapped"),
    ("3x63", "layout=broadcast"),
    ("32", "layout=offset"),
    ("1", ""),
    ("11", "fill=small"),
    ("11", "fill=positive"),
    ("11", "fill=negative"),
    ("11", "fill=offset"),
    ("11", "fill=zeros"),
    ("97", "fill=extreme"),
    ("66", "fill=special"),
    ("5", "fill=exact"),
    ("0", ""),
    ("1031", ""),
    ("4099", "f32"),
    ("3x1x2x3x5", "f32;layout=permuted"),
    ("2x3x7", ""),
)


def _row(call: str, shape: str, rest: str = "") -> str:
    count, pairs = call.split(";")
    return join(f"x={count}x{shape}", pairs, rest)


SMOKE = [_row(_CALLS[0], "33")]
STANDARD = [
    *(_row(call, "2x9") for call in _CALLS),
    *(_row(call, *row) for row, call in zip(_ROWS, cycle(_CALLS))),
]
LAID = [_row(_CALLS[0], "3x5", "layout=cropped"), _row(_CALLS[4], "2", "layout=offset")]
ALIGNED = aligned(
    *(_row(_CALLS[0], shape) for shape in ("64", "128", "16x64", "256", "32x64", "16x16", "16x32", "512"))
)
LONG, LONGEST = lengths(_row(_CALLS[4], "{n}"), _row(_CALLS[4], "{n}x1"))
SHORT = {"x.first": Limit(0, "pairs name few processes")}
FULL = [_row(_CALLS[4], "12289"), _row(_CALLS[4], "65537x3")]
