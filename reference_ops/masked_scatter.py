"""masked_scatter: x, the elements of source one after the other in the places where mask holds.

Shapes: x, mask (integers, 0 is false) and source alike; y as x. What source has more than the mask has places is left.
Gradient: dx = 0 where mask holds, else g; dsource = the g of these places in front, zeros behind. None for mask.
Source: PyTorch's documentation of torch.Tensor.masked_scatter_.
PyTorch: torch.masked_scatter. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

SIGNATURE = "(...),(...),(...)"
MULTILINEAR = True
ANALYTIC = True
EXACT = ("forward", "vjp")
KINDS = ("float8", "signed", "unsigned")
NEIGHBOURS = ("where",)
IN_PLACE = ("x",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"mask": range(2)}


def forward(x: Array, mask: Array, source: Array) -> Array:
    places = np.flatnonzero(mask)
    y = np.zeros(x.size, dtype=np.result_type(x, source), like=x)
    y[...] = x.reshape(-1)
    y[places] = source.reshape(-1)[: len(places)]
    return y.reshape(x.shape)


def vjp(g: Array, y: Array, x: Array, mask: Array, source: Array) -> tuple[Array, None, Array]:
    places = np.flatnonzero(mask)
    dsource = np.zeros(source.size, dtype=g.dtype, like=g)
    dsource[: len(places)] = g.reshape(-1)[places]
    return np.where(mask != 0, 0, g), None, dsource.reshape(source.shape)


def torch(torch: Any, x: Any, mask: Any, source: Any) -> Any:
    return torch.masked_scatter(x, mask != 0, source)
