"""Cases of arange: up, down, by fractions that are exact in every dtype; f32, since no input names another dtype."""

SMOKE = [
    "start=0.0;end=10.0;step=1.0;f32",
]
STANDARD = [
    "start=0.0;end=33.0;step=1.0;f32",
    "start=2.0;end=9.0;step=0.5;f32",
    "start=-3.0;end=4.0;step=0.25;f32",
    "start=10.0;end=-10.0;step=-3.0;f32",
    "start=1.0;end=2.0;step=5.0;f32",
    "start=0.0;end=1.0;step=0.375;f32",
    "start=-1.0;end=127.0;step=1.0;f32",
    "start=5.0;end=1031.0;step=2.0;f32",
    "start=0.0;end=4099.0;step=1.0;f32",
    "start=100.0;end=0.0;step=-0.5;f32",
    # Past 2^24 a sum of ones stands still, and every number of this row is met by start + i step, rounded once.
    "start=16777208.0;end=16777308.0;step=1.0;f32",
]
FULL = [
    "start=0.0;end=65537.0;step=1.0;f32",
]
