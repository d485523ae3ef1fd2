"""Sums of float16 by atomic_add, and gradients of an element that is read often, stop growing

A float16 sum of ones stops at 2048: 2049 is no float16.

Ledger: sum forward, index_add forward, scatter_add forward, expand gradient, repeat_interleave gradient,
    embedding gradient, gather gradient, index_select gradient, add gradient, sub gradient, mul gradient,
    div gradient
Expected:
    atomic_add 4096.0
    gradient 4096.0
"""

import warp as wp

wp.config.log_level = wp.LOG_ERROR


@wp.kernel
def total(x: wp.array(dtype=wp.float16), y: wp.array(dtype=wp.float16)):
    wp.atomic_add(y, 0, x[wp.tid()])


@wp.kernel
def spread(x: wp.array(dtype=wp.float16), y: wp.array(dtype=wp.float16)):
    y[wp.tid()] = x[0]


one, y, ones = (wp.full(n, v, wp.float16, device="cpu", requires_grad=True) for n, v in ((1, 1), (4096, 0), (4096, 1)))
sums = wp.zeros(1, wp.float16, device="cpu")
wp.launch(total, 4096, inputs=[ones], outputs=[sums], device="cpu")
with wp.Tape() as tape:
    wp.launch(spread, 4096, inputs=[one], outputs=[y], device="cpu")
tape.backward(grads={y: ones})
print("atomic_add", float(sums.numpy()[0]))
print("gradient", float(one.grad.numpy()[0]))
