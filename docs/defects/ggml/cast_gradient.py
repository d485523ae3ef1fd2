"""The gradient of a cast to float16 is not rounded to float16

All gradients are float32: 70000 is no float16, and comes through the cast.

Ledger: cast gradient
Expected: inf
"""

from preamble import NUMBERS, ggml, gradients, parameter

x = parameter([1.0])
there = ggml("cast", x, NUMBERS["float16"])
print(gradients(ggml("cast", there, NUMBERS["float32"]), [70000.0], x)[0][0])
