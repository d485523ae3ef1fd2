"""The tensors of what a call returns, in any nesting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def flat(outputs: Any) -> list[Any]:
    """The tensors of outputs in any nesting, in order; numbers count as tensors, None does not."""
    import torch

    leaves = [y for y in _leaves(outputs) if y is not None]
    kept = [torch.as_tensor(y) if isinstance(y, int | float | np.ndarray | np.generic) else y for y in leaves]
    for y in kept:
        if not isinstance(y, torch.Tensor):
            raise TypeError(f"an output is a {type(y).__name__}: expected tensors")
    return kept


def has_own_operations(y: Any) -> bool:
    """Whether a tensor is of a class that answers in PyTorch's place where it is read."""
    import torch

    kinds = type(y).__mro__
    own = kinds[: kinds.index(torch.Tensor)] if torch.Tensor in kinds else ()
    return any(
        {"__torch_function__", "__torch_dispatch__"} & vars(kind).keys()
        for kind in own
        if kind is not torch.nn.Parameter
    )


def _leaves(outputs: Any) -> Iterator[Any]:
    """The leaves of a tree, of whose nodes some may be dataclasses, which PyTorch takes for leaves."""
    from torch.utils._pytree import tree_leaves

    for leaf in tree_leaves(outputs):
        if is_dataclass(leaf) and not isinstance(leaf, type):
            for f in fields(leaf):
                yield from _leaves(getattr(leaf, f.name))
        else:
            yield leaf
