"""Cases of conv2d_depthwise: unlike axes in every parameter, stride unlike dilation, cells that no window covers."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import KERNEL, Limit, lengths
from opproof.cases._rows.reasons import WINDOWS
from opproof.cases._rows.windows import conv_attributes

SMOKE = [
    "x=2x4x7x9;weight=4x1x3x3;bias=4,;padding=1",
]
STANDARD = [
    "x=1x1x1x1;weight=1x1x1x1",
    "x=2x3x9x6;weight=3x1x3x2;bias=3,;stride=(2,1);padding=(1,0);layout=x:transposed",
    "x=2x3x6x9;weight=3x1x2x3;stride=(1,2);padding=(0,1);dilation=(2,1);layout=weight:transposed",
    "x=2x5x11x8;weight=5x1x3x3;stride=(2,3);dilation=(3,2);padding=(2,3);fill=wide",
    "x=2x6x7x9;weight=6x1x3x3;bias=6,;stride=2;padding=1;layout=permuted",
    "x=2x4x9x7;weight=4x1x5x2;padding=(1,2);layout=x:sliced",
    "x=3x5x8x7;weight=5x1x3x3;bias=5,;dilation=2;layout=gapped",
    "x=2x4x9x9;weight=4x1x5x5;stride=2;padding=2;layout=weight:sliced",
    "x=2x2x8x11;weight=2x1x2x3;stride=(3,4);bias=2,",
    "x=2x2x7x5;weight=2x1x1x1;stride=(3,2);padding=1",
    "x=2x3x7x7;weight=3x1x3x3;bias=3,;stride=2;layout=x:broadcast",
    "x=2x3x6x5;weight=3x1x3x3;bias=3,;layout=offset",
    "x=2x3x6x5;weight=3x1x3x3;bias=3,;needs=x",
    "x=2x3x6x5;weight=3x1x3x3;bias=3,;needs=weight,bias;layout=x:permuted",
    "x=2x3x6x7;weight=3x1x3x3;fill=offset;padding=1",
    "x=2x3x6x7;weight=3x1x3x3;fill=zeros;dilation=(1,2)",
    "x=1x3x5x4;weight=3x1x2x2;bias=3,;fill=exact",
    "x=2x4x6x5;weight=4x1x3x3;padding=1;dilation=(1,2);fill=signs;layout=permuted",
    "x=0x3x5x5;weight=3x1x3x3;bias=3,",
    "x=2x65x4x5;weight=65x1x3x3;bias=65,;padding=1",
    "x=1x3x17x33;weight=3x1x3x3;padding=1;stride=2",
    "x=1x3x5x99;weight=3x1x2x3;bias=3,",
    "x=2x4x7x9;weight=4x1x3x3;bias=4,;padding=1;layout=weight:broadcast,bias:sliced",
    "x=1x2x3x4099;weight=2x1x2x2;f16,bf16",
    "x=4099x1x2x3;weight=1x1x2x2;bias=1,;fill=growing;f16,bf16",
]
LAID = [
    "x=2x3x5x4;weight=3x1x2x3;layout=cropped",
    "x=1x1x1x1;weight=1x1x1x1;bias=1,;layout=offset",
    "x=2x1x3x4;weight=1x1x1x1;bias=1,;layout=weight:offset,bias:offset",
    "x=1x1x1x1;weight=1x1x3x3;bias=1,;padding=1;layout=x:offset",
]
ALIGNED = aligned(
    "x=2x16x8x8;weight=16x1x3x3;bias=16,;padding=1",
    "x=1x32x8x8;weight=32x1x3x3;bias=32,;padding=1",
    "x=1x64x4x8;weight=64x1x1x1",
    "x=1x64x8x8;weight=64x1x3x3;bias=64,;stride=2",
    "x=2x16x9x7;weight=16x1x5x5;bias=16,;padding=2;stride=2",
    "x=1x32x8x8;weight=32x1x3x3;padding=2;dilation=2",
    "x=2x16x8x16;weight=16x1x3x3;padding=1",
    "x=2x128x4x4;weight=128x1x2x2",
)
LONG, LONGEST = lengths(
    "x={n}x1x2x2;weight=1x1x2x2;bias=1,",
    "x=1x1x{n}x2;weight=1x1x3x2",
    "!x=1x1x2x{n};weight=1x1x2x3",
    "x=1x{n}x2x1;weight={n}x1x2x1;bias={n},",
)
LONG += lengths("x=1x1x{n}x1;weight=1x1x{n}x1", "x=1x1x1x{n};weight=1x1x1x{n}", upto=1025)[0]
SHAPES = [
    # past a block of 256 cells, of several images
    "x=2x3x260x3;weight=3x1x257x2;f32",
    "x=2x3x9x11;weight=3x1x9x9;padding=4",
    # one size with what is added at the ends, less of it first
    "x=2x3x6x8;weight=3x1x3x3;padding=1;f32",
    "x=2x3x4x6;weight=3x1x3x3;padding=2;f32",
]
SHORT = {"weight.2": KERNEL, "weight.3": KERNEL, "weight.1": Limit(0, "it is 1: every channel has a kernel of its own")}
ATTRIBUTES = conv_attributes(2, depthwise=True)
FULL = [
    "x=1x3x65x129;weight=3x1x5x3;padding=(2,1)",
    "x=1x65537x2x2;weight=65537x1x2x2",
]
WITHOUT = WINDOWS
