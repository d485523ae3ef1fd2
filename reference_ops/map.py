"""map: a function of the caller's, applied to the elements in each place of one tensor, of two, or of three.

`function` names it, an operator of ours: of one tensor tanh, of two add, sub, mul or logaddexp, of three addcmul.
Shapes: a any, b and c as a, or none; y as a.
Gradient: that of the function.
Source: StableHLO, map; ggml.h, ggml_map_custom1, ggml_map_custom2 and ggml_map_custom3.
PyTorch: torch.vmap. ONNX: none. ggml: ggml_map_custom1, ggml_map_custom2, ggml_map_custom3.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._functions import function_of

SIGNATURE = "(...),(...)?,(...)?"
TRIVIAL = {"vjp": ("copy",)}  # of what is added
TRAITS = ("pointwise",)


def _given(*tensors: Any) -> list[Any]:
    return [x for x in tensors if x is not None]


def forward(a: Array, b: Array | None = None, c: Array | None = None, *, function: str) -> Array:
    given = _given(a, b, c)
    if any(x.shape != a.shape for x in given):
        raise ValueError(f"the tensors are of {', '.join(str(x.shape) for x in given)}")
    return function_of(function, len(given)).forward(*given)  # type: ignore[no-any-return]


def vjp(
    g: Array, y: Array, a: Array, b: Array | None = None, c: Array | None = None, *, function: str
) -> tuple[Array, Array | None, Array | None]:
    given = _given(a, b, c)
    found = function_of(function, len(given)).vjp(g, y, *given)
    slopes = iter(found if isinstance(found, tuple) else (found,))
    da, db, dc = (None if x is None else next(slopes) for x in (a, b, c))
    assert da is not None
    return da, db, dc


def torch(torch: Any, a: Any, b: Any = None, c: Any = None, *, function: str) -> Any:
    given = _given(a, b, c)
    function_of(function, len(given))
    called = getattr(torch, function)
    flat = [x.reshape(-1) for x in given]
    return torch.vmap(called)(*flat).reshape(a.shape) if a.numel() else called(*given)
