"""Cases of stft: frames that overlap and that leave numbers over, mirrored ends, odd windows, those of speech."""

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.reasons import PRODUCTS

SMOKE = ["x=2x33;window=8,;n_fft=8;hop_length=3"]
STANDARD = [
    "x=3x31;window=8,;n_fft=8;hop_length=4;center=true;layout=x:transposed",
    "x=3x65;window=9,;n_fft=9;hop_length=2;center=true;layout=x:sliced",
    "x=2x97;window=16,;n_fft=16;hop_length=16;layout=window:sliced",
    "x=2x40;window=7,;n_fft=7;hop_length=9;layout=gapped",
    "x=2x64;window=16,;n_fft=16;hop_length=5;layout=offset",
    "x=5x32;window=8,;n_fft=8;hop_length=2;layout=x:broadcast",
    "x=2x32;window=8,;n_fft=8;hop_length=2;fill=wide",
    "x=2x32;window=8,;n_fft=8;hop_length=2;fill=offset;center=true",
    "x=2x32;window=8,;n_fft=8;hop_length=2;fill=zeros",
    "x=2x32;window=8,;n_fft=8;hop_length=2;needs=x;center=true",
    "x=2x32;window=8,;n_fft=8;hop_length=2;needs=window",
    "x=1x1;window=1,;n_fft=1;hop_length=1",
    "x=0x32;window=8,;n_fft=8;hop_length=2",
    "x=1x1200;window=400,;n_fft=400;hop_length=160;center=true;f32",
    "x=1x1031;window=1031,;n_fft=1031;hop_length=1;f16,bf16",
    "x=1x4200;window=4099,;n_fft=4099;hop_length=50;f32",
]
LAID = [
    "x=3x32;window=8,;n_fft=8;hop_length=3;layout=x:cropped",
    "x=1x1;window=1,;n_fft=1;hop_length=1;layout=offset",
    "x=2x5;window=1,;n_fft=1;hop_length=1;layout=window:offset",
]
ALIGNED = aligned(
    "x=16x64;window=16,;n_fft=16;hop_length=8",
    "x=16x128;window=32,;n_fft=32;hop_length=16",
    "x=32x256;window=64,;n_fft=64;hop_length=64",
    "x=16x512;window=256,;n_fft=256;hop_length=128",
    "x=16x64;window=16,;n_fft=16;hop_length=16;center=true",
    "x=16x96;window=16,;n_fft=16;hop_length=4",
    "x=48x64;window=32,;n_fft=32;hop_length=16",
)
LONG, LONGEST = lengths(
    "x={n}x4;window=4,;n_fft=4;hop_length=2",
    "x=1x{n};window=8,;n_fft=8;hop_length=64",
    "x=1x{n};window={n},;n_fft={n};hop_length=1",
)
FULL = ["x=2x16000;window=400,;n_fft=400;hop_length=160;center=true;f32"]
WITHOUT = {
    "extreme": PRODUCTS["extreme"],
    "NaN, inf": "which results are NaN and which infinite depends on the order of the sums",
    "leading": "signals have one axis beside the batch",
}
