"""Cases of eye: square, wide and tall, diagonals on both sides; f32, since no input names another dtype."""

SMOKE = ["n=5;f32", "n=5;m=7;k=1;f32"]
STANDARD = [
    "n=1;f32",
    "n=7;k=-2;f32",
    "n=5;m=9;k=3;f32",
    "n=9;m=4;k=-3;f32",
    "n=33;m=31;f32",
    "n=64;f32",
    "n=63;m=65;k=2;f32",
    "n=3;m=1031;k=1028;f32",
    "n=1031;m=2;k=-1029;f32",
    "n=128;m=256;k=128;f32",
]
FULL = [
    "n=2;m=65537;k=65535;f32",
    "n=65537;m=2;k=-65535;f32",
    "n=1031;f32",
]
