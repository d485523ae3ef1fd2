"""What is compared: a function of tensors, or a module, whose parameters are inputs too."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from opproof.harness.check.call import Call
from opproof.harness.check.tensors import KINDS, Tensor, taken
from opproof.vocabulary.errors import UsageError

#: How far parameters are moved from where they begin: of ones and zeros, a weight that is ignored shows in nothing.
_PERTURBED = 0.25


@dataclass(frozen=True)
class Arguments:
    """The arguments of a call: tensors by position, all else as it is."""

    rest: tuple[Any, ...]  # leaves; None at the places of tensors
    places: tuple[int, ...]  # of the tensors among the leaves
    spec: Any  # of the tree

    def filled(self, tensors: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments with these tensors."""
        from torch.utils._pytree import tree_unflatten

        leaves = list(self.rest)
        for place, tensor in zip(self.places, tensors, strict=True):
            leaves[place] = tensor
        return tuple(tree_unflatten(leaves, self.spec))


def is_module(subject: Any) -> bool:
    """Whether it is a torch.nn.Module."""
    return hasattr(subject, "named_parameters") and hasattr(subject, "forward")


def name_of(subject: Any) -> str:
    """What it is called, in letters that a case id may hold."""
    name = getattr(subject, "__name__", None) or type(subject).__name__
    kept = "".join(c if c.isalnum() else "_" for c in str(name)).strip("_")
    return kept if kept and not kept[0].isdigit() else f"f_{kept}"


def parameters(module: Any, dtype: str | None, seed: int) -> tuple[Tensor, ...]:
    """A module's parameters, moved from where they began; floats in `dtype` where one is given."""
    rng = np.random.default_rng([seed, 2])
    found = []
    for name, p in module.named_parameters():
        if str(p.dtype).removeprefix("torch.") not in KINDS:
            continue
        tensor = taken(_plain(name), p, dtype, param=True)
        size = float(np.sqrt(np.mean(np.square(tensor.values)))) if tensor.values.size else 0.0
        moved = tensor.values + _PERTURBED * (size or 0.5) * rng.standard_normal(tensor.values.shape)
        found.append(tensor.holding(moved))
    return tuple(found)


def _plain(name: str) -> str:
    return name.replace("_orig_mod.", "")


def in_float64(subject: Any, arguments: Arguments, count: int, names: Sequence[str]) -> Callable[..., Any]:
    """The reference as a function of float64 tensors: `count` inputs, then parameters of these names."""
    if not is_module(subject):
        return lambda *tensors: subject(*arguments.filled(tensors))
    import torch

    wide = copy.deepcopy(subject).double()
    buffers = dict(wide.named_buffers())

    def call(*tensors: Any) -> Any:
        state = {k: v.clone() for k, v in buffers.items()} | dict(zip(names, tensors[count:], strict=True))
        return torch.func.functional_call(wide, state, arguments.filled(tensors[:count]))

    return call


def as_call(subject: Any, arguments: Arguments, count: int, names: Sequence[str]) -> Call:
    """A function, or a module with its parameters set, as it is called with tensors of the dtype under test."""
    if not is_module(subject):
        return lambda tensors: subject(*arguments.filled(tensors))
    import torch

    owned = {_plain(n): n for n, _ in subject.named_parameters()}
    if missing := [n for n in names if n not in owned]:
        raise UsageError(
            f"the candidate has no parameter {missing[0]!r}: expected those of the reference by name, "
            f"got {', '.join(owned) or 'none'}."
        )

    def call(tensors: Sequence[Any]) -> Any:
        state = {owned[n]: t for n, t in zip(names, tensors[count:], strict=True)}
        state |= {n: b.clone() for n, b in subject.named_buffers()}
        return torch.func.functional_call(subject, state, arguments.filled(tensors[:count]))

    return call


def in_dtype(module: Any, tensors: Sequence[Tensor]) -> Any:
    """A copy of a module in the float dtype of its parameters, or of its inputs where it has none."""
    kinds = [t.dtype for t in tensors if t.kind and t.param] or [t.dtype for t in tensors if t.kind]
    if not is_module(module) or not kinds:
        return module
    import torch

    return copy.deepcopy(module).to(getattr(torch, kinds[0]))


def with_state(candidate: Any, reference: Any) -> Any:
    """A copy of the candidate module whose buffers are the reference's, by name."""
    if not (is_module(candidate) and is_module(reference)):
        return candidate
    theirs: Mapping[str, Any] = {_plain(n): b for n, b in reference.named_buffers()}
    made = copy.deepcopy(candidate)
    for name, buffer in made.named_buffers():
        source = theirs.get(_plain(name))
        if source is not None and source.shape == buffer.shape:
            buffer.copy_(source)
    return made
