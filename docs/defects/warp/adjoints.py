"""Adjoints: atomic_max gives every tied element the whole gradient, wp.mod its second argument none

The gradient of a - b trunc(a / b) to b is -trunc(a / b); two tied elements share 1.

Ledger: amax gradient, amin gradient, fmod gradient
Expected:
    mod [1.0, -3.0]
    atomic_max adds up to 1.0
"""

import warp as wp

wp.config.log_level = wp.LOG_ERROR


@wp.kernel
def remainder(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    y[0] = wp.mod(x[0], x[1])


@wp.kernel
def largest(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    wp.atomic_max(y, 0, x[wp.tid()])


for name, kernel, size, values in (("mod", remainder, 1, [7.0, 2.0]), ("atomic_max", largest, 2, [3.0, 3.0])):
    x, y = (
        wp.array(values, dtype=float, device="cpu", requires_grad=True),
        wp.zeros(1, dtype=float, device="cpu", requires_grad=True),
    )
    with wp.Tape() as tape:
        wp.launch(kernel, size, inputs=[x], outputs=[y], device="cpu")
    tape.backward(grads={y: wp.array([1.0], dtype=float, device="cpu")})
    print(name, x.grad.numpy().tolist() if kernel is remainder else f"adds up to {x.grad.numpy().sum()}")
