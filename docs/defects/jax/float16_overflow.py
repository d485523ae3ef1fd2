"""Values and gradients of float16 overflow in an intermediate, where the result is a number

std sums squares up in float16; factors of gradients are rounded to it.

Ledger: std forward, sinh gradient, cosh gradient, atan2 gradient, pow gradient
Expected:
    std 900
    sinh 4.07e+04
    atan2 0.552
    pow 8e+03
"""

import jax
import jax.numpy as jnp


def gradient(f, *x, of):
    _, back = jax.vjp(f, *map(jnp.float16, x))
    return back(jnp.float16(of))[0].item()


print("std", f"{jnp.std(jnp.array([-900, 900], jnp.float16)).item():.3g}")
print("sinh", f"{gradient(jnp.sinh, 12, of=0.5):.3g}")
print("atan2", f"{gradient(jnp.arctan2, 900, 800, of=1000):.3g}")
print("pow", f"{gradient(jnp.power, 20, 5, of=0.01):.3g}")
