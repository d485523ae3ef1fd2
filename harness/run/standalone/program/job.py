"""A call that is asked for, of a backend or of a function of PyTorch, and the answers that are kept."""

from __future__ import annotations

import dataclasses
import inspect
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

Told: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """A call that is asked for, with several sets of data, which have their shapes in common."""

    backend: Any
    of: dict[str, Any]
    path: str

    @property
    def once(self) -> bool:
        """Whether there are no other numbers to call with, and one call is all."""
        return "other" not in self.of["data"]

    @property
    def alignment(self) -> int:
        """Bytes at a multiple of which its buffers lie."""
        return max(64, getattr(self.backend, "alignment", None) or 0)

    def fresh(self, name: str) -> Data:
        """Arrays of its own for one call."""
        inputs, cotangents = self.of["data"][name]
        return [copy_aligned(x, self.alignment) for x in inputs], [copy_aligned(g, self.alignment) for g in cotangents]

    def call(self, data: Data, params: dict[str, Any] | None = None) -> list[Any]:
        """What a call returns, as a list. Raises what it raises, and NotImplementedError where it declines so."""
        inputs, cotangents = data
        function = getattr(self.backend, "vjp" if self.of["gradient"] else "forward", None)
        if function is None:  # it writes where it is told
            raise NotImplementedError
        params = dict(self.of["params"]) if params is None else params
        more = (list(cotangents), list(self.of["needs"])) if self.of["gradient"] else ()
        got = function(self.of["op"], list(inputs), params, *more)
        if got is NotImplemented:
            raise NotImplementedError
        return list(got) if isinstance(got, (list, tuple)) else [got]

    def answer(self, name: str) -> list[Any]:
        """A copy of what one call gives."""
        return copy_results(self.call(self.fresh(name)))

    def supported(self) -> bool:
        """Whether it has the call, as it says itself."""
        supports = getattr(self.backend, "supports", None)
        if supports is None:
            return True
        arguments = inspect.signature(supports).parameters.values()
        told = any(a.name == "shapes" or a.kind is a.VAR_KEYWORD for a in arguments)
        shapes = [None if x is None else x.shape for x in self.of["data"]["asked"][0]]
        given = {"shapes": shapes} if told else {}
        return bool(supports(self.of["op"], list(self.of["dtypes"]), dict(self.of["params"]), **given) is True)

    def kept(self, way: str, results: Arrays) -> Told:
        """Save the results; see keep_results."""
        return keep_results(self.path, way, results)

    def is_kept(self, way: str, results: Arrays) -> bool:
        """Whether these are the bits that were saved."""
        return all(
            y is None or Path(f"{self.path}{way}{i}").read_bytes() == np.asarray(y).tobytes()
            for i, y in enumerate(results)
        )


Arrays: TypeAlias = Sequence[Any]
Data: TypeAlias = tuple[Arrays, Arrays]  # inputs and cotangents


def keep_results(path: str, way: str, results: Arrays, kinds: Sequence[str] = ()) -> Told:
    """Save what came in a way of calling; by the way dtype and shape of each, and the kind that it stands for."""
    told = list[Any]()
    for i, result in enumerate(results):
        y = None if result is None else np.asarray(result)
        told.append(None if y is None else [y.dtype.name, y.shape, kinds[i] if kinds else ""])
        if y is not None:
            Path(f"{path}{way}{i}").write_bytes(y.tobytes())
    return {way: told}


def copy_aligned(array: Any, alignment: int) -> Any:
    """A copy at a multiple of `alignment` bytes."""
    return None if array is None else copy_together([array], alignment)[0]


def copy_together(arrays: Arrays, alignment: int) -> list[Any]:
    """Copies in one array, each at a multiple of `alignment` bytes, as batches of a set of data lie."""
    dtype = arrays[0].dtype
    steps = [-(-a.nbytes // alignment) * alignment // dtype.itemsize for a in arrays]
    room = np.empty(sum(steps) + alignment // dtype.itemsize, dtype)
    copies, at = [], -room.ctypes.data % alignment // dtype.itemsize
    for array, step in zip(arrays, steps, strict=True):
        copies.append(room[at : at + array.size].reshape(array.shape))
        copies[-1][...] = array
        at += step
    return copies


def copy_results(results: Arrays) -> list[Any]:
    """What they hold now."""
    return [None if y is None else np.array(y) for y in results]


def is_other(copies: Arrays, results: Arrays) -> bool:
    """Whether results hold other bits than their copies of earlier, or there are none."""
    return len(copies) != len(results) or any(
        (a is None) != (b is None) or (a is not None and np.asarray(a).tobytes() != np.asarray(b).tobytes())
        for a, b in zip(copies, results, strict=True)
    )


def fill_data(data: Data, numbers: Data) -> Data:
    """The same memory with these numbers."""
    for here, there in zip((*data[0], *data[1]), (*numbers[0], *numbers[1]), strict=True):
        if here is not None:
            here[...] = there
    return data


def are_shared(inputs: Arrays, results: Arrays) -> bool:
    """Whether a result is memory of an input."""
    return any(
        x is not None and y is not None and np.may_share_memory(x, np.asarray(y)) for x in inputs for y in results
    )


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
