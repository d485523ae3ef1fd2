"""Fused operators as a few lines of PyTorch, with candidates that are right and candidates that are not.

Right ones compute in another order, in chunks or online, in float32, and round once. A wrong one says in which dtype it
shows; where only other values than the given show it, `beyond`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

F = torch.nn.functional


@dataclass(frozen=True)
class Wrong:
    candidate: Callable[..., Any]
    dtype: str = "f32"
    beyond: bool = False
    diagnosis: str = ""  # what the explanation has to say


@dataclass(frozen=True)
class Problem:
    reference: Callable[..., Any]
    inputs: Any
    right: tuple[Callable[..., Any], ...]
    wrong: dict[str, Wrong]
    dtypes: tuple[str, ...] = ("f32", "f16", "bf16")


def wide(f, rounded=True):
    """`f` computed in float32, its results rounded once to the dtype of the first tensor."""

    def candidate(*tensors):
        ys = f(*(t.float() if t.is_floating_point() else t for t in tensors))
        if not rounded:
            return ys
        dtype = tensors[0].dtype
        return tuple(y.to(dtype) for y in ys) if isinstance(ys, tuple) else ys.to(dtype)

    return candidate


def times(f, factor=1.01):
    """Every floating result of `f`, too large."""

    def candidate(*tensors):
        ys = f(*tensors)
        return tuple(y * factor for y in ys) if isinstance(ys, tuple) else ys * factor

    return candidate
