"""roll along an axis named twice shifts once

Ledger: roll forward, roll gradient
Expected: [2, 3, 0, 1]
"""

from tinygrad import Tensor
from tinygrad.helpers import DEV

DEV.value = "CPU"

print(Tensor([0, 1, 2, 3]).roll((1, 1), (0, 0)).tolist())
