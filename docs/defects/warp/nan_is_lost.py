"""wp.max, wp.min, wp.clamp and the atomics drop NaN; wp.sign(nan) is 1; wp.acos and wp.asin clamp their argument

Ledger: acos forward, asin forward, clamp forward, hardtanh forward, maximum forward, minimum forward, relu
    forward, amax forward, amin forward, sign forward
Expected:
    acos(2) nan
    max(nan, 1) nan
    clamp(nan, 1, 2) nan
    sign(nan) nan
    sign(0) 0.0
    atomic_max nan
"""

import warp as wp

wp.config.log_level = wp.LOG_ERROR


@wp.kernel
def kernel(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    y[0] = wp.acos(x[0])
    y[1] = wp.max(x[1], 1.0)
    y[2] = wp.clamp(x[1], 1.0, 2.0)
    y[3] = wp.sign(x[1])
    y[4] = wp.sign(x[2])
    wp.atomic_max(y, 5, x[1])


y = wp.zeros(6, dtype=float, device="cpu")
wp.launch(kernel, 1, inputs=[wp.array([2.0, float("nan"), 0.0], dtype=float, device="cpu")], outputs=[y], device="cpu")
for name, value in zip(
    ("acos(2)", "max(nan, 1)", "clamp(nan, 1, 2)", "sign(nan)", "sign(0)", "atomic_max"), y.numpy(), strict=True
):
    print(name, value)
