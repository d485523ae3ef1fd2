"""Values and gradients of float16 overflow in an intermediate, where the result is a number

norm and std sum squares up in float16; factors of gradients are rounded to it.

Ledger: norm forward, std forward, sinh gradient, cosh gradient, atan2 gradient, pow gradient
Expected:
    norm 300
    std 900
    sinh 4.07e+04
    atan2 0.552
    pow 8e+03
"""

import jax
import jax.numpy as jnp

h = jnp.float16
print("norm", f"{jnp.linalg.norm(jnp.array([300, 4], h)).item():.3g}")
print("std", f"{jnp.std(jnp.array([-900, 900], h)).item():.3g}")
print("sinh", f"{jax.vjp(jnp.sinh, h(12))[1](h(0.5))[0].item():.3g}")
print("atan2", f"{jax.vjp(jnp.arctan2, h(900), h(800))[1](h(1000))[0].item():.3g}")
print("pow", f"{jax.vjp(jnp.power, h(20), h(5))[1](h(0.01))[0].item():.3g}")
