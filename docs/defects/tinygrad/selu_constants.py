"""selu's constants have six digits, 1.0507 and 1.67326

Ledger: selu forward, selu gradient
Expected: 1.05070099
"""

from tinygrad import Tensor
from tinygrad.helpers import DEV

DEV.value = "CPU"

print(f"{Tensor([1.0]).selu().item():.9g}")
