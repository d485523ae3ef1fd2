"""A variance in float16 is taken about a mean that is rounded to float16

Of numbers of about 1000 such a mean is up to a quarter off, whose square is added to the variance.

Ledger: std forward, std gradient
Expected: 0.562
"""

from tinygrad import Tensor, dtypes
from tinygrad.helpers import DEV

DEV.value = "CPU"
x = Tensor([1001.0, 1001.0, 1001.5, 999.5], dtype=dtypes.half).realize()
print(f"{x.var(correction=0).numpy().item():.3g}")
