"""What the gated units behind two products share: act(x gateᵀ) (x upᵀ), act a function of one number."""

from types import ModuleType
from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops import linear
from opproof.reference_ops._torch import widened


def gated(act: ModuleType, x: Array, gate: Array, up: Array, **params: Any) -> Array:
    """The unit's value; `act` is the operator's module, `params` are its parameters."""
    return act.forward(linear.forward(x, gate), **params) * linear.forward(x, up)  # type: ignore[no-any-return]


def gated_vjp(act: ModuleType, g: Array, x: Array, gate: Array, up: Array, **params: Any) -> tuple[Array, Array, Array]:
    """Gradients of x, gate and up."""
    a, b = linear.forward(x, gate), linear.forward(x, up)
    h = act.forward(a, **params)
    da, db = act.vjp(g * b, h, a, **params), g * h
    (dx, dgate, _), (dx2, dup, _) = linear.vjp(da, a, x, gate), linear.vjp(db, b, x, up)
    return dx + dx2, dgate, dup


def torch_gated(torch: Any, act: Any, x: Any, gate: Any, up: Any) -> Any:
    """The same in PyTorch, the products not rounded to 16 bits."""
    a, w, v = widened(torch, x, gate, up)
    return (act(torch.nn.functional.linear(a, w)) * torch.nn.functional.linear(a, v)).to(x.dtype)


def independent_rows(shapes: dict[str, tuple[int, ...]]) -> list[dict[str, int]]:
    """Rows of x, and columns of the result."""
    rows = [{"x": -k, "y": -k} for k in range(len(shapes["x"]), 1, -1)]
    return [*rows, {"gate": -2, "up": -2, "y": -1}]
