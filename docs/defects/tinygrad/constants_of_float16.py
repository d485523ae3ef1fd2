"""A constant is rounded to float16 before it is multiplied with, so that all results are off to one side

0.1 is 0.09998 then: of products most are one unit too small. log(2), 1 / log(2) of gradients and the 1 / 3 of a mean
are constants too.

Ledger: avg_pool1d forward, avg_pool1d gradient, avg_pool2d forward, avg_pool2d gradient
Expected:
    3 * 0.1 0.3
    leaky_relu(-5) -0.05
    log2'(3) 0.481
"""

from tinygrad import Tensor, dtypes
from tinygrad.helpers import DEV

DEV.value = "CPU"


def half(value):
    return Tensor([value], dtype=dtypes.half).realize()


print("3 * 0.1", (half(3.0) * 0.1).numpy()[0])
print("leaky_relu(-5)", half(-5.0).leaky_relu(0.01).numpy()[0])
x = half(3.0)
print("log2'(3)", x.log2().sum().gradient(x)[0].numpy()[0])
