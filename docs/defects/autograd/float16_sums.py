"""Sums of float16 stop growing where NumPy adds up term by term

Gradients of an element that is read often, or of a tensor that was broadcast, cumsum, sums over a strided axis: 4096
ones are 2048. A norm overflows.

Ledger: add_id gradient, conv1d forward, conv1d gradient, conv2d gradient, conv3d forward, conv3d gradient,
    cumsum forward, cumsum gradient, embedding gradient, gather gradient, index_select gradient, logsumexp
    forward, logsumexp gradient, mul_mat_id gradient, norm forward, outer_product forward, std forward,
    cumprod forward, sum forward, var forward, add gradient, sub gradient, mul gradient, linear gradient
Expected:
    cumsum 4096.0
    gradient of x[index] 4096.0
    strided sum 4096.0
    norm 500.0
    std 900.0
"""

import autograd
import autograd.numpy as np

ones = np.ones(4096, np.float16)
index = np.zeros(4096, int)
print("cumsum", float(np.cumsum(ones)[-1]))
back, _ = autograd.make_vjp(lambda x: x[index])(np.ones(1, np.float16))
print("gradient of x[index]", float(back(ones)[0]))
print("strided sum", np.sum(np.ones((4096, 16), np.float16), axis=0)[0].astype(float))
with np.errstate(all="ignore"):
    print("norm", np.linalg.norm(np.array([300, 400], np.float16)))
    print("std", np.std(np.array([-900, 900], np.float16)))
