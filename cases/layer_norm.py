"""Cases of layer_norm: with and without weight and bias (ggml's norm has neither), eps that matters, large means."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.mixed import NORMS, mixed
from opproof.cases._rows.row import BETWEEN

SMOKE = ["x=7x33;normalized_shape=(33)", "x=7x33;weight=33,;bias=33,;normalized_shape=(33)"]
STANDARD = [
    "x=7x33;normalized_shape=(33);inplace=x",
    "x=7x33;weight=33,;bias=33,;normalized_shape=(33);inplace=x",
    "x=3x2x65;weight=65,;bias=65,;normalized_shape=(65);layout=x:transposed;inplace=x",
    "x=9x33;weight=33,;normalized_shape=(33);eps=1e-12;fill=small",
    "x=9x65;weight=65,;bias=65,;normalized_shape=(65);fill=offset-1e3;f32,f16,bf16",
    "x=9x65;weight=65,;bias=65,;normalized_shape=(65);fill=offset-1e4;f32",
    "x=9x65;weight=65,;bias=65,;normalized_shape=(65);fill=heavy;f16",
    "x=25x7;weight=7,;normalized_shape=(7);fill=special-rows",
    "x=9,;normalized_shape=(9)",
    "x=5x31;weight=31,;normalized_shape=(31);eps=0.1",
    "x=5x31;bias=31,;normalized_shape=(31);eps=0.001",
    "x=3x32;weight=32,;bias=32,;normalized_shape=(32);fill=wide;layout=offset",
    "x=2x3x65;weight=65,;bias=65,;normalized_shape=(65);layout=x:transposed",
    "x=2x3x4x7;weight=4x7;bias=4x7;normalized_shape=(4,7);layout=permuted",
    "x=2x5x3x4;weight=5x3x4;normalized_shape=(5,3,4);eps=0.1;layout=weight:transposed",
    "x=3x33;weight=33,;bias=33,;normalized_shape=(33);fill=extreme;layout=sliced",
    "x=4x128;weight=128,;bias=128,;normalized_shape=(128);layout=gapped",
    "x=5x63;weight=63,;bias=63,;normalized_shape=(63);layout=x:broadcast",
    "x=5x64;weight=64,;bias=64,;normalized_shape=(64);needs=x",
    "x=5x64;weight=64,;bias=64,;normalized_shape=(64);needs=weight,bias;layout=x:transposed",
    "x=4x99;weight=99,;bias=99,;normalized_shape=(99);fill=offset",
    "x=33x2;weight=2,;bias=2,;normalized_shape=(2);fill=ties;eps=0.1",
    "x=16385x2;weight=2,;bias=2,;normalized_shape=(2);f32",
    "x=2x257;normalized_shape=(257);fill=zeros",
    "x=6x11;normalized_shape=(11);fill=small",
    "x=4x13;normalized_shape=(13);fill=small;eps=0.1",
    "x=33x1;weight=1,;bias=1,;normalized_shape=(1);eps=0.1",
    "x=0x5;weight=5,;bias=5,;normalized_shape=(5)",
    "x=3x768;weight=768,;bias=768,;normalized_shape=(768)",
    "x=130x6;weight=6,;bias=6,;normalized_shape=(6)",
    "x=2x1031;normalized_shape=(1031);f32,f16",
    "x=2x4099;weight=4099,;bias=4099,;normalized_shape=(4099);f32",
    "x=2x3x4x7;weight=4x7;bias=4x7;normalized_shape=(4,7);layout=weight:gapped,bias:transposed",
    "x=5x4x7;weight=4x7;bias=4x7;normalized_shape=(4,7);layout=weight:broadcast,bias:gapped",
    "x=5x4x7;weight=4x7;bias=4x7;normalized_shape=(4,7);layout=bias:broadcast",
    "x=65x3;normalized_shape=(3);fill=special",
    "x=33x5;normalized_shape=(5);fill=negative",
    "x=2x1031;normalized_shape=(1031);bf16",
    f"x=9x65;normalized_shape=(65);eps={BETWEEN};fill=small;f16,bf16",
    "x=4099x5;weight=5,;bias=5,;normalized_shape=(5);fill=growing;f16,bf16",
    "x=9x9;weight=9,;bias=9,;normalized_shape=(9)",
]
MIXED = mixed(
    "weight,bias",
    NORMS,
    "x=7x33;weight=33,;bias=33,;normalized_shape=(33)",
    "x=5x64;weight=64,;bias=64,;normalized_shape=(64);fill=offset",
    "x=2x3x31;weight=3x31;bias=3x31;normalized_shape=(3,31)",
    "x=4x1031;weight=1031,;normalized_shape=(1031);layout=x:transposed",
)
LAID = [
    "x=2x3x5x7;weight=5x7;bias=5x7;normalized_shape=(5,7);layout=x:cropped",
    "x=3x2x5x7;weight=2x5x7;bias=2x5x7;normalized_shape=(2,5,7);layout=cropped",
    "x=5x1;weight=1,;bias=1,;normalized_shape=(1);layout=weight:offset,bias:offset",
    "x=1,;weight=1,;bias=1,;normalized_shape=(1);layout=x:offset",
]
ALIGNED = aligned(
    "x=16x64;weight=64,;bias=64,;normalized_shape=(64)",
    "x=64x128;weight=128,;bias=128,;normalized_shape=(128)",
    "x=32x128;weight=128,;normalized_shape=(128)",
    "x=16x256;weight=256,;bias=256,;normalized_shape=(256)",
    "x=2x16x64;weight=64,;bias=64,;normalized_shape=(64)",
    "x=48x64;normalized_shape=(64)",
    "x=2x16x32;weight=16x32;bias=16x32;normalized_shape=(16,32)",
    "x=32x64;weight=64,;bias=64,;normalized_shape=(64)",
    "x=16x1024;weight=1024,;bias=1024,;normalized_shape=(1024);f16,f32",
    "x=16x4096;weight=4096,;bias=4096,;normalized_shape=(4096);f16,bf16",
)
LONG, LONGEST = lengths(
    "x={n}x5;weight=5,;bias=5,;normalized_shape=(5)",
    "x=2x{n}x2;weight={n}x2;bias={n}x2;normalized_shape=({n},2)",
    "x=2x{n};weight={n},;bias={n},;normalized_shape=({n})",
)
SHAPES = [
    "x=3x1031;weight=1031,;bias=1031,;normalized_shape=(1031);fill=leading;f32",
    "x=5x257;normalized_shape=(257);fill=outliers;f16",
    "x=65x9;weight=9,;bias=9,;normalized_shape=(9);fill=spread;f32",
    "x=1031x67;weight=67,;bias=67,;normalized_shape=(67);f32",
    # more rows than a block has, each longer than 4096
    "x=18x4100;weight=4100,;bias=4100,;normalized_shape=(4100);f32",
    "x=5x1031;weight=1031,;bias=1031,;normalized_shape=(1031);fill=offset-1e3;f32",  # long rows take another path
]
FULL = ["x=2x12289;normalized_shape=(12289)", "x=65537x3;weight=3,;bias=3,;normalized_shape=(3)"]
