"""Floors and remainders take a times 1 / b, rounded twice, for the quotient

What should be just below an integer is that number then, and the remainder is a whole b off.

Ledger: floor_divide forward, remainder forward, fmod forward
Expected:
    3 // 0.1 29.0
    fmod(3, 0.1) 0.1
    mod(3, 0.1) 0.1
"""

from tinygrad import Tensor
from tinygrad.helpers import DEV

DEV.value = "CPU"

a, b = Tensor([3.0]), Tensor([0.1])
print("3 // 0.1", a.div(b, rounding_mode="floor").item())
print(f"fmod(3, 0.1) {a.fmod(b).item():.1g}")
print(f"mod(3, 0.1) {a.mod(b).item():.1g}")
