"""scatter makes a mask of every place by every index, and merges it slice by slice

Each slice is a piece of the graph of its own: 512 elements in a row take 10 s before anything is computed, 1,025 more
than 30 s. What is printed is the number of pieces of 32 elements, and of 64.

Ledger: scatter forward, scatter gradient
Expected:
    32 20
    64 20
"""

from tinygrad import Tensor
from tinygrad.helpers import DEV

DEV.value = "CPU"

for n in (32, 64):
    x, index = Tensor(list(map(float, range(n)))), Tensor(list(range(n)))
    print(n, len(x.scatter(0, index, x).uop.toposort()))
