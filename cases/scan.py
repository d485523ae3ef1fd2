"""Cases of scan: one row to thousands, both functions, each tensor laid out in turn."""

from itertools import cycle

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.row import join

_CALLS = ("function=add", "function=sub")
_ROWS = (
    (5, 31, "layout=transposed;fill=wide"),
    (9, 17, "layout=x:transposed"),
    (9, 65, "layout=x:permuted"),
    (7, 33, "layout=sliced"),
    (4, 128, "layout=gapped"),
    (5, 63, "layout=broadcast"),
    (3, 32, "layout=offset"),
    (5, 33, "layout=x:broadcast"),
    (5, 33, "layout=h:broadcast"),
    (5, 33, "layout=h:sliced"),
    (5, 33, "layout=x:gapped,h:offset"),
    (9, 11, "fill=small"),
    (9, 11, "fill=positive"),
    (9, 11, "fill=negative"),
    (9, 11, "fill=offset"),
    (9, 11, "fill=zeros"),
    (1, 9, ""),
    (9, 1, ""),
    (0, 3, ""),
    (3, 0, ""),
    (4, 5, "needs=h"),
    (4, 5, "needs=x"),
    (2, 1031, ""),
    (131, 3, ""),
)


def _row(call: str, t: int | str, n: int | str, rest: str = "") -> str:
    return join(f"h={n},;x={t}x{n}", call, rest)


SMOKE = [_row(_CALLS[0], 7, 33)]
STANDARD = [
    *(_row(call, 7, 17) for call in _CALLS),
    *(_row(call, *row) for call, row in zip(cycle(_CALLS), _ROWS)),
    *(_row(call, 5, 13, "fill=exact") for call in _CALLS),
    _row(_CALLS[0], 5, 66, "fill=special"),
    _row(_CALLS[0], 1031, 3, "f16,bf16"),
    _row(_CALLS[0], 4099, 2, "f32"),
    _row(_CALLS[1], 1031, 3, "f32"),
]
LAID = [_row(_CALLS[0], 5, 9, "layout=cropped"), _row(_CALLS[1], 1, 2, "layout=offset")]
ALIGNED = aligned(
    *(
        _row(call, *shape)
        for call, shape in zip(
            cycle(_CALLS), ((16, 64), (64, 128), (16, 256), (32, 64), (16, 16), (16, 32), (16, 128), (64, 64))
        )
    )
)
LONG, LONGEST = lengths(_row(_CALLS[0], 2, "{n}"), _row(_CALLS[0], "{n}", 2, "f32"), upto=4099)
MORE = [_row(_CALLS[1], 2, n, "f32") for n in (16385, 65537)]
SHAPES = [*MORE, _row(_CALLS[0], 16, 4096)]
SHORT = {"x.0": Limit(4099, "the reference walks over the rows")}
FULL = [_row(_CALLS[0], 2, 65537), _row(_CALLS[1], 2, 131073, "f32"), _row(_CALLS[0], 3, 12289)]
WITHOUT = {
    "extreme": "in sums size is no special case, and partial sums overflow by their order",
    "leading": "it has two axes",
}
