"""Adjoints of float16 overflow in a factor, where the gradient is a number

cosh, sinh and pow multiply by what overflows, atan2 divides by x² + y², tan by cos(x)².

Ledger: atan2 gradient, cosh gradient, sinh gradient, pow gradient, tan gradient
Expected:
    sinh 4.07e+04
    cosh 4.07e+04
    atan2 0.552
    pow 8e+03
"""

import warp as wp

wp.config.log_level = wp.LOG_ERROR


@wp.kernel
def kernel(a: wp.array(dtype=wp.float16), b: wp.array(dtype=wp.float16), y: wp.array(dtype=wp.float16)):
    y[0] = wp.sinh(a[0])
    y[1] = wp.cosh(a[1])
    y[2] = wp.atan2(a[2], b[2])
    y[3] = wp.pow(a[3], b[3])


def halves(values):
    return wp.array(values, dtype=wp.float16, device="cpu", requires_grad=True)


a, y = halves([12.0, 12.0, 900.0, 20.0]), halves([0.0] * 4)
with wp.Tape() as tape:
    wp.launch(kernel, 1, inputs=[a, halves([0.0, 0.0, 800.0, 5.0])], outputs=[y], device="cpu")
tape.backward(grads={y: halves([0.5, 0.5, 1000.0, 0.01])})
for name, value in zip(("sinh", "cosh", "atan2", "pow"), a.grad.numpy(), strict=True):
    print(name, f"{value:.3g}")
