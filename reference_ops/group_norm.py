"""group_norm: (x - mean) / sqrt(var + eps) over each group of channels of each sample, weighted per channel.

Shapes: x (n, c, *), weight and bias (c,), each optional; num_groups divides c; y as x. var is biased.
Of an infinite weight it is infinite or, where x is multiplied and shifted by two numbers of its channel, NaN.
Gradient: that of layer_norm over every group; dweight and dbias summed over all but the channels.
Source: Wu, He, Group Normalization (2018).
PyTorch: torch.nn.functional.group_norm. ONNX: GroupNormalization. ggml: ggml_group_norm (no weight, no bias).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._norm import affine, affine_vjp, is_lost_in_shifts, moments, standardise, standardise_vjp

SIGNATURE = "(n,num_groups*c,...),(num_groups*c)?,(num_groups*c)?"
ANALYTIC = True
TRAITS = ("rowwise", "statistic", "long sum")
IN_PLACE = ("x",)


def _grouped(x: Array, num_groups: int) -> Array:
    return np.reshape(x, (x.shape[0], num_groups, x.shape[1] // num_groups, *x.shape[2:]))


def forward(
    x: Array, weight: Array | None = None, bias: Array | None = None, *, num_groups: int, eps: float = 1e-5
) -> Array:
    groups = _grouped(x, num_groups)
    unit, _ = standardise(groups, tuple(range(2, groups.ndim)), eps)
    return affine(np.reshape(unit, x.shape), weight, bias)


def conventions(
    x: Array, weight: Array | None = None, bias: Array | None = None, *, num_groups: int, eps: float = 1e-5
) -> Iterator[Array]:
    groups = _grouped(x, num_groups)
    whole = (np.broadcast_to(v, groups.shape) for v in moments(groups, tuple(range(2, groups.ndim)), eps))
    mean, scale = (np.reshape(v, x.shape) for v in whole)
    lost = is_lost_in_shifts(x, mean, scale, weight, bias)
    yield np.where(lost, np.nan, forward(x, weight, bias, num_groups=num_groups, eps=eps))


def vjp(
    g: Array,
    y: Array,
    x: Array,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    num_groups: int,
    eps: float = 1e-5,
) -> tuple[Array, Array | None, Array | None]:
    groups = _grouped(x, num_groups)
    axes = tuple(range(2, groups.ndim))
    unit, scale = standardise(groups, axes, eps)
    dunit, dweight, dbias = affine_vjp(g, np.reshape(unit, x.shape), weight, bias)
    dx = standardise_vjp(_grouped(dunit, num_groups), unit, scale, axes)
    return np.reshape(dx, x.shape), dweight, dbias


def torch(torch: Any, x: Any, weight: Any = None, bias: Any = None, *, num_groups: int, eps: float = 1e-5) -> Any:
    return torch.nn.functional.group_norm(x, num_groups, weight, bias, eps)
