"""pow: a to the power b, elementwise with NumPy broadcasting, or to the number `exponent`.

Shapes: a and b broadcast against each other; y has the broadcast shape. Either b or `exponent` is given; without b,
y as a.
To the power 1/2 the root of -inf is NaN to some, where IEEE 754 has inf.
Gradient: da = g b aᵇ⁻¹ (0 where b is 0) and db = g y log a (0 where a is 0 and b >= 0), each summed
over the axes along which its tensor was broadcast.
Source: elementary.
PyTorch: torch.pow. ONNX: Pow. ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array, Closed
from opproof.reference_ops._arrays import unbroadcast

ANALYTIC = True
TRAITS = ("pointwise", "broadcasts")
PAIRS = True


def domain(shapes: dict[str, tuple[int, ...]], *, exponent: float | None = None, **params: Any) -> dict[str, Any]:
    if exponent is None:
        return {"a": Closed(0.0, np.inf, usual=(0.25, 4.0)), "b": Closed(1.0, np.inf, usual=(-np.inf, np.inf))}
    if exponent != round(exponent):
        return {"a": (0.0, np.inf)}
    return {"a": "nonzero"} if exponent < 1 else {}


def forward(a: Array, b: Array | None = None, *, exponent: float | None = None) -> Array:
    if b is not None and exponent is None:
        return np.power(a, b)
    if b is not None or exponent is None:
        raise ValueError("pow takes b or exponent, one of them")
    y = np.power(a, exponent)
    return np.where(a == -np.inf, np.inf, y) if exponent == 0.5 else y  # NumPy takes the root, which is NaN


def conventions(a: Array, b: Array | None = None, *, exponent: float | None = None) -> Iterator[Array]:
    if exponent == 0.5:
        yield np.where(a == -np.inf, np.nan, np.power(a, exponent))


def vjp(
    g: Array, y: Array, a: Array, b: Array | None = None, *, exponent: float | None = None
) -> Array | tuple[Array, Array]:
    if exponent is not None:
        return np.zeros_like(g) if exponent == 0 else g * (exponent * np.power(a, exponent - 1))
    assert b is not None
    da = np.where(b == 0, 0, g * (b * np.power(a, b - 1)))
    db = np.where((a == 0) & (b >= 0), 0, g * y * np.log(a))
    return unbroadcast(da, a.shape), unbroadcast(db, b.shape)


def torch(torch: Any, a: Any, b: Any = None, *, exponent: float | None = None) -> Any:
    return torch.pow(a, b if exponent is None else exponent)
