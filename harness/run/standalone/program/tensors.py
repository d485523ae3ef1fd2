"""A call of a function of PyTorch, or of a class's module, that is asked for, gradients included."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .job import Told, keep_results

#: Calls between the first answers and the last, and the seconds in which they begin.
CALLS_BETWEEN_ANSWERS = 40
CALLING_SECONDS = 0.5


@dataclass(frozen=True)
class TensorJob:
    """A call that is asked for, in a file that is read anew for every call: tensors of its own."""

    loaded: Any
    path: Path
    once = False

    def supported(self) -> bool:
        """Whether it has the call."""
        return True

    def call(self) -> tuple[list[Any], list[Any]]:
        """Outputs and gradients of one call."""
        import torch

        job: dict[str, Any] = torch.load(self.path, weights_only=False)
        needs = job["needs"]
        tensors = [t.requires_grad_() if need else t for t, need in zip(job["tensors"], needs, strict=True)]
        torch.manual_seed(job["seed"])
        raw = list(walk_leaves(call_subject(getattr(self.loaded, job["label"]), job, tensors)))
        given = zip(raw, job["cotangents"], strict=False)
        pairs = [(y, as_of(y, g)) for y, g in given if g is not None and y.requires_grad]
        outputs = [
            y.detach().clone() for y in (*raw, *(tensors[i] for i in job["after"]))
        ]  # as they are before a backward
        if not pairs:
            return outputs, []
        ys, gs = zip(*pairs, strict=True)
        wanted = [t for t, need in zip(tensors, needs, strict=True) if need]
        found = iter(torch.autograd.grad(ys, wanted, gs, allow_unused=True))
        return outputs, [next(found) if need else None for need in needs]

    def answer(self, when: str = "") -> Told:
        """Save what one call gives, under names that begin with `when`."""
        outputs, gradients = self.call()
        path = str(self.path.with_suffix(""))
        return keep_tensors(path, f"{when}outputs", outputs) | keep_tensors(path, f"{when}gradients", gradients)


def make_tensor_steps(jobs: Sequence[TensorJob]) -> Iterator[Callable[[TensorJob], Told]]:
    """What is done with every job, in turn: answer it, and once more after many calls."""
    yield TensorJob.answer
    until = time.monotonic() + CALLING_SECONDS
    for turn in range(CALLS_BETWEEN_ANSWERS):
        if time.monotonic() > until:
            break
        jobs[turn % len(jobs)].call()
    yield lambda job: job.answer("late ")


def walk_leaves(y: Any) -> Iterator[Any]:
    """The tensors of what came, in order."""
    import torch
    from torch.utils._pytree import tree_leaves

    for leaf in tree_leaves(y):
        if dataclasses.is_dataclass(leaf):
            for field in dataclasses.fields(leaf):
                yield from walk_leaves(getattr(leaf, field.name))
        elif leaf is not None:
            yield torch.as_tensor(leaf)


def keep_tensors(path: str, way: str, tensors: Sequence[Any]) -> Told:
    """Save tensors, floats in float64, a complex one by its parts; by the way dtype, shape and the tensor's dtype."""
    import torch

    arrays, kinds = list[Any](), list[str]()
    for tensor in tensors:
        y = None if tensor is None else tensor.detach().cpu()
        kinds.append("" if y is None else str(y.dtype))
        y = torch.view_as_real(y.resolve_conj()) if y is not None and y.is_complex() else y
        arrays.append(None if y is None else (y.double() if y.is_floating_point() else y).numpy())
    return keep_results(path, way, arrays, kinds)


def as_of(y: Any, g: Any) -> Any:
    """A cotangent in the dtype of its output; a complex one comes by its parts."""
    import torch

    return (torch.view_as_complex(g) if y.is_complex() else g).to(y.device, y.dtype)


def call_subject(subject: Any, job: dict[str, Any], tensors: list[Any]) -> Any:
    """What a function gives, or a class's module with these parameters and buffers, the last of the tensors."""
    import torch

    if job["made_with"] is None:
        return subject(*job["given"], **job["named"])
    module = subject(*job["made_with"])
    module = module.eval() if job["evaluation"] else module
    state = dict(zip(job["state"], tensors[len(tensors) - len(job["state"]) :], strict=True))
    return torch.func.functional_call(module, state, tuple(job["given"]), job["named"], strict=True)
