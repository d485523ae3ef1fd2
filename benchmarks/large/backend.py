"""matmul, attention and exp in float32 by PyTorch, results stored in the dtype of the inputs: honest, and quick."""

from typing import Any

import numpy as np
import torch

name = "float32 by PyTorch"


def _wide(inputs: Any) -> list[Any]:
    return [None if x is None else torch.from_numpy(np.ascontiguousarray(x, dtype=np.float32)) for x in inputs]


def _value(op: str, x: list[Any], params: dict[str, Any]) -> Any:
    if op == "matmul":
        return x[0] @ x[1]
    if op == "exp":
        return torch.exp(x[0])
    attention = torch.nn.functional.scaled_dot_product_attention
    return attention(*x[:3], is_causal=params["is_causal"], enable_gqa=params["enable_gqa"])


def forward(op: str, inputs: Any, params: dict[str, Any]) -> list[Any]:
    with torch.no_grad():
        return [_value(op, _wide(inputs), params).numpy().astype(inputs[0].dtype)]


def vjp(op: str, inputs: Any, params: dict[str, Any], cotangents: Any, needs: Any) -> list[Any]:
    x = _wide(inputs)
    wanted = [v for v, need in zip(x, needs, strict=True) if need]
    for v in wanted:
        v.requires_grad_()
    found = iter(torch.autograd.grad(_value(op, x, params), wanted, _wide(cotangents)[0]))
    return [next(found).numpy().astype(inputs[0].dtype) if need else None for need in needs]
