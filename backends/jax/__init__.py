"""jax: JAX, each operator by JAX's own function, gradients by jax.vjp.

`-b jax` compiles each call as one program, as jax.jit does; `-b jax:eager` runs it operation by operation.
Both compute on the CPU; `-b jax:gpu` compiles for the first GPU. float64 is computed with jax_enable_x64 set,
everything else without it. XLA compiles anew for every shape, parameter and dtype, and that is nearly all the time of a
run (docs/reference/backends/jax.md).
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from opproof.backends import precision
from opproof.backends.capabilities import select_possible
from opproof.backends.protocol import Backend, Unsupported, short_name_of
from opproof.backends.table import (
    Table,
    check_variant,
    find_device,
    function_of,
    import_library,
    join_tables,
    like_of,
    pull_back,
    supports,
)
from opproof.core.arrays import Array
from opproof.core.dtypes import DECLARED, DTYPES
from opproof.core.tuples import tuple_of

#: XLA's names of what it compiles for at most (xla_cpu_max_isa).
LEVELS = {
    "sse4": "SSE4_2",
    "avx": "AVX",
    "avx2": "AVX2",
    "avx512": "AVX512",
    "avx512_vnni": "AVX512_VNNI",
    "avx512_bf16": "AVX512_BF16",
}

#: Programs after which JAX's caches are emptied; it keeps what it compiled, 0.3 MB a program, to the end.
KEPT = 200
#: Programs of a case: where an operator draws, its gradients, those from another key, and its forward.
LAST = 3


class Jax:
    """JAX's functions, compiled call by call or run eagerly."""

    name = "jax"
    dtypes = DECLARED
    mixed = True

    def __init__(self, jax: Any, table: Table, variant: str) -> None:
        self.compute, self.rounding = precision.load_built_in("jax", variant)
        self._compiled = variant != "eager"
        self.device = "gpu" if variant == "gpu" else "cpu"
        self._jax, self.table, self.version = jax, table, str(jax.__version__)
        flags = os.environ.get(
            "XLA_FLAGS", ""
        )  # which a capability adds to: of a flag that comes twice the last counts
        stated = {name: {"XLA_FLAGS": f"{flags} --xla_cpu_max_isa={isa}".strip()} for name, isa in LEVELS.items()}
        self.capabilities = select_possible(stated) if self.device == "cpu" else {}
        self._last: dict[str, Callable[..., Any]] = {}
        self._made = 0

    def supports(self, op: str, dtypes: Sequence[str], params: Mapping[str, Any]) -> bool | str:
        return supports(self.table, op, "JAX")

    def forward(self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> list[Array]:
        function = _with_stored_results(function_of(self.table, op, "JAX"), op, inputs)

        def outputs(*tensors: Any) -> tuple[Any, ...]:
            return tuple_of(function(*tensors, **params))

        with self._jax.enable_x64(_is_double(inputs)):
            program = self._program(f"{op} {params} {_dtypes_of(inputs)}", outputs)
            return [np.asarray(y) for y in program(*map(self._tensor, inputs))]

    def vjp(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
        cotangents: Sequence[Array | None], needs: Sequence[bool],
    ) -> list[Array | None]:  # fmt: skip
        function = _with_stored_results(function_of(self.table, op, "JAX"), op, inputs)

        def gradients(tensors: list[Any], gs: list[Any]) -> list[Any]:
            return pull_back(self._pull, functools.partial(function, **params), tensors, gs, needs)

        with self._jax.enable_x64(_is_double(inputs)):
            program = self._program(f"vjp of {op} {params} {needs} {_dtypes_of(inputs)}", gradients)
            found = program(list(map(self._tensor, inputs)), list(map(self._tensor, cotangents)))
            return [None if d is None else np.asarray(d) for d in found]

    def _pull(self, f: Callable[..., Any], leaves: list[Any], gs: list[Any]) -> Any:
        try:
            return self._jax.vjp(f, *leaves)[1](gs)
        except ValueError as error:
            if "Reverse-mode differentiation does not work for lax.while_loop" not in str(error):
                raise
            raise Unsupported(
                "JAX has no gradient backwards through a loop of as many trips as a tensor says"
            ) from None

    def _program(self, key: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function` compiled; the last LAST are kept, since a case is called three times in a row."""
        if not self._compiled:
            return function
        if key not in self._last:
            self._made += 1
            if self._made % KEPT == 0:
                self._jax.clear_caches()
            kept = [*self._last.items()][1 - LAST :]
            self._last = {**dict(kept), key: self._jax.jit(function)}
        return self._last[key]

    def _tensor(self, array: Array | None) -> Any:
        # A copy: JAX may otherwise keep the caller's memory, which is guarded and soon gone.
        return None if array is None else self._jax.numpy.array(array, copy=True)


def _with_stored_results(function: Callable[..., Any], op: str, inputs: Sequence[Array | None]) -> Callable[..., Any]:
    """`function`, of floats of several dtypes, which JAX promotes, with results as they are to be stored."""
    like = inputs[like_of(op)] if inputs else None
    floats = {
        x.dtype for x in inputs if x is not None and short_name_of(x.dtype) in DTYPES and x.dtype.kind not in "iu"
    }
    if len(floats) < 2 or like is None:
        return function

    def stored(*tensors: Any, **params: Any) -> list[Any]:
        try:
            results = tuple_of(function(*tensors, **params))
        except (TypeError, ValueError) as error:
            if "promotion" not in str(error) and "dtype" not in str(error):
                raise
            raise Unsupported(f"JAX takes no such dtypes together: {str(error).splitlines()[0]}") from None
        return [
            y.astype(like.dtype) if np.issubdtype(y.dtype, np.floating) or y.dtype in floats else y for y in results
        ]

    return stored


def list_devices(_: str = "") -> dict[str, str]:
    """What to write after -b for each platform that JAX finds, and its devices."""
    jax = import_library("jax", "jax", "JAX")
    found = {"jax": ", ".join(str(device) for device in jax.devices("cpu"))}
    with contextlib.suppress(RuntimeError):  # by which JAX says that it finds none
        found["jax:gpu"] = ", ".join(f"{device} ({device.device_kind})" for device in jax.devices("gpu"))
    return found


def create(variant: str = "") -> Backend:
    """JAX on the CPU, compiled ("" or "jit") or "eager", or compiled for a "gpu".

    Raises BackendError where it is not installed, or finds no GPU.
    """
    check_variant("jax", variant, "jit", "eager", "gpu")
    jax = import_library("jax", "jax", "JAX")
    if variant == "gpu":
        find_device("jax", "gpu", ["gpu"] if "jax:gpu" in list_devices() else ["cpu"])
        jax.config.update("jax_default_device", jax.devices("gpu")[0])
    else:
        jax.config.update("jax_platforms", "cpu")
    from opproof.backends.jax import control, conv, integers, moves, nn, pointwise, pool, quantised, reductions

    return Jax(jax, join_tables(pointwise, reductions, moves, nn, conv, pool, quantised, integers, control), variant)


def _dtypes_of(inputs: Sequence[Array | None]) -> str:
    """What a program depends on beside its shapes: of several dtypes results are stored as one of them."""
    return " ".join("-" if x is None else x.dtype.name for x in inputs)


def _is_double(inputs: Sequence[Array | None]) -> bool:
    return any(x is not None and short_name_of(x.dtype) == "f64" for x in inputs)
