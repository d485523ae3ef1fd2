"""Cases of constant: every kind of number, halfway between two of each dtype and beside it; f32 alone."""

#: Halfway between 1 and the next number of f16, and of bf16 and the next number of float32 above it.
_TIES = "1.00048828125,1.0004884004592896,1.00146484375,1.00390625,1.0039063692092896,1.01171875"
_SPECIAL = "inf,-inf,nan,0.0,-0.0,1.0"
_SMALL = "1e-40,1.401298464324817e-45,7e-46,1e-50,6e-08,2.9802322387695312e-08,3e-08,1.1754943508222875e-38"
_LARGE = "3.4028234663852886e+38,3.4028235677973366e+38,3.5e+38,65504.0,65519.99609375,65520.0,65536.0,3.39e+38"

SMOKE = ["value=(0.1,-2.5,3.0,7.25,1e-05,123456.789);size=(2,3);f32"]
STANDARD = [
    *(f"value=({_TIES});size=(6);to={to};f32" for to in ("f32", "f16", "bf16")),
    *(f"value=({_SPECIAL});size=(3,2);to={to};f32" for to in ("f32", "f16", "bf16")),
    *(f"value=({_SMALL});size=(2,2,2);to={to};f32" for to in ("f32", "f16", "bf16")),
    *(f"value=({_LARGE});size=(8);to={to};f32" for to in ("f32", "f16", "bf16")),
    "value=(0.3);size=(1);f32",
    "value=(0.3);size=();f32",
    "value=(16777216.0,16777217.0,16777219.0);size=(1,3,1);f32",
]
FULL = ["value=(0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9);size=(3,3);to=bf16;f32"]
