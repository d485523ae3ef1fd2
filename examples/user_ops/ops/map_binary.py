"""map_binary: f(a, b) elementwise, f the user's function of two numbers, here a / (1 + b²).

Shapes: a and b alike; y as they.
Source: ggml.h, ggml_map_binary_f32 (2023), ggml_map_custom2.
PyTorch: none. ONNX: none. ggml: ggml_map_custom2 with this function.
"""

from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]

SMOKE = ["a=7x33;b=7x33"]
STANDARD = [
    "a=9,;b=9,",
    "a=5x31;b=5x31;fill=wide",
    "a=2x3x17;b=2x3x17;layout=a:transposed",
    "a=3x33;b=3x33;layout=b:sliced",
    "a=4x128;b=4x128;layout=gapped",
    "a=4x32;b=4x32;fill=zeros",
    "a=1x1031;b=1x1031",
    "a=0x3;b=0x3",
]


def function(v: Array, w: Array) -> Array:
    return v / (1 + w * w)  # type: ignore[no-any-return]


def forward(a: Array, b: Array) -> Array:
    return function(a, b)


def torch(torch: Any, a: Any, b: Any) -> Any:
    return a / (1 + b.square())
