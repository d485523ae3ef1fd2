"""tinygrad: tinygrad's Tensor on its CPU, each operator by tinygrad's own method, gradients by Tensor.gradient.

`-b tinygrad` lets clang compile every kernel, as tinygrad does by default on a CPU; `-b tinygrad:x86` takes tinygrad's
own assembler (clang compiles four kernels at the start), `-b tinygrad:python` interprets the kernels, and needs
no compiler. A kernel is made anew for every shape and parameter, and that is nearly all the time of a run.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import numpy as np

from opproof.backends import precision
from opproof.backends.capabilities import select_possible
from opproof.backends.protocol import Backend, Unsupported, short_name_of
from opproof.backends.table import Table, check_variant, function_of, import_library, join_tables, pull_back, supports
from opproof.core.arrays import Array
from opproof.core.errors import BackendError
from opproof.core.tuples import tuple_of

DEVICES = {"": "CPU", "x86": "CPU:X86", "python": "PYTHON"}

#: What clang compiles kernels for, by tinygrad's own variable (DEV=DEVICE:RENDERER:ARCHITECTURE).
CAPABILITIES = {
    name: {"DEV": f"CPU:CLANG:x86_64,{architecture}"}
    for name, architecture in (("sse4", "x86-64-v2"), ("avx2", "x86-64-v3"), ("avx512", "x86-64-v4"))
}

COMPILERS = ("clang", *(f"clang-{n}" for n in range(30, 13, -1)))

#: What tinygrad's kernels of bfloat16 are made of; clang has it for x86 from version 17 on.
BFLOAT16 = "__bf16 sum(__bf16 a, __bf16 b) { return a + b; }"

#: Rows longer than this have gradients that compile for half a minute and more: docs/reference/backends/tinygrad.md.
LONGEST = {"sort": 16, "topk": 16, "cumprod": 8}


class Tinygrad:
    """tinygrad's functions on one device."""

    name = "tinygrad"

    def __init__(self, tinygrad: Any, table: Table, variant: str, version: str) -> None:
        self.compute, self.rounding = precision.load_built_in("tinygrad", variant)
        device = DEVICES[variant]
        self._tinygrad, self.table, self.version = tinygrad, table, version
        told = os.environ.get("DEV", "")
        self._target = told if told.startswith("CPU:CLANG:") and device == "CPU" else device
        self.capabilities = select_possible(CAPABILITIES) if device == "CPU" else {}
        self.device = device.lower()
        self._no_bfloat16 = "" if device != "CPU" or _compiles(BFLOAT16) else "this clang has no sums of bfloat16"

    def supports(self, op: str, dtypes: Sequence[str], params: Mapping[str, Any]) -> bool | str:
        if self._no_bfloat16 and "bf16" in dtypes:
            return self._no_bfloat16
        return supports(self.table, op, "tinygrad")

    def forward(self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> list[Array]:
        function = function_of(self.table, op, "tinygrad")
        with self._running():
            return self._arrays(tuple_of(function(*map(self._tensor, inputs), **params)))

    def vjp(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
        cotangents: Sequence[Array | None], needs: Sequence[bool],
    ) -> list[Array | None]:  # fmt: skip
        function = function_of(self.table, op, "tinygrad")
        if op in LONGEST and (n := inputs[0].shape[params["dim"]]) > LONGEST[op]:  # type: ignore[union-attr]
            raise Unsupported(f"the gradient of tinygrad's {op} of {n} elements takes too long to compile")
        with self._running():
            tensors, gs = list(map(self._tensor, inputs)), list(map(self._tensor, cotangents))
            return pull_back(self._pull, functools.partial(function, **params), tensors, gs, needs)

    def _pull(self, f: Callable[..., list[Any]], leaves: list[Any], gs: list[Any]) -> list[Array]:
        parts = [y.gradient(*leaves, gradient=g) for y, g in zip(f(*leaves), gs, strict=True)]
        return self._arrays([sum(d[1:], d[0]) for d in zip(*parts, strict=True)])

    @contextmanager
    def _running(self) -> Iterator[None]:
        """On this device and in this process: a worker may have no children of its own to compile in."""
        with self._tinygrad.Context(DEV=self._target, PARALLEL=0):
            yield

    def _tensor(self, array: Array | None) -> Any:
        if array is None:
            return None
        rows = np.ascontiguousarray(array).reshape(array.shape)
        if short_name_of(array.dtype) == "bf16":
            return self._tinygrad.Tensor(rows.view(np.uint16)).bitcast("bfloat16").realize()
        return self._tinygrad.Tensor(rows).realize()

    def _arrays(self, ys: Sequence[Any]) -> list[Array]:
        """All of `ys`, computed together."""
        self._tinygrad.Tensor.realize(*(kept := [y.contiguous() for y in ys]))
        return [self._numpy(y) for y in kept]

    def _numpy(self, y: Any) -> Array:
        if y.dtype == self._tinygrad.dtypes.bfloat16:
            import ml_dtypes

            return np.array(y.bitcast("uint16").numpy()).view(ml_dtypes.bfloat16)
        return np.array(y.numpy())


def create(variant: str = "") -> Backend:
    """The CPU of tinygrad by clang (""), by its own assembler ("x86"), or interpreted ("python").

    Raises BackendError where tinygrad, or the clang that it calls, is not installed.
    """
    check_variant("tinygrad", variant, "x86", "python")
    if variant != "python":
        os.environ["CC"] = _find_clang()  # the one way to tell tinygrad
    tinygrad = import_library("tinygrad", "tinygrad", "tinygrad")
    from opproof.backends.tinygrad import moves, nn, pointwise, reductions

    table = join_tables(pointwise, reductions, moves, nn)
    return Tinygrad(tinygrad, table, variant, version("tinygrad"))


def _compiles(source: str) -> bool:
    """Whether the compiler that tinygrad calls takes this piece of C."""
    command = [os.environ["CC"], "-x", "c", "-fsyntax-only", "-"]
    return subprocess.run(command, input=source, text=True, capture_output=True, check=False).returncode == 0


def _find_clang() -> str:
    """The compiler that tinygrad is to call: CC, or clang, or the newest clang-N. Raises BackendError without one."""
    names = [os.environ.get("CC", ""), *COMPILERS]
    found = next((name for name in names if "clang" in name and shutil.which(name)), None)
    if found is None:
        raise BackendError(
            "backend tinygrad calls clang, which is not installed; install clang, or use -b tinygrad:python."
        )
    return found
