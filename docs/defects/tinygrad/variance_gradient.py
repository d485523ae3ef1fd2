"""The gradient of a variance runs through the mean too, and that of one element is folded to 0

Deviations add up to 0, but are summed one after another; and x - mean of a row of one element is 0, times infinity.

Ledger: var gradient, std gradient
Expected: [nan]
"""

from tinygrad import Tensor
from tinygrad.helpers import DEV

DEV.value = "CPU"

x = Tensor([[3.0]])
print(x.var(axis=1).gradient(x, gradient=Tensor([1.5]).realize())[0].tolist()[0])
