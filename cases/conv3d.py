"""Cases of conv3d: unlike axes in every parameter, groups, stride unlike dilation, cells that no window covers."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import KERNEL, lengths
from opproof.cases._rows.reasons import WINDOWS
from opproof.cases._rows.windows import conv_attributes

SMOKE = [
    "x=1x2x4x5x6;weight=3x2x2x3x2;bias=3,;padding=1",
    "x=1x4x5x4x7;weight=2x2x3x2x3;stride=2;groups=2",
]
STANDARD = [
    "x=1x1x1x1x1;weight=1x1x1x1x1;bias=1,",
    "x=2x3x2x5x4;weight=4x3x1x1x1;layout=offset",
    "x=1x2x5x4x6;weight=3x2x3x2x1;bias=3,;stride=(2,1,3);padding=(1,0,2);layout=x:transposed",
    "x=1x2x6x5x4;weight=3x2x2x3x2;bias=3,;stride=(1,2,1);padding=(0,1,1);dilation=(2,1,3);layout=weight:transposed",
    "x=1x2x7x6x5;weight=2x2x3x2x2;stride=(3,2,1);dilation=(2,3,1);padding=(2,1,0);fill=wide",
    "x=2x4x5x3x4;weight=6x2x3x3x3;bias=6,;stride=2;padding=1;groups=2;layout=permuted",
    "x=2x3x4x5x3;weight=6x1x2x3x2;stride=(1,2,1);groups=3;layout=x:sliced",
    "x=2x4x3x4x5;weight=4x1x3x3x3;bias=4,;groups=4;padding=1;layout=gapped",
    "x=1x4x5x5x5;weight=2x2x2x2x2;stride=2;dilation=2;groups=2;padding=1;layout=weight:sliced",
    "x=1x2x5x6x7;weight=3x2x2x1x2;stride=(3,4,3);bias=3,",
    "x=2x2x3x4x4;weight=3x2x2x2x2;bias=3,;layout=x:broadcast",
    "x=1x2x3x4x5;weight=3x2x3x4x5",
    "x=1x2x3x4x5;weight=3x2x2x2x2;bias=3,;needs=x",
    "x=1x2x3x4x5;weight=3x2x2x2x2;bias=3,;needs=weight,bias;layout=x:permuted",
    "x=2x1x4x5x3;weight=3x1x2x1x2;fill=offset",
    "x=1x2x4x4x3;weight=3x2x2x2x2;fill=zeros;dilation=(1,2,1)",
    "x=1x2x4x3x3;weight=2x2x2x2x2;bias=2,;fill=signs;padding=(1,0,1)",
    "x=1x2x3x3x2;weight=2x1x2x2x2;groups=2;fill=exact;layout=transposed",
    "x=0x2x3x3x3;weight=3x2x2x2x2;bias=3,",
    "x=1x33x2x3x2;weight=2x33x2x2x2",
    "x=1x3x5x9x7;weight=9x3x3x3x3;padding=1;stride=2",
    "x=1x3x3x3x131;weight=3x3x2x2x2",
    "x=1x65x2x2x3;weight=2x65x1x2x2",
    "x=1x2x4x5x6;weight=3x2x2x3x2;bias=3,;padding=1;layout=weight:broadcast,bias:sliced",
    "x=1x2x4x5x6;weight=3x2x2x3x2;bias=3,;padding=1;layout=bias:offset",
    "x=1x4099x1x2x2;weight=2x4099x1x1x2;f16,bf16",
    "x=4099x1x1x2x3;weight=2x1x1x2x2;bias=2,;fill=growing;f16,bf16",
    "x=4x16x1x1x1;weight=2x16x3x3x3;stride=2;padding=1",  # weights that meet nothing but padding
]
LAID = [
    "x=2x3x2x4x5;weight=2x3x2x2x3;layout=cropped",
    "x=1x1x1x1x1;weight=3x1x1x1x1;bias=3,;layout=x:offset",
    "x=2x1x2x3x4;weight=1x1x1x1x1;bias=1,;layout=weight:offset,bias:offset",
]
ALIGNED = aligned(
    "x=1x16x4x4x4;weight=16x16x3x3x3;bias=16,;padding=1",
    "x=1x32x2x4x4;weight=32x32x1x3x3;bias=32,",
    "x=1x16x4x4x4;weight=32x16x1x1x1",
    "x=1x64x2x4x4;weight=64x64x1x1x1;bias=64,;stride=2",
    "x=2x16x3x5x4;weight=16x16x2x2x2;bias=16,;stride=2",
    "x=1x32x3x4x4;weight=32x16x2x2x2;bias=32,;groups=2",
    "x=1x16x3x4x4;weight=48x16x2x2x2",
    "x=1x104x2x4x4;weight=24x104x1x1x1;f32",
)
LONG, LONGEST = lengths(
    "x={n}x1x1x2x2;weight=2x1x1x2x2;bias=2,",
    "x=1x{n}x1x1x2;weight=2x{n}x1x1x1",
    "x=1x1x{n}x2x1;weight=2x1x3x2x1",
    "x=1x1x1x{n}x2;weight=2x1x1x3x2",
    "!x=1x1x2x1x{n};weight=2x1x2x1x3",
    "x=1x1x1x2x2;weight={n}x1x1x2x2;bias={n},",
)
LONG += lengths(
    "x=1x1x{n}x1x1;weight=1x1x{n}x1x1",
    "x=1x1x1x{n}x1;weight=1x1x1x{n}x1",
    "x=1x1x1x1x{n};weight=1x1x1x1x{n}",
    upto=1025,
)[0]
SHAPES = [
    # past a block of 256 cells, of several images in groups
    "x=2x4x259x2x2;weight=6x2x257x1x1;groups=2;f32",
    "x=2x2x3x4x5;weight=1x2x2x3x2;bias=1,",
    "x=2x1x3x4x5;weight=3x1x2x3x2;bias=3,",
    "x=1x2x2x3x2;weight=3x2x3x4x3;padding=(1,1,1)",
    "x=2x2x5x6x7;weight=3x2x2x3x2;stride=2;padding=1;dilation=2",
    "x=1x2x7x7x10;weight=2x2x3x3x3;stride=(3,3,3);padding=(1,1,1);dilation=(2,2,2)",
    # one size with what is added at the ends, less of it first
    "x=1x2x4x5x6;weight=3x2x3x3x3;padding=1;f32",
    "x=1x2x2x3x4;weight=3x2x3x3x3;padding=2;f32",
]
SHORT = {"weight.2": KERNEL, "weight.3": KERNEL, "weight.4": KERNEL}
ATTRIBUTES = conv_attributes(3)
FULL = [
    "x=1x1x2x2x1031;weight=1x1x1x2x2",
    "x=1x129x3x4x5;weight=3x129x3x3x3;padding=1",
    "x=1x2x33x17x9;weight=3x2x3x5x2;stride=(2,1,2)",
]
WITHOUT = WINDOWS
