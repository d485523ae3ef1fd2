"""autograd: HIPS autograd, NumPy and SciPy with gradients, each operator by its own function, gradients by make_vjp.

`-b autograd` asks for the gradients of all inputs at once, make_vjp(f, (0, 1)), `-b autograd:each` for one after the
other, make_vjp(f, 0), as grad(f) does: only the former casts them to the dtype of the inputs. Arrays are passed as they
come, strides and all. What users compose in two or three lines (softmax, layer_norm, losses) is declined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import numpy as np

from opproof.backends import precision
from opproof.backends.protocol import Backend, Unsupported
from opproof.backends.table import Table, check_variant, function_of, import_library, join_tables, pull_back, supports
from opproof.core.arrays import Array
from opproof.core.graph import is_graph

#: What autograd asserts where a gradient covers a part of the function only, and how NumPy refuses an empty maximum.
DECLINES = (
    "Can't handle extra leading dims", "Only constant mode padding is supported", "zero-size array to reduction",
)  # fmt: skip


class Autograd:
    """The functions of autograd.numpy and autograd.scipy."""

    name, device = "autograd", "cpu"

    def __init__(self, autograd: Any, table: Table, version: str, variant: str) -> None:
        self.compute, self.rounding = precision.load_built_in("autograd", variant)
        self._autograd, self.table, self.version, self._each = autograd, table, version, variant == "each"

    def supports(self, op: str, dtypes: Sequence[str], params: Mapping[str, Any]) -> bool | str:
        if (op in self.table or is_graph(op)) and "bf16" in dtypes:
            return "NumPy, and so autograd, has no bfloat16"
        return supports(self.table, op, "autograd")

    def forward(self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> list[Array]:
        with _with_declines():
            return [np.asarray(y) for y in self._outputs(op, inputs, params)]

    def vjp(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
        cotangents: Sequence[Array | None], needs: Sequence[bool],
    ) -> list[Array | None]:  # fmt: skip
        with _with_declines():
            found = pull_back(self._pull, lambda *xs: self._outputs(op, xs, params), inputs, cotangents, needs)
            return [None if d is None else np.asarray(d) for d in found]

    def _pull(self, f: Callable[..., list[Any]], leaves: list[Any], gs: list[Any]) -> list[Any]:
        def outputs(*xs: Any) -> Any:
            return self._autograd.builtins.tuple(f(*xs))

        places = range(len(leaves))
        if self._each:
            return [self._autograd.make_vjp(outputs, i)(*leaves)[0](tuple(gs)) for i in places]
        return list(self._autograd.make_vjp(outputs, tuple(places))(*leaves)[0](tuple(gs)))

    def _outputs(self, op: str, inputs: Sequence[Any], params: Mapping[str, Any]) -> list[Any]:
        result = function_of(self.table, op, "autograd")(*inputs, **params)
        return list(result) if isinstance(result, tuple | list | self._autograd.builtins.SequenceBox) else [result]


@contextmanager
def _with_declines() -> Iterator[None]:
    """Gradients that autograd asserts that it lacks are declined; NumPy's warnings are no news."""
    try:
        with np.errstate(all="ignore"):
            yield
    except (AssertionError, ValueError) as error:
        if any(words in str(error) for words in DECLINES):
            raise Unsupported(f"autograd: {error}") from None
        raise


def create(variant: str = "") -> Backend:
    """Gradients all at once ("") or one by one ("each"). Raises BackendError where autograd is not installed."""
    check_variant("autograd", variant, "each")
    autograd = import_library("autograd", "autograd", "HIPS autograd")
    from opproof.backends.autograd import linear, moves, pointwise

    return Autograd(autograd, join_tables(pointwise, linear, moves), version("autograd"), variant)
