"""Cases of deform_conv2d: every attribute, blocks of channels with offsets of their own, masks, places far outside."""

from __future__ import annotations

from functools import partial

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import KERNEL, Limit, lengths
from opproof.cases._rows.reasons import PRODUCTS
from opproof.cases._rows.row import join
from opproof.cases._rows.windows import PADDED, WINDOWS

Pair = tuple[int, int]


def _sizes(shape: str) -> list[int]:
    return [int(n) for n in shape.split("x")]


def _row(
    x: str, weight: str, *rest: str, blocks: int = 1, bias: bool = False, mask: bool = False,
    stride: Pair = (1, 1), padding: Pair = (0, 0), dilation: Pair = (1, 1),
) -> str:  # fmt: skip
    """A row with offsets, and a mask, of the size that x and weight ask for."""
    (n, _, *plane), (out, _, *kernel) = _sizes(x), _sizes(weight)
    given = zip(plane, kernel, stride, padding, dilation, strict=True)
    windows = [(m + 2 * p - d * (k - 1) - 1) // s + 1 for m, k, s, p, d in given]
    cells, places = blocks * kernel[0] * kernel[1], f"{windows[0]}x{windows[1]}"
    named = {"stride": (stride, (1, 1)), "padding": (padding, (0, 0)), "dilation": (dilation, (1, 1))}
    return join(
        f"x={x};offset={n}x{2 * cells}x{places};weight={weight}",
        f"bias={out}," if bias else "",
        f"mask={n}x{cells}x{places}" if mask else "",
        *(f"{name}=({v[0]},{v[1]})" for name, (v, usual) in named.items() if v != usual),
        *rest,
    )


def _attributes() -> list[str]:
    """Every attribute alone, in pairs, over a kernel of 1, uneven in both orders."""
    dtypes = ("f16,f32", "f16,bf16")
    rows = []
    for i, w in enumerate((*WINDOWS, *PADDED)):
        x, weight = f"1x{w.channels}x{w.plane[0]}x{w.plane[1]}", f"2x{w.channels}x{w.kernel_size[0]}x{w.kernel_size[1]}"
        named = partial(_row, stride=w.stride, padding=w.padding, dilation=w.dilation)
        rows.append(named(x, weight, dtypes[i % 2], mask=i % 2 == 0))
    return rows


#: With a bias and a mask.
_whole = partial(_row, bias=True, mask=True)

SMOKE = [_whole("2x3x7x6", "4x3x3x3", padding=(1, 1)), _row("2x4x5x6", "2x2x2x3", blocks=2)]
STANDARD = [
    "x=1x1x1x1;offset=1x2x1x1;weight=1x1x1x1;bias=1,",
    _whole("2x4x6x7", "4x2x3x2", "layout=x:transposed", blocks=2, stride=(2, 1)),
    _whole("2x4x7x6", "6x2x2x3", "layout=offset:transposed", padding=(0, 1), dilation=(2, 1)),
    _row("2x3x6x5", "4x3x3x2", "layout=weight:transposed", padding=(2, 2), bias=True),
    _row("2x3x5x6", "4x3x2x2", "layout=mask:transposed", mask=True),
    _whole("2x3x5x6", "4x3x2x2", "layout=permuted"),
    _whole("2x3x5x6", "4x3x2x2", "layout=sliced"),
    _whole("2x3x5x6", "4x3x2x2", "layout=gapped"),
    _whole("2x3x5x6", "4x3x2x2", "layout=offset"),
    _whole("2x3x6x5", "4x3x2x2", "layout=x:broadcast"),
    _whole("2x3x6x5", "4x3x2x2", "layout=offset:broadcast"),
    _whole("2x3x6x5", "4x3x2x2", "layout=weight:broadcast,bias:broadcast"),
    _whole("2x3x6x5", "4x3x2x2", "layout=mask:broadcast"),
    _whole("2x3x6x5", "4x3x2x2", "layout=x:sliced,bias:sliced"),
    _whole("2x3x6x5", "4x3x2x2", "needs=x"),
    _whole("2x3x6x5", "4x3x2x2", "needs=offset,mask"),
    _whole("2x3x6x5", "4x3x2x2", "needs=weight,bias"),
    _whole("2x3x7x5", "4x3x3x2", "fill=offset", padding=(1, 1)),
    _whole("2x3x7x5", "4x3x3x2", "fill=wide;f32", padding=(1, 1)),
    _whole("2x6x7x9", "6x1x3x3", blocks=3, stride=(2, 2), padding=(1, 1)),
    _whole("2x6x9x7", "3x2x2x3", stride=(2, 3), padding=(1, 2), dilation=(2, 1)),
    "x=0x3x5x5;offset=0x8x4x4;weight=2x3x2x2;bias=2,",
    _whole("1x65x4x5", "3x65x2x2"),
    _whole("2x2x3x14", "3x2x2x9"),
    _whole("2x2x3x39", "3x2x2x35"),
    _row("1x3x5x33", "33x3x2x2", bias=True),
    _whole("1x128x3x4", "2x128x2x2", "f32,f16"),
    "x=1x4099x1x2;offset=1x2x1x2;weight=2x4099x1x1;f16,bf16",
    "x=4099x1x2x2;offset=4099x2x2x2;weight=2x1x1x1;fill=growing;f16,bf16",
]
LAID = [
    _whole("2x3x5x4", "4x3x2x3", "layout=cropped"),
    _row("1x1x1x1", "3x1x1x1", "layout=x:offset,mask:offset", mask=True),
    _row("1x1x3x4", "1x1x1x1", "layout=weight:offset,bias:offset", bias=True),
]
ALIGNED = aligned(
    _whole("1x16x8x8", "16x16x3x3", padding=(1, 1)),
    _row("1x32x8x8", "32x32x3x3", padding=(1, 1), bias=True),
    _row("1x16x16x16", "32x16x1x1", mask=True),
    _row("1x64x4x8", "64x64x1x1", stride=(2, 2), bias=True),
    _whole("2x16x9x7", "16x16x3x3", padding=(1, 1), stride=(2, 2)),
    _whole("1x32x8x8", "32x16x3x3", padding=(2, 2), dilation=(2, 2), blocks=2),
    _row("2x16x8x16", "48x16x3x3", padding=(1, 1)),
    _whole("1x16x7x7", "16x1x3x3", padding=(1, 1)),
)
# Far along a plane float32 has few digits between two cells, and an offset may round onto one: a kink of its gradient.
LONG, LONGEST = lengths(
    "x={n}x1x2x2;offset={n}x2x2x2;weight=2x1x1x1;mask={n}x1x2x2",
    "x=1x{n}x2x2;offset=1x2x2x2;weight=2x{n}x1x1",
    "x=1x1x{n}x2;offset=1x2x{n}x2;weight=2x1x1x1;mask=1x1x{n}x2;needs=x,weight,mask",
    "!x=1x1x2x{n};offset=1x2x2x{n};weight=2x1x1x1;mask=1x1x2x{n};needs=x,weight,mask",
    "x=1x1x2x2;offset=1x2x2x2;weight={n}x1x1x1;bias={n},",
)
LONG += ["x=1x1x1025x1;offset=1x2050x1x1;weight=1x1x1025x1", "x=1x1x1x1025;offset=1x2050x1x1;weight=1x1x1x1025"]
SHORT = {
    "weight.2": KERNEL,
    "weight.3": KERNEL,
    "offset.1": Limit(0, "its size is that of the kernel"),
    "mask.1": Limit(0, "its size is that of the kernel"),
}
ATTRIBUTES = _attributes()
FULL = [_whole("1x3x33x65", "8x3x3x3", padding=(1, 1))]
WITHOUT = {
    **PRODUCTS,
    "zeros": "an offset of 0 reads at a cell's centre, where the gradient of the offset has several values",
    "NaN, inf": "where a place that is NaN lies is no rule that libraries share",
}
