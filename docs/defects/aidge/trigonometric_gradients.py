"""The gradients of sin, cos, tan, sinh, cosh and atan are g / (1 + y²), whatever the function is

y is the output; that of atan holds x there.

Ledger: atan gradient, cos gradient, cosh gradient, sin gradient, sinh gradient, tan gradient
Expected:
    Sin 0.5403
    Cos -0.8415
    Tan 3.4255
    Sinh 1.5431
    Cosh 1.1752
    Atan 0.5000
"""

from preamble import aidge, f32, run

for name in ("Sin", "Cos", "Tan", "Sinh", "Cosh", "Atan"):
    print(name, f"{run(getattr(aidge, name)(), f32(1.0), gradient=f32(1.0))[0]:.4f}")
