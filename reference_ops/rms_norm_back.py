"""rms_norm_back: the gradient of rms_norm without weight over the last axis: r grad - r³ x mean(grad x).

Shapes: grad and x alike; y as x. r = 1 / sqrt(mean(x²) + eps).
Source: ggml.h, ggml_rms_norm_back; Zhang, Sennrich, Root Mean Square Layer Normalization (2019).
PyTorch: none (autograd of torch.nn.functional.rms_norm). ONNX: none. ggml: ggml_rms_norm_back.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._torch import gradient, widened

SIGNATURE = "(...,n),(...,n)"
ANALYTIC = True
TRAITS = ("rowwise", "statistic", "long sum")
IN_PLACE = ("grad", "x")


def forward(grad: Array, x: Array, *, eps: float = 1e-6) -> Array:
    scale = 1 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)
    unit = x * scale
    return scale * (grad - unit * np.mean(grad * unit, axis=-1, keepdims=True))  # type: ignore[no-any-return]


def torch(torch: Any, grad: Any, x: Any, *, eps: float = 1e-6) -> Any:
    wide, at = widened(torch, grad, x)
    norm = torch.nn.functional.rms_norm
    return gradient(torch, lambda v: norm(v, (x.shape[-1],), None, eps), at, wide).to(grad.dtype)
