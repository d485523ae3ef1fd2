"""wp.floordiv is the floor of the rounded quotient: one too many just below an integer

1 / 0.0999756 is 10.0024, but 4.996 / 0.9995 of float16 is 4.9985, which rounds to 5.

Ledger: floor_divide forward
Expected: 641005.0
"""

import warp as wp

wp.config.log_level = wp.LOG_ERROR


@wp.kernel
def kernel(a: wp.array(dtype=float), b: wp.array(dtype=float), y: wp.array(dtype=float)):
    y[0] = wp.floordiv(a[0], b[0])


a, b, y = (wp.array([v], dtype=float, device="cpu") for v in (-9914956.0, -15.467806, 0.0))
wp.launch(kernel, 1, inputs=[a, b], outputs=[y], device="cpu")
print(y.numpy()[0])
