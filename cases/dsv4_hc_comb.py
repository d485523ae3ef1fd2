"""Cases of dsv4_hc_comb: two streams, three, four and more, one step and many, logits that are far apart."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.row import join


def _row(t: object, h: int, rest: str = "") -> str:
    many = (2 + h) * h
    return join(f"mixes={t}x{many};scale=3,;base={many},", rest)


SMOKE = [_row(5, 4), _row(3, 2, "n_iter=3;eps=0.001")]
STANDARD = [
    _row(1, 1),
    _row(1, 4, "n_iter=1"),
    _row(9, 4, "layout=mixes:transposed"),
    _row(9, 4, "layout=scale:sliced,base:sliced"),
    _row(9, 3, "layout=mixes:sliced,base:gapped"),
    _row(7, 4, "layout=mixes:gapped;n_iter=2"),
    _row(7, 4, "layout=offset"),
    _row(7, 4, "layout=mixes:broadcast"),
    _row(7, 4, "layout=base:broadcast,scale:broadcast"),
    _row(7, 4, "fill=wide"),
    _row(7, 4, "fill=offset"),
    _row(7, 4, "fill=negative"),
    _row(7, 4, "fill=zeros"),
    _row(7, 4, "fill=small;n_iter=4"),
    _row(7, 4, "needs=mixes"),
    _row(7, 4, "needs=scale,base"),
    _row(7, 4, "eps=0.01"),
    _row(0, 4),
    _row(31, 5, "n_iter=5"),
    _row(131, 4, "n_iter=2"),
    _row(33, 6),
    _row(1031, 3, "n_iter=2;f16,bf16"),
]
LAID = [_row(5, 4, "layout=mixes:cropped"), _row(1, 1, "layout=offset;n_iter=2")]
ALIGNED = aligned(
    *(_row(t, 14, f"n_iter={n}") for t, n in ((16, 2), (32, 3), (64, 1), (16, 5), (128, 2), (48, 1), (16, 4)))
)
LONG, LONGEST = lengths(_row("{n}", 2, "n_iter=2"))
_SQUARE = Limit(0, "its size is (2 + h) h of h streams, whose matrices are h by h")
SHORT = {"mixes.1": _SQUARE, "base.0": _SQUARE, "scale.0": Limit(0, "there are three scales")}
FULL = [_row(65537, 2, "n_iter=2"), _row(3, 40)]
WITHOUT = {
    "NaN, inf": "a NaN is in every number of its matrix after two steps",
    "extreme": "softmax of logits that far apart is zeros and ones, whose balance is undetermined",
    "leading": "tokens are one axis",
    "aligned": "there are three scales, and that is no tile",
    "aligned, often": "there are three scales, and that is no tile",
}
