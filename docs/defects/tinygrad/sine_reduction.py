"""The sine of a float64 past 30 takes 32 of the 53 bits of its argument

The reduction by multiples of pi is Payne and Hanek's, with the mantissa as an integer of 32 bits; float32 has no more.

Ledger: sin forward, cos forward
Expected:
    sin -0.70408131
    cos 0.71011936
    tan -0.99149714
"""

from tinygrad import Tensor, dtypes
from tinygrad.helpers import DEV

DEV.value = "CPU"

x = Tensor([12345.678], dtype=dtypes.float64)
for name in ("sin", "cos", "tan"):
    print(f"{name} {getattr(x, name)().item():.8f}")
