"""aidge: Eclipse Aidge's operators on its CPU backend (aidge_core, aidge_backend_cpu), gradients by their backward.

Each case is a graph of one operator, run by aidge's SequentialScheduler, forwards and backwards. Tensors are new in
every call, since aidge adds gradients up, and copies laid out row by row, the one layout that its kernels know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from opproof.backends import precision
from opproof.backends.protocol import Backend, Unsupported, short_name_of
from opproof.backends.table import Table, check_variant, function_of, import_library, join_tables, supports
from opproof.core.arrays import Array
from opproof.core.graph import is_graph

#: What aidge's exceptions say where it has no kernel for a dtype, or no backward.
NO_KERNEL, NO_BACKWARD = "missing or invalid registrar key", ("not yet implemented", "not implemented yet")


class Aidge:
    """aidge's operators on its CPU backend."""

    name, device = "aidge", "cpu"

    def __init__(self, version: str, table: Table) -> None:
        self.compute, self.rounding = precision.load_built_in("aidge")
        self.version, self.table = version, table

    def supports(self, op: str, dtypes: Sequence[str], params: Mapping[str, Any]) -> bool | str:
        if "bf16" in dtypes:
            return "aidge's CPU backend has no bfloat16"
        if is_graph(op):
            return "aidge's adapter makes a graph of one operator"
        return supports(self.table, op, "aidge")

    def forward(self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> list[Array]:
        with _with_declines(inputs):
            found: list[Array] = self._answered(op, inputs, params, lambda run: run.outputs())
        return found

    def vjp(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
        cotangents: Sequence[Array | None], needs: Sequence[bool],
    ) -> list[Array | None]:  # fmt: skip
        with _with_declines(inputs):
            gradients = self._answered(op, inputs, params, lambda run: run.gradients(cotangents), backward=True)
        return [gradients.get(i) if n else None for i, n in enumerate(needs)]

    def _answered(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any], answer: Callable[[Any], Any],
        *, backward: bool = False,
    ) -> Any:  # fmt: skip
        """What `answer` takes from a run of the operator."""
        from opproof.backends.aidge.apart import run_in_fork
        from opproof.backends.aidge.run import Run

        function = function_of(self.table, op, "aidge")
        if any(x is not None and x.size == 0 for x in inputs):
            raise Unsupported("aidge has no empty tensors: it calls them undefined")
        told = function(*inputs, **params)
        if backward and told.no_backward:
            raise Unsupported(told.no_backward)
        if not told.damages:
            return answer(Run(told, inputs))
        return run_in_fork(lambda: answer(Run(function(*inputs, **params), inputs)))


@contextmanager
def _with_declines(inputs: Sequence[Array | None]) -> Iterator[None]:
    """What aidge lacks it says by RuntimeError, among other things."""
    try:
        yield
    except RuntimeError as error:
        text = str(error)
        if NO_KERNEL in text:
            dtypes = ", ".join(dict.fromkeys(short_name_of(x.dtype) for x in inputs if x is not None))
            raise Unsupported(f"aidge's CPU backend has no kernel for {dtypes}") from None
        if any(words in text for words in NO_BACKWARD):
            raise Unsupported(f"aidge: {text}") from None
        raise


def create(variant: str = "") -> Backend:
    """The CPU backend; it has no variants. Raises BackendError where aidge is not installed."""
    check_variant("aidge", variant)
    import_library("aidge_backend_cpu", "aidge", "aidge")  # registers the kernels
    aidge = import_library("aidge_core", "aidge", "aidge")
    aidge.Log.set_console_level(aidge.Level.Fatal)
    from opproof.backends.aidge import moves, nn, pointwise, pool, reductions, windows

    return Aidge(aidge.get_project_version(), join_tables(pointwise, reductions, nn, windows, pool, moves))
