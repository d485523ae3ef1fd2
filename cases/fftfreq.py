"""Cases of fftfreq: even and odd, one place and two, steps that are no power of two; f32 alone, for want of inputs."""

SMOKE = ["n=8;f32", "n=7;d=0.25;onesided=true;f32"]
STANDARD = [
    "n=1;f32",
    "n=1;onesided=true;f32",
    "n=2;d=3.0;f32",
    "n=2;onesided=true;f32",
    "n=9;d=0.1;f32",
    "n=10;d=0.1;f32",
    "n=9;d=0.1;onesided=true;f32",
    "n=10;d=7.3;onesided=true;f32",
    "n=64;d=0.001;f32",
    "n=257;f32",
    "n=1031;d=44100.0;f32",
    "n=4099;onesided=true;f32",
    "n=4096;d=-2.0;f32",
]
FULL = ["n=65537;d=0.3;f32", "n=131073;onesided=true;f32"]
