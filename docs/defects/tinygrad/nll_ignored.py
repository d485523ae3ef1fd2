"""nll_loss multiplies what is ignored with 0, so that a NaN there makes the loss NaN

Ledger: nll_loss forward
Expected: -1.0
"""

from tinygrad import Tensor
from tinygrad.helpers import DEV

DEV.value = "CPU"

x = Tensor([[1.0, 2.0], [float("nan"), float("nan")]])
print(x.nll_loss(Tensor([0, 1]), ignore_index=1, reduction="sum").item())
