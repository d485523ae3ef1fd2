"""The optimisers' rate has shape (1,), which no parameter without axes takes; AdamW's step is 6e-6 off

1 - 0.999 is taken in float32, which is 1.3e-5 off.

Ledger: opt_step_adamw forward, opt_step_sgd forward
Expected:
    step -1.00000e-03
    scalar ()
"""

from tinygrad import Tensor, nn
from tinygrad.helpers import DEV, Context

DEV.value = "CPU"

with Context(TRAINING=1):
    x = Tensor([0.0])
    x.grad = Tensor([1.0])
    adamw = nn.optim.AdamW([x])
    adamw.step()
    print(f"step {x.item():.5e}")
    scalar = Tensor(1.0)
    scalar.grad = Tensor(1.0)
    nn.optim.SGD([scalar], 0.1).step()
    print("scalar", scalar.shape)
