"""warp: NVIDIA Warp's builtin functions on its CPU, in kernels of one call each, gradients by wp.Tape.

Warp is a language for kernels, not a library of operators: what is validated is its builtins, its arrays and atomics,
and the adjoints that it derives. Operands are passed flat with the places at which they meet, so the sum over a
broadcast axis is made by the adjoint of a[ia[i]]. Kernels compile at their first use, and Warp keeps them in its cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from opproof.backends import precision
from opproof.backends.protocol import Backend, Unsupported, short_name_of
from opproof.backends.table import check_variant, import_library
from opproof.core.arrays import Array


class Warp:
    """Warp's builtins on the CPU."""

    name, device = "warp", "cpu"

    def __init__(self, wp: Any) -> None:
        from opproof.backends.warp import calls
        from opproof.backends.warp.kernels import make_kernel

        self.compute, self.rounding = precision.load_built_in("warp")
        self._wp, self._calls, self._kernel, self.version = wp, calls, make_kernel, str(wp.__version__)

    def supports(self, op: str, dtypes: Sequence[str], params: Mapping[str, Any]) -> bool | str:
        if op not in self._calls.OPERATORS:
            return f"Warp has no builtin {op}"
        return "bf16" not in dtypes or "Warp's builtins have no bfloat16"

    def forward(self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> list[Array]:
        call = self._call(op, inputs, params)
        y = self._launched(call, [self._array(x) for x in call.tensors])
        return [y.numpy().reshape(call.shape)]

    def vjp(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
        cotangents: Sequence[Array | None], needs: Sequence[bool],
    ) -> list[Array | None]:  # fmt: skip
        call = self._call(op, inputs, params)
        tensors = [self._array(x, grad=x.dtype.kind == "f") for x in call.tensors]
        with self._wp.Tape() as tape:
            y = self._launched(call, tensors)
        tape.backward(grads={y: self._wp.array(np.ascontiguousarray(cotangents[0]).ravel(), device="cpu")})
        found = {place: t.grad.numpy() for place, t in zip(call.places, tensors, strict=True) if t.requires_grad}
        return [
            found[i].reshape(x.shape) if n and x is not None else None
            for i, (x, n) in enumerate(zip(inputs, needs, strict=True))
        ]

    def _call(self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> Any:
        if op not in self._calls.OPERATORS:
            raise Unsupported(f"Warp has no builtin {op}")
        return self._calls.call(op, [x for x in inputs if x is not None], params)

    def _launched(self, call: Any, tensors: Sequence[Any]) -> Any:
        """The result of `call`, flat. What it begins with is copied on the tape."""
        wp, floats = self._wp, next(x.dtype for x in call.tensors if x.dtype.kind == "f")
        kernel = self._kernel(call.kernel, short_name_of(floats))
        places = [wp.array(p, dtype=wp.int32, device="cpu") for p in call.at]
        if call.begins_with is not None:
            y = wp.zeros(tensors[-1].shape, dtype=tensors[-1].dtype, device="cpu", requires_grad=True)
            wp.copy(y, tensors[-1])
            tensors = tensors[:-1]
        elif call.fill is not None:
            y = wp.full(int(np.prod(call.shape)), call.fill, tensors[0].dtype, device="cpu", requires_grad=True)
        else:
            kind = wp.bool if call.test else wp.dtype_from_numpy(floats)
            y = wp.zeros(int(np.prod(call.shape)), dtype=kind, device="cpu", requires_grad=not call.test)
        operands = [v for pair in zip(tensors, places, strict=True) for v in pair]
        wp.launch(kernel, call.size, inputs=[*operands, *call.scalars], outputs=[y], device="cpu")
        return y

    def _array(self, x: Array, *, grad: bool = False) -> Any:
        return self._wp.array(np.ascontiguousarray(x).ravel(), device="cpu", requires_grad=grad)


def create(variant: str = "") -> Backend:
    """Warp on the CPU; it has no variants. Raises BackendError where it is not installed."""
    check_variant("warp", variant)
    wp = import_library("warp", "warp", "Warp")
    wp.config.log_level = wp.LOG_ERROR
    wp.init()
    return Warp(wp)
