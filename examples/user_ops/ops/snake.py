"""snake: x + sin²(a x) / a, elementwise.

Shapes: x any; y as x.
Gradient: g (1 + sin(2 a x)).
Source: Ziyin, Hartwig, Ueda, Neural Networks Fail to Learn Periodic Functions (2020), equation 3.
PyTorch: none. ONNX: none. ggml: ggml_map_custom1 with a function of your own.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

ANALYTIC = True  # complex numbers go through: the complex step verifies the vjp to 1e-11

SMOKE = ["x=7x33;a=1.0"]
STANDARD = [
    "x=9,;a=0.5",
    "x=5x31;a=2.0;fill=wide",
    "x=2x3x65;a=1.0;layout=transposed",
    "x=3x33;a=-1.5;layout=sliced",
    "x=4x128;a=0.25;fill=zeros",
    "x=0x3;a=1.0",
]


def forward(x: Array, *, a: float = 1.0) -> Array:
    s = np.sin(a * x)
    return x + s * s / a  # type: ignore[no-any-return]


def vjp(g: Array, _y: Array, x: Array, *, a: float = 1.0) -> Array:
    return g * (1 + np.sin(2 * a * x))  # type: ignore[no-any-return]


def torch(torch: Any, x: Any, *, a: float = 1.0) -> Any:
    return x + (1 - torch.cos(2 * a * x)) / (2 * a)
