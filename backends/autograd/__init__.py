"""autograd: HIPS autograd, NumPy and SciPy with gradients, each operator by its own function, gradients by make_vjp.

`-b autograd` asks for the gradients of all inputs at once, make_vjp(f, (0, 1)), `-b autograd:each` for one after the
other, make_vjp(f, 0), as grad(f) does: only the former casts them to the dtype of the inputs. Arrays are passed as they
come, strides and all. What users compose in two or three lines (softmax, layer_norm, losses) is declined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from opproof.backends.protocol import Unsupported
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.errors import BackendError

#: What autograd asserts where a gradient covers a part of the function only, and how NumPy refuses an empty maximum.
DECLINES = (
    "Can't handle extra leading dims", "Only constant mode padding is supported", "zero-size array to reduction",
)  # fmt: skip

#: Operators of which a float16 result passes through several NumPy functions, each rounding: docs/backends/autograd.md.
STORES_INTERMEDIATES: dict[str, frozenset[str]] = {
    "forward": frozenset(
        "conv1d conv2d conv3d cumprod cumsum linear logsumexp mul_mat_id norm outer_product scale std sum var".split()
    ),
    "gradient": frozenset(
        (
            "add add_id atan2 conv1d conv2d conv3d cumsum div embedding expand fmod gather index_select linear "
            "logsumexp matmul maximum minimum mul mul_mat_id norm outer_product pow remainder repeat "
            "repeat_interleave softplus std sub var"
        ).split()
    ),
}


class Autograd:
    """The functions of autograd.numpy and autograd.scipy."""

    name, device = "autograd", "cpu"

    def __init__(self, autograd: Any, table: Mapping[str, Callable[..., Any]], version: str, *, each: bool) -> None:
        self._autograd, self._table, self.version, self._each = autograd, table, version, each

    def compute(self, op: str, dtype: str, mode: str) -> str | None:
        return "storage" if dtype == "f16" and op in STORES_INTERMEDIATES[mode] else None

    def supports(self, op: str, dtypes: Sequence[str], params: Mapping[str, Any]) -> bool | str:
        if op not in self._table:
            return f"autograd has no {op}"
        return "bf16" not in dtypes or "NumPy, and so autograd, has no bfloat16"

    def forward(self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> list[Array]:
        with _declining():
            return [np.asarray(y) for y in self._outputs(op, inputs, params)]

    def vjp(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
        cotangents: Sequence[Array | None], needs: Sequence[bool],
    ) -> list[Array | None]:  # fmt: skip
        def outputs(*leaves: Any) -> Any:
            leaf = iter(leaves)
            placed = [next(leaf) if n else x for x, n in zip(inputs, needs, strict=True)]
            ys = zip(self._outputs(op, placed, params), cotangents, strict=True)
            return self._autograd.builtins.tuple(y for y, g in ys if g is not None)

        leaves = [x for x, n in zip(inputs, needs, strict=True) if n and x is not None]
        with _declining():
            found = iter(self._gradients(outputs, leaves, tuple(g for g in cotangents if g is not None)))
            return [np.asarray(next(found)) if n else None for n in needs]

    def _gradients(self, function: Callable[..., Any], leaves: Sequence[Array], gs: tuple[Array, ...]) -> list[Any]:
        places = range(len(leaves))
        if self._each:
            return [self._autograd.make_vjp(function, i)(*leaves)[0](gs) for i in places]
        return list(self._autograd.make_vjp(function, tuple(places))(*leaves)[0](gs))

    def _outputs(self, op: str, inputs: Sequence[Any], params: Mapping[str, Any]) -> list[Any]:
        if op not in self._table:
            raise Unsupported(f"autograd has no {op}")
        result = self._table[op](*inputs, **params)
        return list(result) if isinstance(result, tuple | list | self._autograd.builtins.SequenceBox) else [result]


@contextmanager
def _declining() -> Iterator[None]:
    """Gradients that autograd lacks, or asserts that it lacks, are declined; NumPy's warnings are no news."""
    try:
        with np.errstate(all="ignore"):
            yield
    except NotImplementedError as error:
        raise Unsupported(f"autograd: {error}") from None
    except (AssertionError, ValueError) as error:
        if any(words in str(error) for words in DECLINES):
            raise Unsupported(f"autograd: {error}") from None
        raise


def create(variant: str = "") -> Autograd:
    """Gradients all at once ("") or one by one ("each"). Raises BackendError where autograd is not installed."""
    if variant not in ("", "each"):
        raise BackendError(f"backend autograd has no variant {variant!r}: expected autograd or autograd:each.")
    try:
        import autograd
    except ImportError:
        raise BackendError(
            "backend autograd needs HIPS autograd, which is not installed; pip install 'opproof[autograd]'."
        ) from None
    from importlib.metadata import version

    from opproof.backends.autograd import linear as _autograd_linear
    from opproof.backends.autograd import moves as _autograd_moves
    from opproof.backends.autograd import pointwise as _autograd_pointwise

    files = (_autograd_pointwise, _autograd_linear, _autograd_moves)
    table = {op: f for file in files for op, f in file.TABLE.items()}
    return Autograd(autograd, table, version("autograd"), each=variant == "each")
