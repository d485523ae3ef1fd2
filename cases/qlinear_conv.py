"""Cases of qlinear_conv: all types, scales of the whole and of each channel, biases, groups, every byte."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.integer_products import bare, in_all_types, of_types, windows
from opproof.cases._rows.long import KERNEL, ONE_AXIS, lengths

_TYPE = "weight_type"


def _row(x: str, weight: str, rest: str = "", *, channels: bool = False, bias: bool = False) -> str:
    """Scale and zero point of the weights: of the whole, or of each channel of the result."""
    count = f"{weight.partition('x')[0]},"
    shared = count if channels else "0d"
    image = f"x={x};x_scale=0d;x_zero_point=0d"
    kernels = f"weight={weight};weight_scale={shared};weight_zero_point={shared};y_scale=0d;y_zero_point=0d"
    return ";".join(part for part in (image, kernels, f"bias={count}" if bias else "", rest) if part)


def _attributes(row: str) -> str:
    x, weight, *rest = row.split(";")
    return _row(x.partition("=")[2], weight.partition("=")[2], ";".join(rest), channels="stride" in row)


_ROWS = [
    _row("2x3x5x7", "4x3x1x1", "layout=offset"),
    _row("2x3x9x6", "5x3x3x2", "stride=(2,1);padding=(1,0);layout=x:transposed", bias=True),
    _row("2x3x6x9", "5x3x2x3", "stride=(1,2);padding=(0,1);dilation=(2,1);layout=weight:transposed"),
    _row("2x3x11x8", "2x3x3x3", "stride=(2,3);dilation=(3,2);padding=(2,3)", channels=True),
    _row("2x6x7x9", "9x2x3x3", "stride=2;padding=1;groups=3;layout=permuted", channels=True, bias=True),
    _row("2x4x9x7", "8x1x3x2", "stride=(2,1);padding=(1,2);groups=4;layout=x:sliced"),
    _row("3x5x8x7", "5x1x3x3", "groups=5;padding=1;dilation=2;layout=gapped"),
    _row("2x4x9x9", "4x2x5x5", "stride=2;padding=2;dilation=2;groups=2;layout=weight:sliced"),
    _row("2x3x7x7", "4x3x3x3", "stride=2;layout=x:broadcast", channels=True),
    _row("2x3x7x9", "4x3x3x3", "padding=1;layout=weight:broadcast", channels=True),
    _row("2x3x7x9", "4x3x3x3", "padding=1;layout=sliced", channels=True, bias=True),
    _row("2x3x7x9", "4x3x3x3", "padding=1;layout=bias:sliced", channels=True, bias=True),
    _row("2x3x7x9", "4x3x3x3", "padding=1;layout=offset", channels=True, bias=True),
    _row("2x3x7x9", "4x3x3x3", "padding=1;layout=offset", bias=True),
    _row("0x3x5x5", "4x3x3x3"),
    _row("1x1x1x1", "1x1x1x1", bias=True),
    _row("2x65x4x5", "3x65x3x3", "padding=1"),
    _row("1x3x17x33", "33x3x3x3", "padding=1;stride=2", channels=True, bias=True),
    _row("1x128x3x4", "2x128x3x3", "padding=1"),
    _row("2x3x5x4", "4x3x2x3", "layout=cropped"),
    _row("1x1x1x1", "3x1x1x1", "layout=offset"),
    _row("3x1x5x7", "1x1x1x1", "layout=offset", channels=True, bias=True),
]
SMOKE = [_row("2x3x7x9", "4x3x3x3", "padding=1;type=i8;weight_type=i8;f32")]
STANDARD = [
    *in_all_types(_row("2x3x7x9", "4x3x3x3", "padding=1", bias=True), _TYPE),
    *in_all_types(_row("2x4x9x7", "6x2x3x2", "stride=2;groups=2", channels=True, bias=True), _TYPE),
    *in_all_types(_row("1x16x9x7", "16x16x3x3"), _TYPE),
    *in_all_types(_row("1x3x17x11", "10x3x3x3", "fill=every-byte"), _TYPE),
    *of_types(_ROWS, _TYPE),
    _row("2x4128x2x2", "2x4128x1x2", "type=i8;weight_type=i8;f32"),
]
ATTRIBUTES = of_types(map(_attributes, windows()), _TYPE)
ALIGNED = of_types(
    bare(
        aligned(
            _row("2x16x8x8", "16x16x3x3", "padding=1", bias=True),
            _row("1x32x8x8", "32x32x3x3", "padding=1", channels=True),
            _row("1x16x16x16", "32x16x1x1"),
            _row("1x64x4x8", "64x64x1x1", "stride=2", channels=True, bias=True),
            _row("2x16x9x7", "16x16x3x3", "padding=1;stride=2"),
            _row("1x32x8x8", "32x16x3x3", "groups=2;padding=1;dilation=2", channels=True),
            _row("2x16x8x16", "48x16x3x3", "padding=1", bias=True),
            _row("1x16x7x7", "16x1x3x3", "groups=16;padding=1", channels=True, bias=True),
            _row("1x104x8x8", "24x104x1x1"),
        )
    ),
    _TYPE,
)
LONG, LONGEST = (
    of_types(rows, _TYPE, ("i8", "i8"))
    for rows in lengths(
        _row("{n}x1x2x2", "2x1x2x2"),
        _row("2x{n}x1x2", "2x{n}x1x1"),
        _row("1x1x{n}x2", "2x1x3x2"),
        "!" + _row("1x1x2x{n}", "2x1x2x3"),
        _row("1x1x2x2", "{n}x1x2x2", channels=True, bias=True),
        dtype="f32",
    )
)
LONG += of_types(
    lengths(_row("2x1x{n}x1", "2x1x{n}x1"), _row("2x1x1x{n}", "2x1x1x{n}"), dtype="f32", upto=1025)[0], _TYPE
)
SHORT = {"weight.2": KERNEL, "weight.3": KERNEL, "weight_scale.first": ONE_AXIS, "weight_zero_point.first": ONE_AXIS}
FULL = [_row("1x1x3x1031", "2x1x3x3", "type=u8;weight_type=i8;f32")]
WITHOUT = {"16-bit sums": "sums are of integers, and in no float dtype"}
