"""map_unary: f(x) elementwise, f the user's function, here x / (1 + x²).

Shapes: x any; y as x.
Source: ggml.h, ggml_map_unary_f32 (2023), ggml_map_custom1.
PyTorch: none. ONNX: none. ggml: ggml_map_custom1 with this function.
"""

from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]

SMOKE = ["x=7x33"]
STANDARD = [
    "x=9,",
    "x=5x31;fill=wide",
    "x=2x3x17;layout=transposed",
    "x=3x33;layout=sliced",
    "x=4x128;layout=gapped",
    "x=4x32;fill=zeros",
    "x=1x1031",
    "x=0x3",
]


def function(v: Array) -> Array:
    return v / (1 + v * v)  # type: ignore[no-any-return]


def forward(x: Array) -> Array:
    return function(x)


def torch(torch: Any, x: Any) -> Any:
    return x / (1 + x.square())
