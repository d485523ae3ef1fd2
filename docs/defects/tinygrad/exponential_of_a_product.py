"""exp(x) is exp2(x / log(2)), and the rounding of the quotient is multiplied by x

In float64 exp(-700) is 280 units in the last place off, and so is what is made of it.

Ledger: exp forward, exp gradient
Expected:
    exp(-700) 9.85967654375977e-305
    sigmoid(-700) 9.85967654375977e-305
"""

from tinygrad import Tensor, dtypes
from tinygrad.helpers import DEV

DEV.value = "CPU"

x = Tensor([-700.0], dtype=dtypes.float64)
print(f"exp(-700) {x.exp().item():.14e}")
print(f"sigmoid(-700) {x.sigmoid().item():.14e}")
