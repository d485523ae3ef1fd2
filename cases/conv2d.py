"""Cases of conv2d: groups with stride and odd sizes, stride unlike dilation, depthwise, cells that no window covers."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import KERNEL, lengths
from opproof.cases._rows.mixed import HALVES, mixed
from opproof.cases._rows.reasons import WINDOWS
from opproof.cases._rows.windows import conv_attributes

SMOKE = ["x=2x3x7x9;weight=4x3x3x3;bias=4,;padding=1", "x=2x4x7x9;weight=6x2x3x2;stride=2;groups=2"]
STANDARD = [
    "x=1x1x1x1;weight=1x1x1x1;bias=1,",
    "x=2x3x5x7;weight=4x3x1x1;layout=offset",
    "x=2x3x9x6;weight=5x3x3x2;bias=5,;stride=(2,1);padding=(1,0);layout=x:transposed",
    "x=2x3x6x9;weight=5x3x2x3;bias=5,;stride=(1,2);padding=(0,1);dilation=(2,1);layout=weight:transposed",
    "x=2x3x11x8;weight=2x3x3x3;stride=(2,3);dilation=(3,2);padding=(2,3);fill=wide",
    "x=2x6x7x9;weight=9x2x3x3;bias=9,;stride=2;padding=1;groups=3;layout=permuted",
    "x=2x4x9x7;weight=8x1x3x2;stride=(2,1);padding=(1,2);groups=4;layout=x:sliced",
    "x=3x5x8x7;weight=5x1x3x3;bias=5,;groups=5;padding=1;dilation=2;layout=gapped",
    "x=2x4x9x9;weight=4x2x5x5;stride=2;padding=2;dilation=2;groups=2;layout=weight:sliced",
    "x=2x2x8x11;weight=3x2x2x3;stride=(3,4);bias=3,",
    "x=2x2x7x5;weight=3x2x1x1;stride=(3,2);padding=1",
    "x=2x3x7x7;weight=4x3x3x3;bias=4,;stride=2;layout=x:broadcast",
    "x=2x3x5x4;weight=4x3x5x4",
    "x=2x3x4x5;weight=4x3x4x6;padding=(3,2);stride=(2,1)",
    "x=2x3x6x5;weight=4x3x3x3;bias=4,;needs=x",
    "x=2x3x6x5;weight=4x3x3x3;bias=4,;needs=weight,bias;layout=x:permuted",
    "x=2x3x6x7;weight=4x3x3x3;fill=offset;padding=1",
    "x=2x3x6x7;weight=4x3x3x3;fill=zeros;dilation=(1,2)",
    "x=1x2x6x5;weight=3x2x3x2;bias=3,;stride=(2,1);padding=1;fill=signs",
    "x=1x4x5x4;weight=2x2x2x2;stride=(2,1);groups=2;fill=exact;layout=x:transposed",
    "x=2x4x6x5;weight=4x1x3x3;groups=4;padding=1;dilation=(1,2);fill=signs;layout=permuted",
    "x=0x3x5x5;weight=4x3x3x3;bias=4,",
    "x=2x65x4x5;weight=3x65x3x3;bias=3,;padding=1",
    "x=1x3x17x33;weight=33x3x3x3;padding=1;stride=2",
    "x=1x128x3x4;weight=2x128x3x3;padding=1;f32,f16",
    "x=1x2x5x69;weight=3x2x3x3;bias=3,;padding=(1,0)",
    "x=2x3x7x9;weight=4x3x3x3;bias=4,;padding=1;layout=weight:broadcast,bias:sliced",
    "x=2x3x7x9;weight=4x3x3x3;bias=4,;padding=1;layout=bias:offset",
    "x=1x4099x2x2;weight=2x4099x1x2;f16,bf16",
    "x=4099x1x2x3;weight=2x1x2x2;bias=2,;fill=growing;f16,bf16",
    "x=4x16x1x1;weight=2x16x3x3;stride=2;padding=1",  # weights that meet nothing but padding
]
MIXED = mixed(
    "weight",
    HALVES,
    "x=2x3x9x8;weight=4x3x3x3;padding=1",
    "x=1x4x7x9;weight=6x2x3x2;stride=2;groups=2",
    "x=1x16x8x8;weight=16x16x3x3;padding=1",
    "x=2x3x5x7;weight=4x3x1x1;layout=x:permuted",
)
LAID = [
    "x=2x3x5x4;weight=4x3x2x3;layout=cropped",
    "x=1x1x1x1;weight=3x1x1x1;bias=3,;layout=x:offset",
    "x=2x1x3x4;weight=1x1x1x1;bias=1,;layout=weight:offset,bias:offset",
]
ALIGNED = aligned(
    "x=2x16x8x8;weight=16x16x3x3;bias=16,;padding=1",
    "x=1x32x8x8;weight=32x32x3x3;bias=32,;padding=1",
    "x=1x16x16x16;weight=32x16x1x1",
    "x=1x64x4x8;weight=64x64x1x1;bias=64,;stride=2",
    "x=2x16x9x7;weight=16x16x3x3;bias=16,;padding=1;stride=2",
    "x=1x32x8x8;weight=32x16x3x3;bias=32,;groups=2;padding=1;dilation=2",
    "x=2x16x8x16;weight=48x16x3x3;padding=1",
    "x=1x16x7x7;weight=16x1x3x3;groups=16;padding=1",
    "x=1x104x8x8;weight=24x104x1x1;f32",
)
LONG, LONGEST = lengths(
    "x={n}x1x2x2;weight=2x1x2x2;bias=2,",
    "x=1x{n}x1x2;weight=2x{n}x1x1",
    "x=1x1x{n}x2;weight=2x1x3x2",
    "!x=1x1x2x{n};weight=2x1x2x3",
    "x=1x1x2x2;weight={n}x1x2x2;bias={n},",
)
LONG += lengths("x=1x1x{n}x1;weight=1x1x{n}x1", "x=1x1x1x{n};weight=1x1x1x{n}", upto=1025)[0]
SHAPES = [
    # past a block of 256 cells, of several images in groups
    "x=2x4x260x3;weight=6x2x257x2;groups=2;f32",
    "x=2x3x9x9;weight=4x3x3x3;bias=4,;fill=spread;f32",
    "x=2x3x5x7;weight=1x3x3x2;bias=1,",
    "x=2x1x5x7;weight=5x1x3x2;bias=5,",
    "x=2x3x3x4;weight=4x3x5x4;padding=(2,1)",
    "x=1x2x12x13;weight=3x2x9x11;padding=(4,5)",
    # a batch past 4 and, at once, more than 64 channels in and out
    "x=5x66x5x4;weight=67x66x3x3;bias=67,;padding=1;f32,f16",
    # kernels of f64 at ordinary sizes
    "x=2x3x9x6;weight=5x3x3x2;bias=5,;stride=(2,1);padding=(1,0);f64",
    "x=2x65x4x5;weight=3x65x3x3;padding=1;f64",
    "x=2x2x10x7;weight=2x2x3x3;stride=(3,3);padding=(1,1);dilation=(2,2)",
    # one size with what is added at the ends, less of it first
    "x=2x2x6x8;weight=3x2x3x3;padding=1;f32",
    "x=2x2x4x6;weight=3x2x3x3;padding=2;f32",
    "x=1x8x8x16;weight=128x8x1x1;f32",  # whole tiles, of fewer terms than a step has
]
SHORT = {"weight.2": KERNEL, "weight.3": KERNEL}
ATTRIBUTES = conv_attributes(2)
FULL = [
    "x=1x1x3x1031;weight=2x1x3x3",
    "x=1x1024x5x6;weight=4x1024x3x3;padding=1",
    "x=2x3x129x65;weight=8x3x7x5;stride=(3,2);padding=(3,2)",
]
WITHOUT = WINDOWS
