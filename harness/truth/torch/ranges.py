"""Indices that PyTorch's own kernels read by without a look, past the memory of their tensors.

A reference whose labels are fixed meets other numbers of classes, as `check` tries neighbours of its shapes. Such an
operation is to raise, as `embedding` does, not to damage the heap of the caller's process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def _labels(x: Any, targets: Any, *_: Any) -> None:
    """_ctc_loss: of x (steps, sequences, classes). PyTorch 2.13 looks at the lengths alone (LossCTC.cpp)."""
    classes = x.shape[-1]
    if targets.numel() and not 0 <= int(targets.min()) <= int(targets.max()) < classes:
        raise IndexError(f"ctc_loss: labels go from {int(targets.min())} to {int(targets.max())} of {classes} classes")


_LOOKS: dict[str, Callable[..., None]] = {"_ctc_loss": _labels}


def look(func: Any, args: Sequence[Any]) -> None:
    """Raises IndexError where `func` would read past its tensors; of most operations PyTorch looks itself."""
    if hasattr(func, "_schema") and (found := _LOOKS.get(func._schema.name.partition("::")[2])):
        found(*args)
