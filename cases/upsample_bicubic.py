"""Cases of upsample_bicubic: larger and smaller, by whole and broken factors, both readings of corners, one cell."""

from opproof.cases._rows.upsamples import aligned_resized, laid_resized, long_resized, whole_resized

SMOKE = [
    "x=2x3x4x5;size=(7,9);align_corners=false",
    "x=2x3x4x5;size=(7,9);align_corners=true",
]
STANDARD = [
    *whole_resized("align_corners=false"),
    *whole_resized("align_corners=true"),
    "x=1x1x3x2;size=(123,98);align_corners=false;f32",
    "x=7x9x1x1;size=(9,17);align_corners=false",
    "x=2x3x4x5;size=(8,10);align_corners=false;layout=transposed",
    "x=2x3x4x5;size=(8,10);align_corners=true;layout=offset",
    "x=2x3x5x4;size=(7,9);align_corners=false;layout=permuted",
    "x=2x3x5x4;size=(7,9);align_corners=true;layout=transposed",
    "x=2x3x9x7;size=(4,5);align_corners=false;layout=sliced",
    "x=2x3x9x7;size=(4,5);align_corners=true;layout=gapped",
    "x=2x3x5x6;size=(3,11);align_corners=false;layout=gapped",
    "x=2x3x6x5;size=(11,3);align_corners=true;layout=sliced",
    "x=3x4x5x3;size=(4,7);align_corners=false;layout=broadcast",
    "x=2x3x5x4;size=(1,1);align_corners=false;f32,f16",
    "x=2x3x5x4;size=(1,6);align_corners=true",
    "x=2x5x1x9;size=(9,17);align_corners=false",
    "x=2x5x9x1;size=(17,9);align_corners=true",
    "x=2x3x4x5;size=(6,13);align_corners=false;fill=wide",
    "x=2x3x4x5;size=(9,7);align_corners=true;fill=offset;f32,f16",
    "x=2x3x4x5;size=(7,8);align_corners=false;fill=extreme",
    "x=2x3x4x5;size=(7,8);align_corners=true;fill=zeros",
    "x=2x3x4x5;size=(7,8);align_corners=true;fill=negative",
    "x=2x33x3x4;size=(5,7);align_corners=false",
    "x=1x2x9x17;size=(16,31);align_corners=true",
    "x=2x3x6x33;size=(9,65);align_corners=false",
    "x=0x2x3x4;size=(5,7);align_corners=false",
    "x=1x2x5x97;size=(3,130);align_corners=false",
]
LAID = laid_resized("align_corners=false")
ALIGNED = aligned_resized("align_corners=false")
LONG, LONGEST = long_resized("align_corners=false")
FULL = [
    "x=1x2x33x65;size=(129,97);align_corners=false",
    "x=65537x1x2x2;size=(3,3);align_corners=true",
]
WITHOUT = {"NaN, inf": "neighbours of weight 0 are multiplied by it, or left out"}
