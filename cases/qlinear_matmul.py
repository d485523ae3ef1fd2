"""Cases of qlinear_matmul: all types, scales of the whole or of each column, every byte, results that saturate."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.integer_products import bare, in_all_types, of_types
from opproof.cases._rows.long import ONE_AXIS, lengths
from opproof.cases._rows.shapes import of_one_row

_TYPE = "b_type"


def _row(a: str, b: str, rest: str = "", *, columns: bool = False) -> str:
    """Scale and zero point of b: of the whole, or of each of its columns."""
    shared = f"{b.rpartition('x')[2]}," if columns else "0d"
    left = f"a={a};a_scale=0d;a_zero_point=0d"
    right = f"b={b};b_scale={shared};b_zero_point={shared};y_scale=0d;y_zero_point=0d"
    return ";".join(part for part in (left, right, rest) if part)


_ROWS = [
    _row("31x33", "33x32"),
    _row("5x64", "64x63", columns=True),
    _row("4x128", "128x3", "layout=a:transposed", columns=True),
    _row("4x128", "128x3", "layout=b:transposed"),
    _row("4x33", "33x7", "layout=sliced", columns=True),
    _row("4x33", "33x7", "layout=b_scale:sliced", columns=True),
    _row("4x33", "33x7", "layout=gapped"),
    _row("4x33", "33x7", "layout=offset"),
    _row("4x33", "33x7", "layout=offset", columns=True),
    _row("4x33", "33x7", "layout=y_scale:offset,y_zero_point:offset"),
    _row("7x33", "33x5", "layout=a:broadcast"),
    _row("7x33", "33x5", "layout=b:broadcast", columns=True),
    _row("2x3x4x17", "2x3x17x6", "layout=permuted"),
    _row("2x3x4x5", "5x6", "layout=a:sliced", columns=True),
    _row("3x4x5", "3x5x6", "layout=b:gapped"),
    _row("2x1x4x7", "3x7x2"),
    _row("0x3", "3x4"),
    _row("3x0", "0x4"),
    _row("1x1", "1x1"),
    _row("31x3", "3x17"),
    _row("3x257", "257x5", columns=True),
    _row("2x768", "768x3"),
    _row("2x3x4x5", "2x3x5x6", "layout=cropped"),
    _row("1x1", "1x3", "layout=offset"),
    _row("3x1", "1x1", "layout=offset", columns=True),
]
SMOKE = [_row("7x33", "33x5", "type=i8;b_type=i8;f32")]
STANDARD = [
    *in_all_types(_row("7x33", "33x5"), _TYPE),
    *in_all_types(_row("7x33", "33x5", columns=True), _TYPE),
    *in_all_types(_row("9x64", "64x16"), _TYPE),
    *in_all_types(_row("16x31", "31x17", "fill=every-byte"), _TYPE),
    *in_all_types(_row("2x4128", "4128x9"), _TYPE),
    *of_types(_ROWS, _TYPE),
]
ALIGNED = of_types(
    bare(
        aligned(
            _row("64x64", "64x64"),
            _row("64x128", "128x64", columns=True),
            _row("16x256", "256x32"),
            _row("32x256", "256x16", columns=True),
            _row("2x64x64", "64x64"),
            _row("16x128", "128x16"),
            _row("48x64", "64x64", columns=True),
            _row("16x64", "64x16"),
            _row("64x104", "104x24"),
        )
    ),
    _TYPE,
)
LONG, LONGEST = (
    of_types(rows, _TYPE, ("i8", "i8"))
    for rows in lengths(
        _row("{n}x2", "2x3", columns=True),
        "!" + _row("3x{n}", "{n}x5"),
        _row("1x2", "2x{n}", columns=True),
        dtype="f32",
    )
)
SHORT = {"b_scale.first": ONE_AXIS, "b_zero_point.first": ONE_AXIS}
FULL = [_row("4x12289", "12289x5", "type=i8;b_type=i8;f32"), _row("65537x3", "3x2", "type=u8;b_type=i8;f32")]
WITHOUT = {"16-bit sums": "sums are of integers, and in no float dtype"}
SHAPES = of_one_row(_row("1x{k}", "{k}x{n}", "type=u8;b_type=i8;f32"))
