"""Cases of mel_weight_matrix: few bands and many, so narrow that some share a bin; f32, as no input names a dtype."""

SMOKE = ["bands=8;dft_length=64;rate=8192;lower=100.0;upper=4000.0;f32"]
STANDARD = [
    "bands=1;dft_length=16;rate=16000;lower=0.0;upper=8000.0;f32",
    "bands=2;dft_length=17;rate=16000;lower=0.0;upper=7000.0;f32",
    "bands=8;dft_length=16;rate=8192;lower=0.0;upper=4096.0;f32",
    "bands=13;dft_length=255;rate=11025;lower=20.0;upper=5000.0;f32",
    "bands=40;dft_length=512;rate=16000;lower=133.3;upper=6855.5;f32",
    "bands=80;dft_length=400;rate=16000;lower=0.0;upper=8000.0;f32",
    "bands=128;dft_length=1024;rate=44100;lower=27.5;upper=16000.0;f32",
    "bands=33;dft_length=2048;rate=48000;lower=300.0;upper=3400.0;f32",
    "bands=5;dft_length=4098;rate=22050;lower=0.0;upper=11025.0;f32",
]
FULL = ["bands=256;dft_length=16384;rate=96000;lower=10.0;upper=40000.0;f32"]
