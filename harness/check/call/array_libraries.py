"""Functions of JAX and MLX as functions of PyTorch tensors, gradients by the library's own vjp.

Arrays of these libraries lie row by row, so tensors are copied on the way in and out. float64 is computed by JAX with
jax_enable_x64 set, everything else without it; where it is not, its whole numbers of 32 bits are PyTorch's of 64.
"""

from __future__ import annotations

import functools
import importlib
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from opproof.harness.check.call.subject import is_module, name_of

#: A function of arrays that gives floats alone.
Floats = Callable[..., list[Any]]


@dataclass(frozen=True)
class JaxArrays:
    """JAX's arrays from NumPy's and back, its gradients, and its setting for float64."""

    module: Any
    name: str = "JAX"

    def from_numpy(self, array: Any) -> Any:
        """An array of JAX, a copy."""
        return self.module.numpy.array(array)

    def to_numpy(self, array: Any) -> Any:
        """The numbers, bfloat16 as ml_dtypes has it."""
        found = np.array(array)
        return found.astype(np.int64) if found.dtype == np.int32 else found

    def is_array(self, value: Any) -> bool:
        return isinstance(value, self.module.Array)

    def pull(self, function: Floats, inputs: list[Any], cotangents: list[Any]) -> Sequence[Any]:
        found: Sequence[Any] = self.module.vjp(function, *inputs)[1](cotangents)
        return found

    def apply_settings(self, arrays: Sequence[Any]) -> AbstractContextManager[Any]:
        """The settings under which arrays such as these NumPy ones are computed with."""
        found: AbstractContextManager[Any] = self.module.enable_x64(any(a.dtype == np.float64 for a in arrays))
        return found


@dataclass(frozen=True)
class MlxArrays:
    """The same of MLX, which has no such setting."""

    module: Any
    name: str = "MLX"

    def from_numpy(self, array: Any) -> Any:
        """An array of MLX, a copy."""
        kind = getattr(self.module, "bool_" if array.dtype == bool else array.dtype.name)
        plain = np.array(array, dtype=np.float32) if kind == self.module.bfloat16 else array
        return self.module.array(plain, dtype=kind)

    def to_numpy(self, array: Any) -> Any:
        """The numbers, bfloat16 as ml_dtypes has it."""
        if array.dtype == self.module.bfloat16:
            import ml_dtypes

            return np.array(array.view(self.module.uint16)).view(ml_dtypes.bfloat16)
        found = np.array(array)
        return found.astype(np.int64) if found.dtype in (np.int32, np.uint32) else found

    def is_array(self, value: Any) -> bool:
        return isinstance(value, self.module.array)

    def pull(self, function: Floats, inputs: list[Any], cotangents: list[Any]) -> Sequence[Any]:
        found: Sequence[Any] = self.module.vjp(function, inputs, cotangents)[1]
        return found

    def apply_settings(self, arrays: Sequence[Any]) -> AbstractContextManager[Any]:
        del arrays
        return nullcontext()


ArrayLibrary: TypeAlias = JaxArrays | MlxArrays
#: By the first name of a module: the module that has its arrays, and the class that speaks to it.
_LIBRARIES: dict[str, tuple[str, Callable[[Any], ArrayLibrary]]] = {
    "jax": ("jax", JaxArrays), "jaxlib": ("jax", JaxArrays), "mlx": ("mlx.core", MlxArrays),
}  # fmt: skip


def find_library(function: Any) -> ArrayLibrary | None:
    """The library whose function it is, or whose modules a function of the user's names; None for any other."""
    roots = [root for root in _iter_roots(function) if root in (*_LIBRARIES, "torch")]
    if not roots or "torch" in roots:
        return None
    name, make = _LIBRARIES[roots[0]]
    return make(importlib.import_module(name))


def _iter_roots(function: Any) -> Iterator[str]:
    """First names of the modules that a function comes from and names, through wrappers."""
    while isinstance(function, functools.partial) or hasattr(function, "__wrapped__"):
        yield _find_root(type(function))
        function = function.func if isinstance(function, functools.partial) else function.__wrapped__
    yield _find_root(function)
    code = getattr(function, "__code__", None)
    if code is None:
        yield _find_root(type(function))
        return
    inside = [code, *(c for c in code.co_consts if isinstance(c, types.CodeType))]
    names = {name for c in inside for name in c.co_names}
    cells = [c.cell_contents for c in function.__closure__ or () if c != types.CellType()]
    for value in (*(function.__globals__.get(name) for name in sorted(names)), *cells):
        if isinstance(value, types.ModuleType):
            yield value.__name__.partition(".")[0]
        elif callable(value):
            yield _find_root(value)


def _find_root(value: Any) -> str:
    return str(getattr(value, "__module__", None) or "").partition(".")[0]


def with_tensors(candidate: Any) -> Any:
    """A function of arrays of such a library as one of tensors, through which autograd sees; any other as it is."""
    library = None if is_module(candidate) else find_library(candidate)
    if library is None:
        return candidate

    def of_tensors(*given: Any, **named: Any) -> Any:
        import torch
        from torch.utils._pytree import tree_flatten, tree_unflatten

        leaves, spec = tree_flatten((given, named))
        places = [i for i, v in enumerate(leaves) if isinstance(v, torch.Tensor)]

        def compute(*arrays: Any) -> tuple[list[Any], Any]:
            """The leaves of what it gives for arrays of the library, and their tree."""
            positional, by_name = tree_unflatten(_replace(leaves, places, arrays), spec)
            found: tuple[list[Any], Any] = tree_flatten(candidate(*positional, **by_name))
            return found

        call = _Call(compute, library)
        flat = _function_of_autograd().apply(call, *(leaves[i] for i in places))
        return tree_unflatten(_replace(call.leaves, call.places, flat), call.spec)

    of_tensors.__name__ = name_of(candidate)
    return of_tensors


def _replace(values: Sequence[Any], places: Sequence[int], others: Sequence[Any]) -> list[Any]:
    """The values, with others at some places."""
    instead = dict(zip(places, others, strict=True))
    return [instead.get(i, v) for i, v in enumerate(values)]


class _Call:
    """One call: what it gives beside arrays, where arrays stand in it, and what its gradients are computed from."""

    def __init__(self, compute: Callable[..., Any], library: ArrayLibrary) -> None:
        self.compute, self.library = compute, library
        self.given: list[Any] = []  # NumPy's arrays

    def answer(self, arrays: list[Any]) -> list[Any]:
        """The NumPy arrays that it gives for some."""
        self.given = arrays
        with self.library.apply_settings(arrays):
            self.leaves, self.spec = self.compute(*map(self.library.from_numpy, arrays))
            self.places = [i for i, v in enumerate(self.leaves) if self.library.is_array(v)]
            return [self.library.to_numpy(self.leaves[i]) for i in self.places]

    def differentiate(self, which: list[int], cotangents: list[Any | None]) -> list[Any]:
        """The gradients, NumPy arrays, of the inputs `which`; a cotangent is None where there is none."""
        pairs = [(place, g) for place, g in zip(self.places, cotangents, strict=True) if g is not None]
        with self.library.apply_settings(self.given):
            arrays = [self.library.from_numpy(a) for a in self.given]

            def floats(*moved: Any) -> list[Any]:
                leaves, _ = self.compute(*_replace(arrays, which, moved))
                return [leaves[place] for place, _ in pairs]

            gs = [self.library.from_numpy(g) for _, g in pairs]
            return [self.library.to_numpy(d) for d in self.library.pull(floats, [arrays[i] for i in which], gs)]


def convert_to_numpy(value: Any) -> Any:
    """A tensor as an array in its memory; what is none stays."""
    import torch

    if not isinstance(value, torch.Tensor):
        return value
    plain = value.detach().cpu()
    if plain.dtype == torch.bfloat16:
        import ml_dtypes

        return plain.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return plain.numpy()


def convert_to_torch(value: Any) -> Any:
    """An array as a tensor; what is none stays."""
    if not isinstance(value, np.ndarray | np.generic):
        return value
    from opproof.harness.check.function_backend import to_torch as taken

    array = np.ascontiguousarray(value) if np.ndim(value) else np.array(value)
    return taken(array, "cpu")


@functools.cache
def _function_of_autograd() -> Any:
    import torch

    class OfArrays(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, call: _Call, *tensors: Any) -> Any:
            ctx.call = call
            outputs = [convert_to_torch(y) for y in call.answer([np.array(convert_to_numpy(t)) for t in tensors])]
            ctx.set_materialize_grads(False)
            ctx.mark_non_differentiable(*(y for y in outputs if not y.is_floating_point()))
            return tuple(outputs)

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, *cotangents: Any) -> Any:
            which = [i for i, needed in enumerate(ctx.needs_input_grad[1:]) if needed]
            gs = [None if g is None else np.array(convert_to_numpy(g)) for g in cotangents]
            found = map(convert_to_torch, ctx.call.differentiate(which, gs))
            return (None, *_replace([None] * len(ctx.call.given), which, [*found]))

    return OfArrays
