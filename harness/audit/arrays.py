"""Arrays of PyTorch, NumPy and JAX as numbers: found in what a function takes and gives, read, and replaced."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from opproof.cases._defects import RESOLUTION, Change, InputNumbers
from opproof.core.arrays import Array


def is_tensor(value: Any) -> bool:
    """Whether it is PyTorch's."""
    return "torch" in sys.modules and isinstance(value, sys.modules["torch"].Tensor)


def is_array(value: Any) -> bool:
    """Whether its numbers can be read and replaced."""
    if is_tensor(value):
        return str(value.layout) == "torch.strided" and not value.is_complex() and "bool" not in name_dtype(value)
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(value, jax.Array):
        return not isinstance(value, jax.core.Tracer)
    return isinstance(value, np.ndarray) and value.dtype.kind in "fiu"


def name_dtype(value: Any) -> str:
    """The dtype by its name in NumPy."""
    return str(value.dtype).removeprefix("torch.")


def resolution_of(value: Any) -> float:
    """The part of the largest number that is seen as an error by default."""
    return RESOLUTION.get(name_dtype(value), 0.0)


def read_numbers(value: Any) -> Array:
    """A copy in float64."""
    return np.array(value.detach().cpu().double().numpy() if is_tensor(value) else value, dtype=np.float64)


def describe_input(value: Any) -> InputNumbers:
    """Its numbers, and those that a reader sees that takes it for contiguous."""
    packed = None
    if isinstance(value, np.ndarray) and not value.flags.c_contiguous:
        packed = read_numbers(value.ravel(order="K")).reshape(value.shape)
    elif is_tensor(value) and not value.is_contiguous():
        room = value.untyped_storage().nbytes() // value.element_size() - value.storage_offset()
        plain = value.detach().as_strided((min(room, value.numel()),), (1,), value.storage_offset())
        packed = np.resize(read_numbers(plain), tuple(value.shape))
    return InputNumbers(read_numbers(value), name_dtype(value), packed)


def map_arrays(change: Callable[[Any], Any], values: Any) -> Any:
    """`change` of every array in nested tuples, lists and dicts."""
    if isinstance(values, tuple | list):
        found = [map_arrays(change, v) for v in values]
        return type(values)(*found) if hasattr(values, "_fields") else type(values)(found)
    if isinstance(values, dict):
        return {k: map_arrays(change, v) for k, v in values.items()}
    return change(values) if is_array(values) else values


def list_arrays(values: Any) -> list[Any]:
    """Every array in them, in order."""
    found: list[Any] = []
    map_arrays(found.append, values)
    return found


def replace_numbers(value: Any, numbers: Array | None = None, gradient: Change | None = None) -> Any:
    """The array with other numbers, None for its own; PyTorch's stays in the graph, with another gradient if given."""
    if not is_tensor(value):
        new = np.asarray(numbers).astype(value.dtype)
        return new if isinstance(value, np.ndarray) else sys.modules["jax"].numpy.asarray(new)
    import torch

    def like(other: Any, found: Array) -> torch.Tensor:
        return torch.from_numpy(np.array(found, order="C")).to(other)

    if not (value.requires_grad and torch.is_grad_enabled()):
        return value if numbers is None else like(value, numbers)

    class Planted(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
        @staticmethod
        def forward(_: Any, x: torch.Tensor) -> torch.Tensor:
            return x.view_as(x) if numbers is None else like(x, numbers)

        @staticmethod
        def backward(_: Any, g: torch.Tensor) -> torch.Tensor:
            return g if gradient is None else like(g, gradient(read_numbers(g)))

    return Planted.apply(value)
