"""instance_norm: (x - mean) / sqrt(var + eps) over the positions of each channel of each sample, weighted per channel.

Shapes: x (n, c, *size), weight and bias (c,), each optional; y as x. var is biased.
Gradient: that of layer_norm over every channel; dweight and dbias summed over all but the channels.
Source: Ulyanov, Vedaldi, Lempitsky, Instance Normalization (2016).
PyTorch: torch.nn.functional.instance_norm. ONNX: InstanceNormalization. ggml: none.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._norm import affine, affine_vjp, standardise, standardise_vjp

SIGNATURE = "(n,c,l,...),(c)?,(c)?"
ANALYTIC = True
TRAITS = ("rowwise", "statistic", "long sum")
IN_PLACE = ("x",)


def forward(x: Array, weight: Array | None = None, bias: Array | None = None, *, eps: float = 1e-5) -> Array:
    if x.ndim < 2:
        raise ValueError(f"x has no channels, it is of {x.shape}")
    unit, _ = standardise(x, tuple(range(2, x.ndim)), eps)
    return affine(unit, weight, bias)


def vjp(
    g: Array, y: Array, x: Array, weight: Array | None = None, bias: Array | None = None, *, eps: float = 1e-5
) -> tuple[Array, Array | None, Array | None]:
    axes = tuple(range(2, x.ndim))
    unit, scale = standardise(x, axes, eps)
    dunit, dweight, dbias = affine_vjp(g, unit, weight, bias)
    return standardise_vjp(dunit, unit, scale, axes), dweight, dbias


def torch(torch: Any, x: Any, weight: Any = None, bias: Any = None, *, eps: float = 1e-5) -> Any:
    return torch.nn.functional.instance_norm(x, weight=weight, bias=bias, eps=eps)
