"""Gradients of norms keep g times the weight in float16, where it overflows

Ledger: layer_norm gradient, rms_norm gradient, group_norm gradient, instance_norm gradient, batch_norm
    gradient
Expected:
    layer_norm finite
    rms_norm finite
"""

import mlx.core as mx

mx.set_default_device(mx.cpu)
x = mx.array([[-4000.0, 0.0, 4000.0]], mx.float16)
weight = mx.full((3,), 20000.0, mx.float16)
g = mx.array([[4.0, 1.0, 4.0]], mx.float16)
for name, f in (
    ("layer_norm", lambda x: mx.fast.layer_norm(x, weight, None, 1e-5)),
    ("rms_norm", lambda x: mx.fast.rms_norm(x, weight, 1e-5)),
):
    _, (gradient,) = mx.vjp(f, [x], [g])
    print(name, "finite" if mx.isfinite(gradient).all().item() else gradient.tolist())
