"""Gradients of arccosh and arcsinh are 0 where x squared overflows: from 256 on in float16, 1.9e19 in float32

Ledger: acosh gradient, asinh gradient
Expected:
    arccosh 0.00333
    arcsinh 1e-20
"""

import mlx.core as mx

mx.set_default_device(mx.cpu)
print(f"arccosh {mx.grad(mx.arccosh)(mx.array(300.0, mx.float16)).item():.3g}")
print(f"arcsinh {mx.grad(mx.arcsinh)(mx.array(1e20)).item():.3g}")
