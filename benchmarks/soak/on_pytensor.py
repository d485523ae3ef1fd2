"""PyTensor on the CPU, each operator by PyTensor's own function, gradients by pytensor.grad; for the false-alarm study.

    pip install pytensor==3.0.7
    opproof run -b benchmarks/soak/on_pytensor.py                              # compiled by numba, its default
    PYTENSOR_FLAGS=linker=py opproof run -b benchmarks/soak/on_pytensor.py     # NumPy and SciPy, after its rewrites
    PYTENSOR_FLAGS=linker=cvm opproof run -b benchmarks/soak/on_pytensor.py    # its C code

An entry takes symbolic tensors and our parameters and calls the library's own function, nothing of ours in its place;
what PyTensor has no function for is declined. A graph is rewritten and compiled once for all shapes of as many axes
(and the same axes of one: PyTensor broadcasts only what it knows to be one). floatX is the dtype of the case, numbers
have that of the tensor beside them, and gradients, var and std are cast to it: beside a float16, 2.0 is a float32,
and so is then what comes of it, and a float32 divided by a number of elements is a float64.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from opproof.backends import precision
from opproof.backends.protocol import Unsupported
from opproof.backends.table import Table, decline_params, function_of, pull_back
from opproof.core.arrays import Array
from opproof.core.errors import BackendError
from opproof.core.tuples import tuple_of

try:
    version = importlib.metadata.version("pytensor")
except importlib.metadata.PackageNotFoundError:
    raise BackendError("benchmarks/soak/on_pytensor.py needs PyTensor: pip install pytensor==3.0.7.") from None

pytensor: Any = importlib.import_module("pytensor")
pt: Any = importlib.import_module("pytensor.tensor")
special: Any = importlib.import_module("pytensor.tensor.special")
linalg: Any = importlib.import_module("pytensor.tensor.linalg")
gradient: Any = importlib.import_module("pytensor.gradient")

LINKER = {"auto": "numba"}.get(pytensor.config.linker, pytensor.config.linker)
name, device = f"pytensor-{LINKER}", "cpu"
compute, rounding = precision.make_declarations(precision.read(Path(__file__).with_name("pytensor.toml")))

LAPACK = ("cholesky", "det", "inverse", "solve_triangular")
#: How a dtype is refused: by numba, by SciPy's special functions, by LAPACK; and a maximum of nothing, by NumPy.
DECLINES = (
    "NotImplementedError: float16", "float16 is unsupported in linalg", "not supported for the input types",
    "Unsupported array type: numpy.float16", "should be float32 or float64", "zero-size array to reduction",
)  # fmt: skip


def supports(op: str, dtypes: Sequence[str], params: Mapping[str, Any]) -> bool | str:  # noqa: ARG001 - the protocol's
    if op in table() and "bf16" in dtypes:
        return "NumPy, and so PyTensor, has no bfloat16"
    if op in table() and LINKER == "numba" and "f16" in dtypes:
        return "numba has no arithmetic in float16"
    if op in LAPACK and "f16" in dtypes:
        return "LAPACK has no 16-bit floats"
    return True if op in table() else f"PyTensor has no {op}"


def forward(op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> list[Array]:
    with _declining():
        return _called(_values, op, inputs, params)


def vjp(
    op: str, inputs: Sequence[Array | None], params: Mapping[str, Any], cotangents: Sequence[Array | None],
    needs: Sequence[bool],
) -> list[Array | None]:  # fmt: skip
    with _declining():
        found = iter(_called(_gradients, op, [*inputs, *cotangents], params, len(inputs), *needs))
        return [next(found) if need else None for need in needs]


def _called(
    graph: Callable[..., Any], op: str, arrays: Sequence[Array | None], params: Mapping[str, Any], *more: Any
) -> list[Array]:
    types = tuple(None if a is None else (a.dtype.name, tuple(1 if n == 1 else None for n in a.shape)) for a in arrays)
    function = _compiled(graph, op, types, _Params(params), *more)
    return [np.asarray(y) for y in function(*(np.asarray(a) for a in arrays if a is not None))]


class _Params(dict[str, Any]):
    """Parameters as a part of a key."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(repr(sorted(self.items())))

    def __eq__(self, other: object) -> bool:
        return repr(sorted(self.items())) == repr(sorted(other.items()))  # type: ignore[attr-defined]


@functools.lru_cache(1000)
def _compiled(graph: Callable[..., Any], op: str, types: tuple[Any, ...], params: _Params, *more: Any) -> Any:
    symbols = [None if t is None else pt.tensor(f"t{i}", dtype=t[0], shape=t[1]) for i, t in enumerate(types)]
    float_ = next((t[0] for t in types if t is not None and t[0].startswith("float")), "float32")
    with pytensor.config.change_flags(floatX=float_):
        outputs = graph(op, symbols, params, *more)
        return pytensor.function([s for s in symbols if s is not None], outputs, on_unused_input="ignore")


def _values(op: str, tensors: list[Any], params: _Params) -> list[Any]:
    return list(map(pt.as_tensor, tuple_of(function_of(table(), op, "PyTensor")(*tensors, **params))))


def _gradients(op: str, symbols: list[Any], params: _Params, count: int, *needs: bool) -> list[Any]:
    function = functools.partial(function_of(table(), op, "PyTensor"), **params)
    found = pull_back(_pull, function, symbols[:count], symbols[count:], needs)
    return [d for d in found if d is not None]


def _pull(f: Callable[..., list[Any]], leaves: list[Any], gs: list[Any]) -> list[Any]:
    found = pytensor.grad(None, leaves, known_grads=dict(zip(f(*leaves), gs, strict=True)))
    return [pt.cast(d, leaf.dtype) for d, leaf in zip(found, leaves, strict=True)]


@contextmanager
def _declining() -> Iterator[None]:
    try:
        with np.errstate(all="ignore"):
            yield
    except (gradient.NullTypeGradError, gradient.DisconnectedInputError) as error:
        raise Unsupported(f"PyTensor has no gradient of it: {str(error).splitlines()[0][:200]}") from None
    except (NotImplementedError, TypeError, ValueError) as error:
        text = f"{type(error).__name__}: {error}"
        if isinstance(error, NotImplementedError) or any(words in text for words in DECLINES):
            raise Unsupported(f"PyTensor: {text.splitlines()[0][:300]}") from None
        raise


@functools.cache
def table() -> Table:
    """PyTensor's function by our operator's name."""
    return {**_pointwise(), **_reductions(), **_moves()}


def _as(x: Any, value: float) -> Any:
    """A number in the dtype of the tensor beside it."""
    return pt.constant(np.asarray(value, x.dtype))


def _pointwise() -> dict[str, Callable[..., Any]]:
    def softplus(x: Any, *, beta: float, threshold: float) -> Any:
        # Past 20 the function and the thresholded one agree to 2e-9, which float64 alone sees.
        if beta != 1 or threshold < 20 or (threshold != np.inf and x.dtype == "float64"):
            raise Unsupported("PyTensor's softplus has neither beta nor threshold")
        return pt.softplus(x)

    def clamp(x: Any, *, min: float | None, max: float | None) -> Any:  # noqa: A002 - the names of the parameters
        if min is None or max is None:
            raise Unsupported("PyTensor's clip has two ends")
        return pt.clip(x, _as(x, min), _as(x, max))

    def power(a: Any, b: Any = None, *, exponent: float | None) -> Any:
        return pt.power(a, _as(a, exponent) if b is None else b)  # type: ignore[arg-type]

    same = (
        "abs neg sign sqrt reciprocal log log2 log1p exp exp2 expm1 sin cos tan tanh sinh cosh erf erfinv floor ceil "
        "trunc sigmoid digamma i0 isnan isinf isfinite add sub mul mod maximum minimum eq lt le gt ge logaddexp"
    )
    ours = {"mod": "remainder"}
    table: dict[str, Callable[..., Any]] = {ours.get(n, n): getattr(pt, n) for n in same.split()}
    theirs = {
        "square": "sqr", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
        "atanh": "arctanh", "lgamma": "gammaln", "round": "round_half_to_even", "div": "true_div", "atan2": "arctan2",
        "floor_divide": "int_div", "ne": "neq", "bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or",
        "bitwise_xor": "bitwise_xor", "bitwise_not": "bitwise_not",
    }  # fmt: skip
    return table | {op: getattr(pt, n) for op, n in theirs.items()} | {
        "softplus": softplus,
        "relu": lambda x: pt.maximum(x, _as(x, 0)),
        "relu6": lambda x: pt.clip(x, _as(x, 0), _as(x, 6)),
        "hardtanh": lambda x, *, min_val, max_val: pt.clip(x, _as(x, min_val), _as(x, max_val)),
        "clamp": clamp,
        "pow": power,
        "scale": lambda x, *, s, b: x * _as(x, s) + _as(x, b),
        "add1": lambda a, b: a + pt.reshape(b, ()),
        "xlogy": special.xlogy,
        "where": lambda condition, a, b: pt.switch(pt.neq(condition, 0), a, b),
        "masked_fill": lambda x, mask, *, value: pt.switch(pt.neq(mask, 0), _as(x, value), x),
        "threshold": lambda x, *, threshold, value: pt.switch(pt.le(x, _as(x, threshold)), _as(x, value), x),
        "logical_and": lambda a, b: pt.and_(pt.neq(a, 0), pt.neq(b, 0)),
        "logical_or": lambda a, b: pt.or_(pt.neq(a, 0), pt.neq(b, 0)),
        "logical_not": lambda x: pt.invert(pt.neq(x, 0)),
        "fill": lambda x, *, value: pt.full_like(x, value, dtype=x.dtype),
        "count_equal": lambda a, b: pt.sum(pt.eq(a, b)),
    }  # fmt: skip


def _reductions() -> dict[str, Callable[..., Any]]:
    def along(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, *, dim=None, keepdim=False: function(x, axis=dim, keepdims=keepdim)

    def spread(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, *, dim, correction, keepdim: pt.cast(
            function(x, axis=dim, ddof=correction, keepdims=keepdim), x.dtype
        )

    def norm(x: Any, *, p: float, dim: Any, keepdim: bool) -> Any:
        if (dim is None and x.ndim != 1) or isinstance(dim, tuple):
            raise Unsupported("PyTensor's norm over several axes is a matrix norm")
        return linalg.norm(x, p, 0 if dim is None else dim, keepdims=keepdim)

    def solve_triangular(a: Any, b: Any, *, upper: bool, left: bool, unitriangular: bool) -> Any:
        if not left:
            raise Unsupported("PyTensor's solve_triangular solves A X = B")
        return linalg.solve_triangular(a, b, lower=not upper, unit_diagonal=unitriangular, b_ndim=2)

    def linear(x: Any, weight: Any, bias: Any = None) -> Any:
        y = pt.matmul(x, weight.T)
        return y if bias is None else y + bias

    names = "sum mean prod all any argmax argmin logsumexp"
    return {n: along(getattr(pt, n)) for n in names.split()} | {
        "amax": along(pt.max),
        "amin": along(pt.min),
        "var": spread(pt.var),
        "std": spread(pt.std),
        "norm": norm,
        "softmax": lambda x, *, dim: special.softmax(x, axis=dim),
        "log_softmax": lambda x, *, dim: special.log_softmax(x, axis=dim),
        "cumsum": lambda x, *, dim: pt.cumsum(x, axis=dim),
        "cumprod": lambda x, *, dim: pt.cumprod(x, axis=dim),
        "matmul": pt.matmul,
        "bmm": pt.matmul,
        "dot": pt.dot,
        "linear": linear,
        "addmm": lambda x, a, b, *, beta, alpha: _as(x, beta) * x + _as(x, alpha) * pt.dot(a, b),
        "addmv": lambda x, a, b, *, beta, alpha: _as(x, beta) * x + _as(x, alpha) * pt.dot(a, b),
        "baddbmm": lambda x, a, b, *, beta, alpha: _as(x, beta) * x + _as(x, alpha) * pt.matmul(a, b),
        "einsum": lambda a, b, *, equation: pt.einsum(equation, a, b),
        "tril": lambda x, *, diagonal: pt.tril(x, diagonal),
        "triu": lambda x, *, diagonal: pt.triu(x, diagonal),
        "diag": lambda x, *, diagonal: pt.diag(x, diagonal),
        "solve_triangular": solve_triangular,
        "cholesky": linalg.cholesky,
        "inverse": linalg.inv,
        "det": linalg.det,
        "causal_conv1d": causal_conv1d,
    }


def causal_conv1d(x: Any, weight: Any, bias: Any = None, *, activation: str) -> Any:
    """Each channel by convolve1d with its own kernel, which turns the kernel: it is turned before."""
    if activation != "none":
        raise Unsupported("PyTensor has no silu")
    y = pt.signal.convolve1d(x, weight[:, ::-1], mode="full")[..., : x.shape[-1]]
    return y if bias is None else y + bias[:, None]


def _moves() -> dict[str, Callable[..., Any]]:
    def at(x: Any, dim: int, index: Any) -> tuple[Any, ...]:
        return (*(slice(None),) * (dim % x.ndim), index)

    def grid(index: Any, dim: int) -> tuple[Any, ...]:
        own = [pt.shape_padright(pt.arange(index.shape[d]), index.ndim - d - 1) for d in range(index.ndim)]
        return tuple(index if d == dim % index.ndim else g for d, g in enumerate(own))

    def padded(x: Any, *, pad: tuple[int, ...], mode: str, value: float | None) -> Any:
        if min(pad, default=0) < 0:
            raise Unsupported("PyTensor's pad takes no cells away")
        if mode in ("reflect", "circular") and LINKER == "py":
            raise Unsupported("PyTensor's pad by reflection is a scan, which in Python has no gradient")
        widths = [(0, 0)] * (x.ndim - len(pad) // 2) + list(zip(pad[::2], pad[1::2], strict=True))[::-1]
        if mode == "constant":
            return pt.pad(x, widths, mode="constant", constant_values=_as(x, 0 if value is None else value))
        return pt.pad(x, widths, mode={"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode])

    def expand(x: Any, *, shape: tuple[int, ...]) -> Any:
        lead = len(shape) - x.ndim
        return pt.broadcast_to(x, tuple(x.shape[i - lead] if n == -1 else n for i, n in enumerate(shape)))

    def upwards(function: Callable[..., Any]) -> Callable[..., Any]:
        def sorted_(x: Any, *, dim: int, descending: bool) -> Any:
            if descending:
                raise Unsupported("PyTensor sorts upwards only")
            return function(x, dim)

        return sorted_

    def one_hot(index: Any, *, num_classes: int) -> Any:
        if index.ndim != 1:
            raise Unsupported("PyTensor's to_one_hot takes a vector")
        return pt.extra_ops.to_one_hot(index, num_classes, "int64")

    def roll(x: Any, *, shifts: Any, dims: Any) -> Any:
        for shift, dim in zip(tuple_of(shifts), tuple_of(dims), strict=True):
            x = pt.roll(x, shift, dim)
        return x

    return {
        "reshape": lambda x, *, shape: pt.reshape(x, shape),
        "permute": lambda x, *, dims: pt.transpose(x, dims),
        "transpose": lambda x, *, dim0, dim1: pt.swapaxes(x, dim0, dim1),
        "contiguous": pt.tensor_copy,
        "expand": expand,
        "concat": lambda *xs, dim: pt.concatenate(xs, axis=dim),
        "stack": lambda *xs, dim: pt.stack(xs, axis=dim),
        "split": lambda x, *, sizes, dim: tuple(pt.split(x, list(sizes), n_splits=len(sizes), axis=dim)),
        "repeat": lambda x, *, repeats: pt.tile(x, repeats),
        "repeat_interleave": lambda x, *, repeats, dim: pt.repeat(x, repeats, axis=dim),
        "slice": lambda x, *, dim, start, end, step: x[at(x, dim, slice(start, end, step))],
        "pad": padded,
        "roll": roll,
        "flip": lambda x, *, dims: pt.flip(x, dims),
        "embedding": decline_params("PyTensor", lambda weight, indices: weight[indices], "padding_idx"),
        "index_select": lambda x, index, *, dim: pt.take(x, index, axis=dim),
        "index_add": lambda x, index, source, *, dim, alpha: pt.inc_subtensor(
            x[at(x, dim, index)], _as(source, alpha) * source
        ),
        "gather": lambda x, index, *, dim: x[grid(index, dim)],
        "take_along_dim": lambda x, indices, *, dim: pt.take_along_axis(x, indices, axis=dim),
        "scatter": lambda x, index, src, *, dim: pt.set_subtensor(x[grid(index, dim)], src),
        "scatter_add": lambda x, index, src, *, dim: pt.inc_subtensor(x[grid(index, dim)], src),
        "sort": upwards(lambda x, dim: (pt.sort(x, dim, "stable"), pt.argsort(x, dim, "stable"))),
        "argsort": upwards(lambda x, dim: pt.argsort(x, dim, "stable")),
        "one_hot": one_hot,
    }
