"""branch: one of several functions of two tensors, which one the number `index` says, counted from 0.

`functions` names them, operators of ours: add, sub, mul or logaddexp.
Shapes: index (1,) integer in [0, number of functions), a any, b as a; y as a.
Gradient: that of the function which is called. None for index.
Source: StableHLO, case and if; ONNX, If (of two functions, the first where the condition does not hold).
PyTorch: none (torch.cond, which is compiled). ONNX: If. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._functions import function_of

SIGNATURE = "(1),(...),(...)"
LIKE = "a"
TRIVIAL = {"vjp": ("copy",)}  # of what is added


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"index": range(len(params["functions"]))}


def forward(index: Array, a: Array, b: Array, *, functions: tuple[str, ...]) -> Array:
    called = [function_of(name, 2) for name in functions]
    if a.shape != b.shape:
        raise ValueError(f"the tensors are of {a.shape} and {b.shape}")
    return called[int(np.reshape(index, (-1,))[0])].forward(a, b)  # type: ignore[no-any-return]


def vjp(
    g: Array, y: Array, index: Array, a: Array, b: Array, *, functions: tuple[str, ...]
) -> tuple[None, Array, Array]:
    da, db = function_of(functions[int(np.reshape(index, (-1,))[0])], 2).vjp(g, y, a, b)
    return None, da, db


def torch(torch: Any, index: Any, a: Any, b: Any, *, functions: tuple[str, ...]) -> Any:
    every = torch.stack([getattr(torch, name)(a, b) for name in functions])
    return every.index_select(0, index.reshape(-1).to(torch.int64))[0]
