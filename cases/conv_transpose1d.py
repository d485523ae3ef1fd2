"""Cases of conv_transpose1d: output_padding, groups with stride, stride unlike dilation, gaps between kernels."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import KERNEL, lengths
from opproof.cases._rows.reasons import WINDOWS
from opproof.cases._rows.windows import transposed_attributes

SMOKE = [
    "x=2x3x5;weight=3x4x3;bias=4,;stride=2;padding=1",
    "x=2x4x5;weight=4x3x3;stride=3;groups=2;output_padding=1",
]
STANDARD = [
    "x=1x1x1;weight=1x1x1;bias=1,",
    "x=2x3x7;weight=3x4x1;layout=offset",
    "x=2x3x6;weight=3x5x4;bias=5,;stride=3;padding=2;output_padding=2;layout=x:transposed",
    "x=2x3x7;weight=3x5x3;bias=5,;stride=2;padding=1;dilation=3;layout=weight:transposed",
    "x=2x3x5;weight=3x2x3;stride=3;dilation=2;padding=1;fill=wide",
    "x=2x6x5;weight=6x3x3;bias=9,;stride=2;padding=1;groups=3;layout=permuted",
    "x=2x4x5;weight=4x2x3;stride=2;groups=4;layout=x:sliced",
    "x=3x5x7;weight=5x1x3;bias=5,;groups=5;padding=1;dilation=2;layout=gapped",
    "x=2x4x5;weight=4x2x5;stride=2;padding=2;dilation=2;groups=2;output_padding=1;layout=weight:sliced",
    "x=2x2x5;weight=2x3x2;stride=4;bias=3,",
    "x=2x2x5;weight=2x3x2;stride=2;dilation=3;output_padding=2",
    "x=2x3x4;weight=3x5x2;bias=5,;stride=3;output_padding=2",
    "x=2x3x4;weight=3x4x3;bias=4,;stride=2;layout=x:broadcast",
    "x=2x3x5;weight=3x4x3;bias=4,;needs=x",
    "x=2x3x5;weight=3x4x3;bias=4,;needs=weight,bias;layout=x:permuted",
    "x=2x3x7;weight=3x4x3;fill=offset;padding=1",
    "x=2x3x7;weight=3x4x3;fill=zeros;dilation=2",
    "x=2x3x5;weight=3x2x3;bias=2,;stride=2;fill=signs",
    "x=1x4x5;weight=4x1x2;stride=2;groups=2;fill=exact;layout=x:transposed",
    "x=0x3x5;weight=3x4x3;bias=4,",
    "x=2x65x6;weight=65x3x3;bias=3,;padding=1",
    "x=1x33x9;weight=33x3x3;padding=1;stride=2",
    "x=1x257x5;weight=257x2x3;f32,f16",
    "x=2x3x131;weight=3x5x3;bias=5,",
    "x=2x3x5;weight=3x4x3;bias=4,;stride=2;padding=1;layout=weight:broadcast,bias:sliced",
    "x=2x3x5;weight=3x4x3;bias=4,;stride=2;padding=1;layout=bias:offset",
    "x=1x4099x3;weight=4099x2x2;f16,bf16",
    "x=4099x1x2;weight=1x2x2;bias=2,;fill=growing;f16,bf16",
]
LAID = [
    "x=2x3x4;weight=3x2x3;layout=cropped",
    "x=1x1x1;weight=1x3x2;bias=3,;layout=x:offset",
    "x=2x1x4;weight=1x1x1;bias=1,;layout=weight:offset,bias:offset",
]
ALIGNED = aligned(
    "x=2x16x16;weight=16x16x3;bias=16,;padding=1",
    "x=2x32x8;weight=32x32x3;bias=32,;stride=2",
    "x=2x16x16;weight=16x32x1",
    "x=2x64x8;weight=64x64x2;bias=64,;stride=2",
    "x=2x16x15;weight=16x16x3;bias=16,;padding=1;stride=2;output_padding=1",
    "x=2x32x8;weight=32x16x3;bias=32,;groups=2;dilation=2",
    "x=2x16x16;weight=16x48x3;padding=1",
    "x=2x104x16;weight=104x24x1;f32",
)
LONG, LONGEST = lengths(
    "x={n}x1x2;weight=1x2x2;bias=2,",
    "!x=1x{n}x2;weight={n}x2x1",
    "x=1x1x{n};weight=1x2x3",
    "x=1x1x2;weight=1x{n}x2;bias={n},",
)
LONG += lengths("x=1x1x2;weight=1x1x{n}", upto=1025)[0]
SHAPES = [
    # past a block of 256 cells, of several images in groups
    "x=2x4x5;weight=4x3x257;stride=2;groups=2;f32",
    "x=2x3x7;weight=3x1x3;stride=2",
    "x=2x1x7;weight=1x4x3;bias=4,;padding=1",
    "x=2x2x9;weight=2x3x9",
]
SHORT = {"weight.2": KERNEL}
ATTRIBUTES = transposed_attributes(1)
FULL = [
    "x=1x2x12289;weight=2x2x7;padding=3;stride=2",
    "x=1x4097x5;weight=4097x2x3;f32",
]
WITHOUT = WINDOWS
