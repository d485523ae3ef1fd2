"""candle: Hugging Face's candle, a tensor library in Rust, through its Python package candle-nn; values only.

Each operator is candle's own method or function. Tensors travel as safetensors and blocks as GGUF, by candle's own
readers and writers, in a file without a name: what they hold stays bit for bit. candle has gradients in Rust alone.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import numpy as np

from opproof.backends import precision
from opproof.backends.protocol import Backend, Unsupported
from opproof.backends.table import check_variant, function_of, import_library, join_tables, supports
from opproof.backends.worker.protocol import decode, encode
from opproof.core.arrays import Array
from opproof.core.tuples import tuple_of

LENGTH = 8  # bytes before the safetensors of a frame: its length

#: How candle refuses what a kernel of it lacks.
DECLINES = (
    "UnsupportedDTypeForOp",
    "DTypeMismatch",
    "MatMulUnexpectedStriding",  # of more than two axes of matrices,
    'op: "gather"',  # whose index has all other sizes of the tensor,
    "EmptyTensor",  # of reductions,
    "Invalid dimension in shape",  # of a reshape to nothing,
    "nb is not divisible by 2",  # of products of quantised rows
)


class Candle:
    """candle's functions on the CPU."""

    name, device = "candle", "cpu"

    def __init__(self, candle: Any, version: str) -> None:
        from opproof.backends.candle import functions, quantised

        self.compute, self.rounding = precision.load_built_in("candle")
        self._candle, self.version = candle, version
        self.table = join_tables(functions, quantised)

    def supports(self, op: str, dtypes: Sequence[str], params: Mapping[str, Any]) -> bool | str:
        return supports(self.table, op, "candle")

    def forward(self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> list[Array | None]:
        function = function_of(self.table, op, "candle")
        with _with_declines():
            if getattr(function, "takes_bytes", False):
                return [function(*inputs, **params)]
            return self._arrays(tuple_of(function(*self._tensors(inputs), **params)))

    def _tensors(self, inputs: Sequence[Array | None]) -> list[Any]:
        given = {f"x{i}": np.ascontiguousarray(x).reshape(x.shape) for i, x in enumerate(inputs) if x is not None}
        found = to_tensors(self._candle, given)
        return [found.get(f"x{i}") for i in range(len(inputs))]

    def _arrays(self, tensors: Sequence[Any]) -> list[Array | None]:
        """Return results; candle's truth values are bytes, and indices of pools it has none."""
        found = to_arrays(self._candle, {f"y{i}": y for i, y in enumerate(tensors) if y is not None})
        results = [found.get(f"y{i}") for i in range(len(tensors))]
        return [y.astype(np.bool_) if y is not None and y.dtype == np.uint8 else y for y in results]


@contextmanager
def open_file() -> Iterator[tuple[Any, str]]:
    """A file that nobody else sees, and a path by which candle opens it."""
    with tempfile.TemporaryFile() as file:
        yield file, f"/dev/fd/{file.fileno()}"


def to_tensors(candle: Any, arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Return candle's tensors of `arrays`."""
    if not arrays:
        return {}
    with open_file() as (file, path):
        file.write(encode({}, arrays)[LENGTH:])
        file.flush()
        return dict(candle.utils.load_safetensors(path))


def to_arrays(candle: Any, tensors: Mapping[str, Any]) -> dict[str, Array]:
    """Copies of what candle's tensors hold."""
    with open_file() as (file, path):
        candle.utils.save_safetensors(path, dict(tensors))
        file.seek(0)
        return decode(bytes(LENGTH) + file.read())[1]


@contextmanager
def _with_declines() -> Iterator[None]:
    """Refusals in candle's words, without the trace behind them."""
    try:
        yield
    except ValueError as error:
        words = str(error).partition(", backtrace")[0].removeprefix("WithBacktrace { inner: ")
        if not any(said in words for said in DECLINES):
            raise
        raise Unsupported(f"candle: {words}") from None


def create(variant: str = "") -> Backend:
    """Return candle on the CPU. Raises BackendError where candle-nn is not installed."""
    check_variant("candle", variant)
    return Candle(import_library("candle", "candle", "candle-nn"), version("candle-nn"))
