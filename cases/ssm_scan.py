"""Cases of ssm_scan: Mamba-1 (one channel per head) and Mamba-2, groups, starting states shared and out of order."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.reasons import RECURRENCE


def _row(
    m: int | str,
    n: int | str,
    t: int | str,
    h: int | str,
    g: int | str,
    p: int | str,
    d: int | str,
    rest: str = "",
    columns: int | str | None = None,
) -> str:
    """A row; A has `columns`, d where None."""
    tensors = (
        f"state={m}x{h}x{p}x{d};x={n}x{t}x{h}x{p};dt={n}x{t}x{h};A={h}x{d if columns is None else columns};"
        f"B={n}x{t}x{g}x{d};C={n}x{t}x{g}x{d};ids={n},"
    )
    return f"{tensors};{rest}" if rest else tensors


SMOKE = [_row(3, 2, 4, 4, 2, 3, 5, columns=1), _row(2, 2, 4, 7, 1, 1, 5)]
STANDARD = [
    _row(1, 1, 1, 1, 1, 1, 1),
    _row(2, 2, 3, 9, 1, 1, 16),
    _row(2, 3, 4, 31, 1, 1, 16, "layout=x:transposed"),
    _row(3, 2, 5, 32, 1, 1, 15, "fill=wide"),
    _row(4, 3, 3, 33, 1, 1, 17, "layout=permuted"),
    _row(3, 3, 4, 6, 2, 4, 16, "layout=sliced", columns=1),
    _row(2, 4, 3, 4, 4, 5, 33, "layout=gapped", columns=1),
    _row(3, 2, 3, 6, 3, 7, 8, "layout=offset", columns=1),
    _row(2, 2, 3, 4, 1, 9, 64, "layout=B:transposed", columns=1),
    _row(2, 2, 3, 4, 2, 8, 65, "layout=state:transposed", columns=1),
    _row(3, 2, 4, 4, 2, 3, 6, "layout=B:broadcast,C:broadcast", columns=1),
    _row(2, 5, 3, 4, 2, 3, 6, "layout=dt:transposed"),
    _row(3, 2, 4, 4, 2, 3, 6, "layout=A:transposed,C:transposed,x:broadcast,dt:broadcast"),
    _row(3, 2, 4, 4, 2, 3, 6, "layout=A:broadcast,state:broadcast"),
    _row(3, 2, 4, 4, 2, 3, 6, "layout=x:transposed,B:transposed"),
    _row(2, 2, 6, 4, 2, 3, 5, "fill=small;f32", columns=1),
    _row(2, 2, 4, 4, 2, 3, 5, "fill=offset", columns=1),
    _row(2, 2, 4, 4, 2, 3, 5, "fill=zeros", columns=1),
    _row(2, 2, 4, 4, 2, 3, 5, "fill=negative"),
    _row(2, 2, 4, 4, 2, 3, 5, "fill=brink"),
    _row(2, 2, 4, 3, 1, 3, 5, "fill=positive"),
    _row(2, 2, 4, 4, 2, 3, 5, "fill=past-exp", columns=1),
    _row(2, 2, 3, 9, 1, 1, 5, "fill=past-exp"),
    _row(2, 2, 4, 4, 2, 3, 5, "needs=state,A", columns=1),
    _row(2, 2, 4, 4, 2, 3, 5, "needs=dt"),
    _row(2, 0, 4, 4, 2, 3, 5, columns=1),
    _row(1, 1, 17, 2, 1, 2, 4, columns=1),
    _row(1, 1, 2, 127, 1, 1, 4),
    _row(1, 1, 2, 1, 1, 1, 4099, "f16,bf16"),
]
LAID = [_row(2, 2, 4, 4, 2, 3, 5, "layout=cropped", columns=1), _row(1, 1, 1, 1, 1, 1, 3, "layout=offset", columns=1)]
ALIGNED = aligned(
    _row(2, 2, 3, 4, 1, 64, 16, columns=1),
    _row(2, 2, 3, 2, 1, 64, 64, columns=1),
    _row(2, 2, 4, 4, 2, 32, 16, columns=1),
    _row(2, 2, 3, 4, 1, 16, 128, columns=1),
    _row(3, 2, 3, 2, 2, 64, 16, columns=1),
    _row(2, 1, 2, 2, 1, 64, 128, columns=1),
    _row(2, 2, 2, 2, 1, 32, 32, columns=1),
    _row(2, 2, 3, 32, 1, 1, 16),
)
LONG, LONGEST = lengths(
    "!" + _row("{n}", 2, 1, 1, 1, 1, 1),
    "!" + _row(2, "{n}", 1, 1, 1, 1, 1),
    _row(1, 1, 1, "{n}", "{n}", 1, 1),
    _row(1, 1, 1, 1, 1, "{n}", 2, columns=1),
    _row(1, 1, 1, 1, 1, 2, "{n}", columns=1),
    _row(1, 1, 1, 1, 1, 1, "{n}"),
)
LONGEST += lengths(_row(1, 1, "{n}", 1, 1, 1, 2), upto=1025)[0]
SHORT = {
    "x.1": Limit(0, "the reference walks from token to token, which takes seconds for 1025"),
    "dt.1": Limit(0, "the reference walks from token to token, which takes seconds for 1025"),
    "B.1": Limit(0, "the reference walks from token to token, which takes seconds for 1025"),
    "C.1": Limit(0, "the reference walks from token to token, which takes seconds for 1025"),
}
FULL = [_row(1, 1, 130, 2, 1, 2, 4, columns=1), _row(1, 1, 2, 12289, 1, 1, 2)]
WITHOUT = RECURRENCE
