"""cross_entropy_loss_back: the gradient of cross entropy with probabilities: (softmax(x) - target) grad / rows.

Shapes: grad () the gradient of the loss, the mean over rows of -sum(target log softmax(x)); x and target (..., c); y as
x. A target whose rows do not add up to 1 is no distribution, and y then this formula, as in ggml, not the gradient.
Source: ggml.h, ggml_cross_entropy_loss_back; Bishop (2006), equation 4.109.
PyTorch: none (autograd of torch.nn.functional.cross_entropy). ONNX: none. ggml: ggml_cross_entropy_loss_back.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._axes import largest
from opproof.reference_ops._torch import gradient, widened

SIGNATURE = "(),(...,c),(...,c)"
ANALYTIC = True
TRAITS = ("rowwise", "statistic", "shares", "long sum")
IN_PLACE = ("x", "target")


def forward(grad: Array, x: Array, target: Array) -> Array:
    e = np.exp(x - largest(x, -1))
    rows = max(math.prod(x.shape[:-1]), 1)
    return (e / np.sum(e, axis=-1, keepdims=True) - target) * (grad / rows)  # type: ignore[no-any-return]


def conventions(grad: Array, x: Array, target: Array) -> Iterator[Array]:
    rows = max(math.prod(x.shape[:-1]), 1)
    largest = np.max(x, axis=-1, keepdims=True, initial=-np.inf)
    shift = np.where(np.isfinite(largest), largest, 0)
    total = np.log(np.sum(np.exp(x - shift), axis=-1, keepdims=True)) + shift
    yield (np.exp(x - total) - target) * (grad / rows)  # beside an infinite logit the others have a share of 0


def torch(torch: Any, grad: Any, x: Any, target: Any) -> Any:
    wide, at, wanted = widened(torch, grad, x, target)
    rows = max(math.prod(x.shape[:-1]), 1)
    # softmax is the gradient of logsumexp.
    peak = gradient(torch, lambda v: torch.logsumexp(v, dim=-1).sum(), at, torch.ones_like(wide))
    return ((peak - wanted) * wide / rows).to(x.dtype)
