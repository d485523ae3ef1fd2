"""isin: whether each element stands among those of tests, or, where invert, does not.

Shapes: elements any, tests (n,); y bool as elements. NaN is equal to nothing, and zeros of both signs are equal.
Gradient: none, the output is bool.
Source: NumPy's documentation of numpy.isin.
PyTorch: torch.isin. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(...),(n)"
EXACT = ("forward",)
TRIVIAL = {"forward": ("zeros", "constant")}  # of numbers that are drawn apart
KINDS = ("signed", "unsigned")


def forward(elements: Array, tests: Array, *, invert: bool = False) -> Array:
    found = np.zeros(elements.shape, dtype=bool)
    if tests.size:
        ordered = np.sort(np.reshape(tests, (-1,)))
        places = np.minimum(np.searchsorted(ordered, elements), tests.size - 1)
        found = ordered[places] == elements
    return found != invert  # type: ignore[no-any-return]


def torch(torch: Any, elements: Any, tests: Any, *, invert: bool = False) -> Any:
    return torch.isin(elements, tests, invert=invert)
