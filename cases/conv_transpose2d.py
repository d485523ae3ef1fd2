"""Cases of conv_transpose2d: output_padding, groups with stride, stride unlike dilation, unlike axes everywhere."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import KERNEL, lengths
from opproof.cases._rows.reasons import WINDOWS
from opproof.cases._rows.windows import transposed_attributes

SMOKE = [
    "x=2x3x4x5;weight=3x4x3x3;bias=4,;stride=2;padding=1",
    "x=2x4x3x5;weight=4x3x3x2;stride=(2,3);groups=2;output_padding=(1,2)",
]
STANDARD = [
    "x=1x1x1x1;weight=1x1x1x1;bias=1,",
    "x=2x3x5x4;weight=3x4x1x1;layout=offset",
    "x=2x3x5x3;weight=3x5x3x2;bias=5,;stride=(2,1);padding=(1,0);layout=x:transposed",
    "x=2x3x3x5;weight=3x5x2x3;bias=5,;stride=(1,2);padding=(0,1);dilation=(2,1);output_padding=(0,1);layout=weight:transposed",
    "x=2x3x4x3;weight=3x2x3x3;stride=(2,3);dilation=(3,2);padding=(2,3);fill=wide",
    "x=2x6x3x4;weight=6x3x3x3;bias=9,;stride=2;padding=1;groups=3;layout=permuted",
    "x=2x4x3x5;weight=4x2x3x2;stride=(2,1);groups=4;layout=x:sliced",
    "x=3x5x4x3;weight=5x1x3x3;bias=5,;groups=5;padding=1;dilation=2;layout=gapped",
    "x=2x4x3x3;weight=4x2x5x5;stride=2;padding=2;dilation=2;groups=2;output_padding=1;layout=weight:sliced",
    "x=2x2x3x2;weight=2x3x2x3;stride=(3,4);bias=3,",
    "x=2x2x3x4;weight=2x3x2x2;stride=2;dilation=3;output_padding=(2,1)",
    "x=2x3x3x4;weight=3x5x2x3;bias=5,;stride=(3,2);padding=(0,1);output_padding=(2,1)",
    "x=2x3x4x3;weight=3x4x3x3;bias=4,;stride=2;layout=x:broadcast",
    "x=2x3x3x4;weight=3x4x3x3;bias=4,;needs=x",
    "x=2x3x3x4;weight=3x4x3x3;bias=4,;needs=weight,bias;layout=x:permuted",
    "x=2x3x4x5;weight=3x4x3x3;fill=offset;padding=1",
    "x=2x3x4x5;weight=3x4x3x3;fill=zeros;dilation=(1,2)",
    "x=1x2x3x4;weight=2x3x3x2;bias=3,;stride=(2,1);padding=1;fill=signs",
    "x=1x4x2x3;weight=4x1x2x2;stride=(2,1);groups=2;fill=exact;layout=x:transposed",
    "x=0x3x3x3;weight=3x4x3x3;bias=4,",
    "x=2x65x2x3;weight=65x3x3x3;bias=3,;padding=1",
    "x=1x33x5x9;weight=33x3x3x3;padding=1;stride=2",
    "x=1x128x3x2;weight=128x2x3x3;f32,f16",
    "x=1x2x4x67;weight=2x4x2x3;bias=4,",
    "x=2x3x4x5;weight=3x4x3x3;bias=4,;stride=2;padding=1;layout=weight:broadcast,bias:sliced",
    "x=2x3x4x5;weight=3x4x3x3;bias=4,;stride=2;padding=1;layout=bias:offset",
    "x=1x4099x2x2;weight=4099x2x1x2;f16,bf16",
    "x=4099x1x1x2;weight=1x2x1x2;bias=2,;fill=growing;f16,bf16",
]
LAID = [
    "x=2x3x4x3;weight=3x2x3x2;layout=cropped",
    "x=1x1x1x1;weight=1x3x2x2;bias=3,;layout=x:offset",
    "x=2x1x4x3;weight=1x1x1x1;bias=1,;layout=weight:offset,bias:offset",
]
ALIGNED = aligned(
    "x=2x16x4x4;weight=16x16x3x3;bias=16,;padding=1",
    "x=1x32x4x4;weight=32x32x3x3;bias=32,;stride=2",
    "x=1x16x8x8;weight=16x32x1x1",
    "x=1x64x4x4;weight=64x64x2x2;bias=64,;stride=2",
    "x=2x16x5x4;weight=16x16x3x3;bias=16,;padding=1;stride=2;output_padding=1",
    "x=1x32x4x4;weight=32x16x3x3;bias=32,;groups=2;dilation=2",
    "x=2x16x4x8;weight=16x48x3x3;padding=1",
    "x=1x104x4x8;weight=104x24x1x1;f32",
)
LONG, LONGEST = lengths(
    "x={n}x1x2x1;weight=1x2x2x1;bias=2,",
    "!x=1x{n}x2x1;weight={n}x2x1x1",
    "x=1x1x{n}x2;weight=1x2x3x1",
    "x=1x1x2x{n};weight=1x2x1x3",
    "x=1x1x2x1;weight=1x{n}x2x1;bias={n},",
)
LONG += lengths("x=1x1x2x1;weight=1x1x{n}x1", "x=1x1x1x2;weight=1x1x1x{n}", upto=1025)[0]
SHAPES = [
    # past a block of 256 cells, of several images in groups
    "x=2x4x3x2;weight=4x3x257x2;stride=2;groups=2;f32",
    "x=2x3x4x5;weight=3x1x3x2;stride=2",
    "x=2x1x4x5;weight=1x4x2x3;bias=4,;padding=1",
    "x=1x2x4x5;weight=2x2x9x9",
    # a batch past 4 and, at once, more than 64 channels in and out
    "x=5x66x3x4;weight=66x67x2x3;bias=67,;stride=2;f32",
]
SHORT = {"weight.2": KERNEL, "weight.3": KERNEL}
ATTRIBUTES = transposed_attributes(2)
FULL = [
    "x=1x2x2x1031;weight=2x2x2x3",
    "x=1x1024x3x4;weight=1024x2x3x3",
    "x=1x3x65x129;weight=3x4x4x4;stride=2;padding=1",
]
WITHOUT = WINDOWS
