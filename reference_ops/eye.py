"""eye: a matrix of zeros with ones on a diagonal.

Shapes: y (n, m), or (n, n) where m is None, float32 since no input names another dtype; ones where j = i + k.
Gradient: none, there is no input.
Source: the definition.
PyTorch: torch.eye (k = 0). ONNX: EyeLike. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

EXACT = ("forward",)


def forward(*, n: int, m: int | None = None, k: int = 0) -> Array:
    return np.eye(n, m, k, dtype=np.float32)


def torch(torch: Any, *, n: int, m: int | None = None, k: int = 0) -> Any:
    wide = n if m is None else m
    if k == 0:
        return torch.eye(n, wide)
    y = torch.zeros(n, wide)
    y.diagonal(k).fill_(1)
    return y
