"""round of an integer past 2^23 is another number

Ledger: round forward
Expected: 8388609.0
"""

from tinygrad import Tensor
from tinygrad.helpers import DEV

DEV.value = "CPU"

print(Tensor([8388609.0]).round().item())
