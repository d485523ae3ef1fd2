"""Cases of conv1d: groups with stride and odd sizes, stride unlike dilation, depthwise, cells that no window covers."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import KERNEL, lengths
from opproof.cases._rows.reasons import WINDOWS
from opproof.cases._rows.windows import conv_attributes

SMOKE = [
    "x=2x3x9;weight=4x3x3;bias=4,;padding=1",
    "x=2x4x11;weight=6x2x3;stride=2;groups=2",
]
STANDARD = [
    "x=1x1x1;weight=1x1x1;bias=1,",
    "x=2x3x7;weight=4x3x1;layout=offset",
    "x=2x3x10;weight=5x3x4;bias=5,;stride=3;padding=2;layout=x:transposed",
    "x=2x3x13;weight=5x3x3;bias=5,;stride=2;padding=1;dilation=3;layout=weight:transposed",
    "x=2x3x12;weight=2x3x3;stride=3;dilation=2;padding=3;fill=wide",
    "x=2x6x9;weight=9x2x3;bias=9,;stride=2;padding=1;groups=3;layout=permuted",
    "x=2x4x9;weight=8x1x3;stride=2;padding=2;groups=4;layout=x:sliced",
    "x=3x5x7;weight=5x1x3;bias=5,;groups=5;padding=1;dilation=2;layout=gapped",
    "x=2x4x9;weight=4x2x5;stride=2;padding=2;dilation=2;groups=2;layout=weight:sliced",
    "x=2x2x11;weight=3x2x3;stride=4;bias=3,",
    "x=2x2x7;weight=3x2x1;stride=3;padding=1",
    "x=2x3x7;weight=4x3x3;bias=4,;stride=2;layout=x:broadcast",
    "x=2x3x5;weight=4x3x5",
    "x=2x3x4;weight=4x3x6;padding=3",
    "x=2x3x7;weight=4x3x3;bias=4,;needs=x",
    "x=2x3x7;weight=4x3x3;bias=4,;needs=weight,bias;layout=x:permuted",
    "x=2x3x9;weight=4x3x3;fill=offset;padding=1",
    "x=2x3x9;weight=4x3x3;fill=zeros;dilation=2",
    "x=2x3x9;weight=4x3x3;bias=4,;stride=2;padding=1;fill=exact",
    "x=1x4x9;weight=2x2x2;stride=2;groups=2;fill=exact;layout=x:transposed",
    "x=2x4x11;weight=4x1x3;groups=4;padding=1;dilation=2;fill=signs;layout=permuted",
    "x=0x3x5;weight=4x3x3;bias=4,",
    "x=2x65x6;weight=3x65x3;bias=3,;padding=1",
    "x=1x3x65;weight=33x3x3;padding=1;stride=2",
    "x=1x257x5;weight=2x257x3;padding=1;f32,f16",
    "x=2x3x9;weight=4x3x3;bias=4,;padding=1;layout=weight:broadcast,bias:sliced",
    "x=2x3x9;weight=4x3x3;bias=4,;padding=1;layout=bias:offset",
    "x=1x4099x3;weight=2x4099x2;f16,bf16",
    "x=4099x1x3;weight=2x1x2;bias=2,;fill=growing;f16,bf16",
    "x=4x16x1;weight=2x16x2;stride=2;padding=1",  # weights that meet nothing but padding
]
LAID = [
    "x=2x3x7;weight=4x3x2;layout=cropped",
    "x=1x1x1;weight=3x1x1;bias=3,;layout=x:offset",
    "x=2x1x7;weight=1x1x1;bias=1,;layout=weight:offset,bias:offset",
]
ALIGNED = aligned(
    "x=2x16x16;weight=16x16x3;bias=16,;padding=1",
    "x=2x32x16;weight=32x32x3;bias=32,;padding=1",
    "x=2x16x32;weight=32x16x1",
    "x=2x64x16;weight=64x64x3;bias=64,;stride=2",
    "x=2x16x15;weight=16x16x3;bias=16,;padding=1;stride=2",
    "x=2x32x16;weight=32x16x3;bias=32,;groups=2;padding=1;dilation=2",
    "x=2x16x16;weight=48x16x3;padding=1",
    "x=2x16x64;weight=16x1x4;groups=16",
    "x=2x104x16;weight=24x104x1;f32",
)
LONG, LONGEST = lengths(
    "x={n}x1x2;weight=2x1x2;bias=2,",
    "x=1x{n}x2;weight=2x{n}x1",
    "!x=1x1x{n};weight=2x1x3",
    "x=1x1x2;weight={n}x1x2;bias={n},",
)
LONG += lengths("x=1x1x{n};weight=1x1x{n}", upto=1025)[0]
SHAPES = [
    # past a block of 256 cells, of several images in groups
    "x=2x4x260;weight=6x2x257;groups=2;f32",
    "x=2x3x11;weight=1x3x3;bias=1,",
    "x=2x1x9;weight=5x1x3;bias=5,",
    "x=2x3x4;weight=4x3x5;padding=2",
    "x=2x2x31;weight=3x2x11;padding=5",
    # a batch past 4 and, at once, more than 64 channels in and out
    "x=5x66x7;weight=67x66x3;bias=67,;padding=1;f32",
    "x=2x2x10;weight=2x2x3;stride=3;padding=1;dilation=2",
    # one size with what is added at the ends, less of it first
    "x=2x2x10;weight=3x2x3;padding=1;f32",
    "x=2x2x8;weight=3x2x3;padding=2;f32",
    "x=1x8x128;weight=128x8x1;f32",  # whole tiles, of fewer terms than a step has
]
SHORT = {"weight.2": KERNEL}
ATTRIBUTES = conv_attributes(1)
FULL = [
    "x=1x2x12289;weight=2x2x7;padding=3",
    "x=1x4097x5;weight=2x4097x3;f32",
]
WITHOUT = WINDOWS
