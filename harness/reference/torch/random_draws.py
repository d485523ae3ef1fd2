"""What a reference draws, in float64 as in its own dtype, and indices by which PyTorch's kernels read unchecked.

Generators give other numbers in float64 than in float32. The second list is PyTorch 2.13's on the CPU, found by tensors
that end where memory ends: such an operation is to raise, not to damage the heap of the caller's process.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from opproof.harness.reference.torch.arithmetic import copy_nested
from opproof.harness.reference.torch.intercept import with_intercepted_operations


@dataclass(frozen=True)
class Draw:
    """What one operation drew."""

    name: str
    values: tuple[Any, ...]


@functools.cache  # it is asked at every operation
def draws(func: Any) -> bool:
    """Whether an operation draws at random, by itself."""
    import torch

    if not hasattr(func, "_schema"):  # of one that takes functions it is theirs
        return False
    name = func._schema.name.partition("::")[2]
    return torch.Tag.nondeterministic_seeded in func.tags and "dropout" not in name and name[0] != "_"


def with_recorded_draws(found: list[Draw]) -> AbstractContextManager[Any]:
    """A block of which the random draws are kept, in order. Raises IndexError; see `ranges`."""

    def kept(_: Any, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        look(func, args, kwargs)
        y = func(*args, **kwargs)
        if draws(func):
            found.append(Draw(func._schema.name, copy_nested(y if isinstance(y, tuple) else (y,))))
        return y

    return with_intercepted_operations(kept)


#: Rows of an LSTM's weights for each number of its state: four gates.
_GATES = 4
#: Of its arguments after x those that are its biases; the weights again where it has none.
_BIASES = (2, 3)


def _check_labels(x: Any, targets: Any, *_: Any, **__: Any) -> str:
    """_ctc_loss: of x (steps, sequences, classes). It looks at the lengths alone (LossCTC.cpp)."""
    classes = x.shape[-1]
    if targets.numel() and not 0 <= int(targets.min()) <= int(targets.max()) < classes:
        return f"labels go from {int(targets.min())} to {int(targets.max())} of {classes} classes"
    return ""


def _check_attention(q: Any, k: Any, v: Any, *_: Any, **__: Any) -> str:
    """_scaled_dot_product_flash_attention_for_cpu: of (batch, heads, length, features)."""
    if k.shape[-2] != v.shape[-2]:
        return f"{k.shape[-2]} keys have {v.shape[-2]} values"
    return "keys have no head" if q.shape[1] and not k.shape[1] else ""


def _check_recurrent(x: Any, *args: Any, **__: Any) -> str:
    """mkldnn_rnn_layer: of x (steps, sequences, inputs), two weights, two biases and two states of an LSTM."""
    size, biased = args[9], args[11]
    gates = _GATES * size
    wanted = [(gates, x.shape[-1]), (gates, size), *2 * [(gates,)], *2 * [(x.shape[1], size)]]
    pairs = zip([tuple(t.shape) for t in args[:6]], wanted, strict=True)
    wrong = [(a, b) for i, (a, b) in enumerate(pairs) if a != b and (biased or i not in _BIASES)]
    return f"weights or states of shape {wrong[0][0]}, expected {wrong[0][1]}" if wrong else ""


def _check_segments(x: Any, *_: Any, lengths: Any = None, offsets: Any = None, axis: int = 0, **__: Any) -> str:
    """segment_reduce."""
    ends = offsets if offsets is not None else lengths.sum(-1) if lengths is not None else None
    if ends is None or not ends.numel() or int(ends.max()) <= x.shape[axis]:
        return ""
    return f"pieces end at {int(ends.max())} of {x.shape[axis]}"


def _check_lengths(v: Any, g: Any, dim: int = 0, **_: Any) -> str:
    """_weight_norm_interface."""
    n = math.prod(g.shape)
    return "" if n == v.shape[dim] > 0 else f"{n} lengths of {v.shape[dim]} vectors"


_LOOKS: dict[str, Callable[..., str]] = {
    "_ctc_loss": _check_labels,
    "_scaled_dot_product_flash_attention_for_cpu": _check_attention,
    "mkldnn_rnn_layer": _check_recurrent,
    "segment_reduce": _check_segments,
    "_embedding_bag": lambda _weight, _indices, offsets, *_, **__: "" if offsets.numel() else "there are no offsets",
    "_weight_norm_interface": _check_lengths,
}


def look(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Raises IndexError where `func` would read past its tensors; of most operations PyTorch looks itself."""
    name = func._schema.name.partition("::")[2] if hasattr(func, "_schema") else ""
    if name in _LOOKS and (objection := _LOOKS[name](*args, **kwargs)):
        raise IndexError(f"{name.strip('_')}: {objection}")
