"""executorch: PyTorch's runtime for phones and microcontrollers, its kernels on the CPU; values only.

Each operator is its PyTorch twin, exported as a program and lowered, which takes a second for each case: to the
portable kernels with `-b executorch`, to XNNPACK's where that takes the call with `-b executorch:xnnpack`. What cannot
be exported, or has no kernel, is declined in PyTorch's or ExecuTorch's words.
"""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from opproof.backends import precision
from opproof.backends.protocol import Backend, Unsupported
from opproof.backends.table import check_variant, function_of, import_library, supports
from opproof.core.arrays import Array
from opproof.core.tuples import tuple_of
from opproof.reference_ops import load, names

#: Programs that are kept: a case is called three times in a row.
KEPT = 2
#: bfloat16 as NumPy's, which PyTorch does not take: as the integers of its size.
BFLOAT16 = "bfloat16"
#: The runtime's errors that say what it has not got: NotSupported, an argument's dtype or rank, no kernel.
DECLINED = re.compile(r"0x:?(10|12|14)$")


class ExecuTorch:
    """Programs of one call, by the runtime's own kernels."""

    name, device = "executorch", "cpu"
    dtypes = ("i8", "i16", "i32", "u8")

    def __init__(self, torch: Any, exir: Any, runtime: Any, partitioners: Sequence[Any], variant: str) -> None:
        self.compute, self.rounding = precision.load_built_in("executorch", variant)
        self.version = version("executorch")
        self._torch, self._exir, self._runtime, self._partitioners = torch, exir, runtime, list(partitioners)
        ops = [load(op) for op in names()]  # but for those that draw: a program has no key to draw from
        self.table: dict[str, Callable[..., Any]] = {
            op.name: functools.partial(op.torch, torch) for op in ops if op.torch is not None and not op.drawn_from
        }
        self._programs: dict[str, Any] = {}

    def supports(self, op: str, dtypes: Sequence[str], params: Mapping[str, Any]) -> bool | str:
        return supports(self.table, op, "PyTorch")

    def forward(self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> list[Array]:
        tensors = [None if x is None else self._make_tensor(x) for x in inputs]
        key = f"{op} {params} {[None if x is None else (x.shape, x.dtype.name) for x in inputs]}"
        if key not in self._programs:
            function = functools.partial(function_of(self.table, op, "PyTorch"), **params)
            made = self._load(self._lower(function, tensors))
            self._programs = {**dict([*self._programs.items()][1 - KEPT :]), key: made}
        try:
            results = self._programs[key][1].execute([t for t in tensors if t is not None])
        except RuntimeError as error:
            raise _decline(error) from None
        return [self._make_array(y) for y in results]

    def _lower(self, function: Callable[..., Any], tensors: Sequence[Any]) -> bytes:
        """The program of one call of `function`, its parameters fixed. Raises Unsupported where there is none."""
        torch, given = self._torch, [t for t in tensors if t is not None]

        class Call(torch.nn.Module):  # type: ignore[misc, name-defined]
            def forward(self, *some: Any) -> Any:
                rest = iter(some)
                return tuple_of(function(*(None if t is None else next(rest) for t in tensors)))

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                exported = torch.export.export(Call(), tuple(given))
                config = self._exir.EdgeCompileConfig(_check_ir_validity=False)
                edge = self._exir.to_edge_transform_and_lower(
                    exported, partitioner=self._partitioners, compile_config=config
                )
                return bytes(edge.to_executorch().buffer)
            except Exception as error:  # of some twenty classes: what the exporters cannot take apart
                raise Unsupported(f"it cannot be lowered: {type(error).__name__}: {_take_first_line(error)}") from None

    def _load(self, buffer: bytes) -> tuple[Any, Any]:
        """The program, which its method needs as long as it lives, and the method."""
        try:
            program = self._runtime.load_program(buffer)
            return program, program.load_method("forward")
        except RuntimeError as error:
            raise _decline(error) from None

    def _make_tensor(self, x: Array) -> Any:
        own = np.array(x, order="C", copy=True).reshape(x.shape)
        if own.dtype.name == BFLOAT16:
            return self._torch.from_numpy(own.view(np.int16)).view(self._torch.bfloat16)
        return self._torch.from_numpy(own)

    def _make_array(self, y: Any) -> Array:
        if not isinstance(y, self._torch.Tensor):
            return np.asarray(y)
        own = y.detach().clone().contiguous()  # results lie in memory of the program
        if own.dtype == self._torch.bfloat16:
            import ml_dtypes

            return np.asarray(own.view(self._torch.int16).numpy()).view(ml_dtypes.bfloat16)
        return np.asarray(own.numpy())


def _decline(error: RuntimeError) -> Exception:
    """The runtime's error, as a refusal where it says that it has no kernel for this."""
    words = _take_first_line(error)
    return Unsupported(f"ExecuTorch: {words}") if DECLINED.search(words) else error


def _take_first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), "")


def create(variant: str = "") -> Backend:
    """ExecuTorch's portable kernels (""), or XNNPACK's where it has some. Raises BackendError without ExecuTorch."""
    check_variant("executorch", variant, "xnnpack")
    torch = import_library("torch", "executorch", "PyTorch")
    runtime = import_library("executorch.runtime", "executorch", "ExecuTorch").Runtime.get()
    exir = import_library("executorch.exir", "executorch", "ExecuTorch")
    partitioners = []
    if variant:
        place = "executorch.backends.xnnpack.partition.xnnpack_partitioner"
        partitioners = [import_library(place, "executorch", "ExecuTorch").XnnpackPartitioner()]
    return ExecuTorch(torch, exir, runtime, partitioners, variant)
