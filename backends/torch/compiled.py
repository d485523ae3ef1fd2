"""PyTorch's functions compiled by its compiler, inductor, for the CPU: each call one program, with its gradient.

A program is made for each operator, parameters, shapes and dtypes by a C++ compiler, which takes seconds; the last is
kept, since a case is called three times in a row. What the compiler leaves out it runs as PyTorch does, unasked.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from opproof.backends.torch import Torch, with_refusals
from opproof.core.arrays import Array
from opproof.core.errors import BackendError
from opproof.core.tuples import tuple_of
from opproof.reference_ops._torch import autograd

COMPILERS = ("g++", "clang++", "c++")


class Inductor(Torch):
    """torch.compile of each call."""

    destinations = ()  # it returns results in memory of its own
    mixed = False

    def __init__(self, torch: Any) -> None:
        if not any(shutil.which(name) for name in (*COMPILERS, os.environ.get("CXX", ""))):
            raise BackendError(
                "backend torch:inductor calls a C++ compiler, and none is installed; install g++, or use -b torch."
            )
        super().__init__(torch, "cpu", "inductor")
        from torch._inductor import config

        config.compile_threads = 1  # no processes of its own
        config.cpp.threads = 1
        self._last: tuple[str, Callable[..., Any]] | None = None

    def forward(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
        out: Sequence[Array | None] | None = None,
    ) -> list[Array]:  # fmt: skip
        tensors = self._tensors(inputs)
        with self._torch.no_grad(), with_refusals(tensors):
            return [self._array(y) for y in tuple_of(self._program(op, tensors, params)(*tensors))]

    def vjp(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
        cotangents: Sequence[Array | None], needs: Sequence[bool], out: Sequence[Array | None] | None = None,
    ) -> list[Array | None]:  # fmt: skip
        tensors = self._tensors(inputs)
        with with_refusals(tensors):
            program = self._program(op, tensors, params)
            found = autograd(self._torch, program, tensors, needs, self._tensors(cotangents))
        return [None if d is None else self._array(d) for d in found]

    def _program(self, op: str, tensors: Sequence[Any], params: Mapping[str, Any]) -> Callable[..., Any]:
        """The twin of `op` compiled for tensors such as these."""
        described = [None if t is None else (t.dtype, t.shape, t.stride()) for t in tensors]
        key = f"{op} {params} {described} {self._torch.is_grad_enabled()}"
        if self._last is None or self._last[0] != key:
            self._torch.compiler.reset()  # it gives up after eight programs of one function
            twin = self._twin(op)

            def program(*given: Any) -> Any:
                return twin(self._torch, *given, **params)

            self._last = key, self._torch.compile(program, dynamic=False)
        return self._last[1]
