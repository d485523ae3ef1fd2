"""Cases of flash_ff: both gelus, unequal sizes around tile edges, each input laid out in turn."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths


def _row(lead: str, k: int | str, m: int | str, n: int | str, rest: str = "") -> str:
    row = f"x={lead}x{k};weight1={m}x{k};bias1={m},;weight2={n}x{m};bias2={n},"
    return f"{row};{rest}" if rest else row


SMOKE = [_row("7", 9, 5, 4), _row("3", 17, 6, 17, "approximate=tanh")]
STANDARD = [
    _row("31", 9, 32, 5),
    _row("5", 64, 63, 3, "approximate=tanh;fill=wide"),
    _row("5", 97, 3, 33, "layout=transposed"),
    _row("2x3x5", 7, 6, 4, "layout=permuted"),
    _row("3", 5, 6, 7, "approximate=tanh;layout=sliced"),
    _row("2x3", 5, 6, 4, "layout=gapped"),
    _row("4", 5, 6, 3, "layout=offset"),
    _row("5", 9, 3, 4, "layout=x:broadcast"),
    _row("5", 9, 3, 4, "layout=weight1:broadcast"),
    _row("5", 9, 3, 4, "layout=weight2:broadcast,weight1:transposed"),
    _row("4", 7, 3, 5, "needs=x"),
    _row("4", 7, 3, 5, "needs=weight1"),
    _row("4", 7, 3, 5, "needs=weight2"),
    _row("4", 7, 3, 5, "needs=bias1,bias2"),
    _row("4", 33, 5, 3, "fill=zeros"),
    _row("0", 3, 4, 2),
    _row("2", 3, 1031, 3, "f16,bf16"),
    "x=4099x2;weight1=3x2;bias1=3,;weight2=2x3;bias2=2,;fill=growing;f16,bf16",
]
LAID = [
    _row("2x3", 5, 4, 6, "layout=cropped"),
    _row("1", 1, 3, 2, "layout=x:offset"),
    _row("3", 1, 1, 1, "layout=offset"),
]
ALIGNED = aligned(
    _row("64", 64, 64, 64),
    _row("128", 64, 64, 64, "approximate=tanh"),
    _row("64", 64, 128, 64),
    _row("64", 128, 64, 64),
    _row("2x64", 64, 64, 64),
    _row("16", 32, 48, 16),
    _row("64", 64, 64, 128),
)
LONG, LONGEST = lengths(
    _row("{n}", 2, 3, 2), "!" + _row("2", "{n}", 2, 1), "!" + _row("2", 3, 2, "{n}"), "!!" + _row("2", 2, "{n}", 1)
)
FULL = [_row("3", 2, 12289, 2), _row("65537", 3, 2, 2)]
WITHOUT = {
    "extreme": "in sums of products size is no special case, and partial sums overflow by their order",
    "NaN, inf": "at -inf gelu has two definitions",
}
