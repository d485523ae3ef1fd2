"""dropout: each element is dropped with probability p, to 0, and the others are multiplied by 1 / (1 - p).

Shapes: x any; y and mask (bool, true where kept) as x. Which elements are dropped follows from `key`, by a generator of
the implementation's own: the same key drops the same ones, another key others. So y and the gradient are held against
the mask that came, the gradient against that of the forward, and the mask against chance alone: how many are kept, in
all, along each axis and of the larger elements, whether it repeats itself, whether another key gives the same. Where
the tensor `mask` is given, nothing is drawn; where not training, nothing is dropped, and y is x.
Gradient: g mask / (1 - p).
Source: Srivastava et al., Dropout (2014). What is dropped is multiplied by 0 (PyTorch, ONNX, MLX: of NaN that is NaN),
or is 0 (JAX, tinygrad).
PyTorch: torch.native_dropout, torch.nn.functional.dropout. ONNX: Dropout. ggml: none.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops import _chance

SIGNATURE = "(...)"
ANALYTIC = True
OUTPUTS = ("y", "mask")
TRAITS = ("pointwise",)
IN_PLACE = ()  # the mask comes with it
DRAWN_FROM = "key"


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"mask": range(2)}


def _kept(x: Array, mask: Array | None, p: float, key: int, training: bool) -> Array:
    """Where elements are kept."""
    if not training:
        return np.ones(x.shape, dtype=bool)
    if mask is not None:
        return np.asarray(mask != 0)
    return _chance.draw_evenly(key, x.shape) >= p


def _scaled(x: Array, kept: Array, p: float, training: bool) -> Array:
    return x * kept / (1 - p) if training and p < 1 else x * kept


def forward(
    x: Array, mask: Array | None = None, *, p: float = 0.5, key: int = 0, training: bool = True
) -> tuple[Array, Array]:
    kept = _kept(x, mask, p, key, training)
    return _scaled(x, kept, p, training), kept


def conventions(
    x: Array, mask: Array | None = None, *, p: float = 0.5, key: int = 0, training: bool = True
) -> Iterator[tuple[Array, Array]]:
    kept = _kept(x, mask, p, key, training)
    yield np.where(kept, _scaled(x, kept, p, training), 0), kept


def vjp(
    g: tuple[Array, Any], y: tuple[Array, Array], x: Array, mask: Array | None = None,
    *, p: float = 0.5, key: int = 0, training: bool = True,
) -> tuple[Array, None]:  # fmt: skip
    return _scaled(g[0], y[1], p, training), None


def drawn(
    outputs: tuple[Array, Array], x: Array, mask: Array | None = None, **params: Any
) -> tuple[Array, Array | None]:
    """The tensors, with the mask that an implementation drew."""
    return x, outputs[1] if mask is None else mask


def unfair(
    outputs: tuple[Array, Array], others: tuple[Array, Array] | tuple[()], x: Array, mask: Array | None = None,
    *, p: float = 0.5, key: int = 0, training: bool = True,
) -> str:  # fmt: skip
    """What is wrong with the mask that was drawn; `others` are the outputs of another key."""
    if mask is not None:
        return ""
    kept, q = outputs[1], 1 - p if training else 1.0
    found = _chance.uneven(kept, q) or _chance.partial(kept, x, q) or _chance.repeated(kept, q)
    return found or (_chance.alike(kept, others[1], q) if others else "")


def torch(torch: Any, x: Any, mask: Any = None, *, p: float = 0.5, key: int = 0, training: bool = True) -> Any:
    if mask is not None and training:
        kept = mask != 0
        return torch.ops.aten.native_dropout_backward(x, kept, 1 / (1 - p)), kept
    with torch.random.fork_rng():
        torch.manual_seed(key)
        return torch.native_dropout(x, p, training)
