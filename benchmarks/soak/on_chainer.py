"""Chainer on the CPU, which is NumPy, each operator by Chainer's own function, gradients by chainer.grad.

    pip install --no-deps chainer==7.8.1
    opproof run -b benchmarks/soak/on_chainer.py

An entry takes our tensors and parameters and calls the library's own function, nothing of ours in its place; what
Chainer has no function for is declined. Chainer is older than NumPy 2: the names that it misses are given back.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from opproof.backends import precision
from opproof.backends.protocol import Unsupported
from opproof.backends.table import Table, decline_params, function_of, pull_back
from opproof.core.arrays import Array
from opproof.core.errors import BackendError
from opproof.core.tuples import tuple_of

name, device = "chainer", "cpu"
compute, rounding = precision.make_declarations(precision.read(Path(__file__).with_name("chainer.toml")))
try:
    version = importlib.metadata.version("chainer")
except importlib.metadata.PackageNotFoundError:
    raise BackendError("benchmarks/soak/on_chainer.py needs Chainer: pip install --no-deps chainer==7.8.1.") from None

#: How Chainer refuses a dtype, a shape or a gradient; a maximum of nothing NumPy refuses.
DECLINES = (
    "Invalid operation is performed", "zero-size array to reduction", "unsupported in linalg", "not supported for the",
    "needs to be greater than", "should be greater than 0", "cannot reshape array of size 0", "should be positive",
    "Height in the output", "Width in the output",
)  # fmt: skip
LAPACK = ("cholesky", "det", "inverse")


def supports(op: str, dtypes: Sequence[str], params: Mapping[str, Any]) -> bool | str:  # noqa: ARG001 - the protocol's
    if op in table() and "bf16" in dtypes:
        return "NumPy, and so Chainer, has no bfloat16"
    if op in LAPACK and "f16" in dtypes:
        return "LAPACK has no 16-bit floats"
    return True if op in table() else f"Chainer has no {op}"


def forward(op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> list[Array | None]:
    with _calling():
        outputs = tuple_of(function_of(table(), op, "Chainer")(*inputs, **params))
        return [None if y is None else np.asarray(_chainer().as_array(y)) for y in outputs]


def vjp(
    op: str, inputs: Sequence[Array | None], params: Mapping[str, Any], cotangents: Sequence[Array | None],
    needs: Sequence[bool],
) -> list[Array | None]:  # fmt: skip
    function = functools.partial(function_of(table(), op, "Chainer"), **params)
    variable = _chainer().Variable
    with _calling():
        tensors = [variable(x) if need else x for x, need in zip(inputs, needs, strict=True)]
        gs = [None if g is None else variable(np.array(g)) for g in cotangents]
        found = pull_back(_pull, function, tensors, gs, needs)
        return [None if d is None else np.asarray(d.array) for d in found]


def _pull(f: Callable[..., list[Any]], leaves: list[Any], gs: list[Any]) -> list[Any]:
    outputs = f(*leaves)
    if not all(isinstance(y, _chainer().Variable) for y in outputs):
        raise Unsupported("Chainer has no gradient of it")
    found = _chainer().grad(outputs, leaves, gs)
    if any(d is None for d in found):
        raise Unsupported("Chainer has no gradient of one of the inputs, and says so by None")
    return list(found)


@functools.cache
def _chainer() -> Any:
    kinds = {"int": (8, 16, 32, 64), "uint": (8, 16, 32, 64), "float": (16, 32, 64)}
    warnings.simplefilter("ignore")
    sctypes = {k: [getattr(np, f"{k}{n}") for n in sizes] for k, sizes in kinds.items()}
    for was, given in {"bool": bool, "int": int, "float": float, "object": object, "sctypes": sctypes}.items():
        if not hasattr(np, was):
            setattr(np, was, given)
    return importlib.import_module("chainer")


@contextmanager
def _calling() -> Iterator[None]:
    try:
        with np.errstate(all="ignore"), _chainer().using_config("train", True):
            yield
    except (
        TypeError,
        ValueError,
        NotImplementedError,
        AssertionError,
        _chainer().utils.type_check.InvalidType,
    ) as error:
        if isinstance(error, NotImplementedError) or any(words in str(error) for words in DECLINES):
            raise Unsupported(f"Chainer: {str(error).strip()[:300]}") from None
        raise


@functools.cache
def table() -> Table:
    """Chainer's function by our operator's name."""
    F = _chainer().functions
    return {**_pointwise(F), **_reductions(F), **_moves(F), **_layers(F), **_windows(F)}


def _pointwise(F: Any) -> dict[str, Callable[..., Any]]:
    same = (
        "sign sqrt rsqrt log log2 log1p exp expm1 sin cos tan tanh sinh cosh erf erfinv floor ceil fmod maximum "
        "minimum sigmoid relu relu6 selu lgamma digamma square"
    )
    theirs = {
        "abs": "absolute", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2",
        "atanh": "arctanh", "trunc": "fix",
    }  # fmt: skip
    table: dict[str, Callable[..., Any]] = {n: getattr(F, n) for n in same.split()}
    variable = _chainer().as_variable

    def softplus(x: Any, *, beta: float, threshold: float) -> Any:
        if threshold < 20 or (threshold != np.inf and x.dtype == np.float64):
            raise Unsupported("Chainer's softplus has no threshold")
        return F.softplus(x, beta)

    def clamp(x: Any, *, min: float | None, max: float | None) -> Any:  # noqa: A002 - the names of the parameters
        if min is None or max is None or min > max:
            raise Unsupported("Chainer's clip has two ends, the smaller first")
        return F.clip(x, min, max)

    def power(a: Any, b: Any = None, *, exponent: float | None) -> Any:
        return variable(a) ** (exponent if b is None else b)

    def prelu(x: Any, weight: Any) -> Any:
        if x.ndim < 2 or weight.shape[0] != x.shape[1]:
            raise Unsupported("Chainer's prelu has a weight for each channel")
        return F.prelu(x, weight)

    return table | {op: getattr(F, n) for op, n in theirs.items()} | {
        "neg": lambda x: -variable(x),
        "reciprocal": lambda x: 1 / variable(x),
        "add": lambda a, b: variable(a) + b,
        "sub": lambda a, b: variable(a) - b,
        "mul": lambda a, b: variable(a) * b,
        "div": lambda a, b: variable(a) / b,
        "floor_divide": lambda a, b: variable(a) // b,
        "pow": power,
        "scale": lambda x, *, s, b: variable(x) * s + b,
        "elu": lambda x, *, alpha: F.elu(x, alpha),
        "leaky_relu": lambda x, *, negative_slope: F.leaky_relu(x, negative_slope),
        "softplus": softplus,
        "clamp": clamp,
        "hardtanh": lambda x, *, min_val, max_val: clamp(x, min=min_val, max=max_val),
        "prelu": prelu,
        "where": lambda condition, a, b: F.where(np.asarray(condition) != 0, a, b),
        "masked_fill": lambda x, mask, *, value: F.where(
            np.asarray(mask) != 0, np.full(x.shape, value, x.dtype), F.broadcast_to(x, x.shape)
        ),
    }  # fmt: skip


def _reductions(F: Any) -> dict[str, Callable[..., Any]]:
    def along(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, *, dim=None, keepdim=False: function(x, axis=dim, keepdims=keepdim)

    def place(function: Callable[..., Any]) -> Callable[..., Any]:
        def of(x: Any, *, dim: Any, keepdim: bool) -> Any:
            if keepdim:
                raise Unsupported("Chainer's argmax and argmin drop the axis")
            return _chainer().as_array(function(x, axis=dim)).astype(np.int64)

        return of

    def logsumexp(x: Any, *, dim: Any, keepdim: bool) -> Any:
        if keepdim:
            raise Unsupported("Chainer's logsumexp drops the axis")
        return F.logsumexp(x, axis=dim)

    def linear(x: Any, weight: Any, bias: Any = None) -> Any:
        return F.linear(x, weight, bias, n_batch_axes=x.ndim - 1)

    batched = {"inverse": "inv", "det": "det"}
    alone = {op: (lambda x, f=f: getattr(F, f if x.ndim == 2 else f"batch_{f}")(x)) for op, f in batched.items()}
    return {
        "sum": along(F.sum),
        "mean": along(F.mean),
        "prod": along(F.prod),
        "amax": along(F.max),
        "amin": along(F.min),
        "argmax": place(F.argmax),
        "argmin": place(F.argmin),
        "logsumexp": logsumexp,
        "softmax": lambda x, *, dim: F.softmax(x, axis=dim),
        "log_softmax": lambda x, *, dim: F.log_softmax(x, axis=dim),
        "cumsum": lambda x, *, dim: F.cumsum(x, axis=dim),
        "cumprod": lambda x, *, dim: F.cumprod(x, axis=dim),
        "matmul": F.matmul,
        "bmm": F.batch_matmul,
        "linear": linear,
        "einsum": lambda a, b, *, equation: F.einsum(equation, a, b),
        "cholesky": F.cholesky,
    } | alone


def _moves(F: Any) -> dict[str, Callable[..., Any]]:
    def padded(x: Any, *, pad: tuple[int, ...], mode: str, value: float | None) -> Any:
        if mode != "constant" or min(pad, default=0) < 0:
            raise Unsupported("Chainer's pad has a gradient for constants, and takes no cells away")
        widths = [(0, 0)] * (x.ndim - len(pad) // 2) + list(zip(pad[::2], pad[1::2], strict=True))[::-1]
        return F.pad(x, widths, "constant", constant_values=0 if value is None else value)

    def expand(x: Any, *, shape: tuple[int, ...]) -> Any:
        lead = len(shape) - x.ndim
        return F.broadcast_to(x, tuple(x.shape[i - lead] if n == -1 else n for i, n in enumerate(shape)))

    def at(x: Any, dim: int, index: Any) -> tuple[Any, ...]:
        return (*(slice(None),) * (dim % x.ndim), index)

    def grid(index: Any, dim: int) -> tuple[Any, ...]:
        own = np.indices(index.shape, sparse=True)
        return tuple(index if d == dim % index.ndim else g for d, g in enumerate(own))

    def index_add(x: Any, index: Any, source: Any, *, dim: int, alpha: float) -> Any:
        return F.scatter_add(x, at(x, dim, index), _chainer().as_variable(source) * alpha)

    return {
        "reshape": lambda x, *, shape: F.reshape(x, shape),
        "permute": lambda x, *, dims: F.transpose(x, dims),
        "transpose": lambda x, *, dim0, dim1: F.swapaxes(x, dim0, dim1),
        "contiguous": lambda x: F.copy(x, -1),
        "expand": expand,
        "concat": lambda *xs, dim: F.concat(xs, axis=dim),
        "stack": lambda *xs, dim: F.stack(xs, axis=dim),
        "split": lambda x, *, sizes, dim: F.split_axis(x, list(accumulate(sizes[:-1])), dim),
        "repeat": lambda x, *, repeats: F.tile(x, repeats),
        "repeat_interleave": lambda x, *, repeats, dim: F.repeat(x, repeats, axis=dim),
        "slice": lambda x, *, dim, start, end, step: F.get_item(x, at(x, dim, slice(start, end, step))),
        "flip": lambda x, *, dims: functools.reduce(F.flip, dims, x),
        "pad": padded,
        "embedding": decline_params(
            "Chainer", lambda weight, indices: F.embed_id(np.asarray(indices), weight), "padding_idx"
        ),
        "index_select": lambda x, index, *, dim: F.get_item(x, at(x, dim, index)),
        "index_add": index_add,
        "gather": lambda x, index, *, dim: F.get_item(x, grid(index, dim)),
        "scatter_add": lambda x, index, src, *, dim: F.scatter_add(x, grid(index, dim), src),
    }


def _layers(F: Any) -> dict[str, Callable[..., Any]]:
    def ones(x: Any, n: int) -> tuple[Array, Array]:
        return np.ones(n, x.dtype), np.zeros(n, x.dtype)

    def layer_norm(x: Any, weight: Any = None, bias: Any = None, *, normalized_shape: Any, eps: float) -> Any:
        if x.ndim != 2 or len(normalized_shape) != 1:
            raise Unsupported("Chainer's layer_normalization takes a matrix")
        one, zero = ones(x, x.shape[1])
        return F.layer_normalization(x, one if weight is None else weight, zero if bias is None else bias, eps)

    def group_norm(x: Any, weight: Any = None, bias: Any = None, *, num_groups: int, eps: float) -> Any:
        one, zero = ones(x, x.shape[1])
        return F.group_normalization(
            x, num_groups, one if weight is None else weight, zero if bias is None else bias, eps
        )

    def batch_norm(
        x: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
        *, training: bool, eps: float,
    ) -> Any:  # fmt: skip
        one, zero = ones(x, x.shape[1])
        axis = (0, *range(2, x.ndim))
        affine = (one if weight is None else weight, zero if bias is None else bias)
        if training or running_mean is None:
            return F.batch_normalization(x, *affine, eps=eps, axis=axis)
        return F.fixed_batch_normalization(x, *affine, running_mean, running_var, eps, axis)

    def cross_entropy(
        x: Any, target: Any, weight: Any = None, *, ignore_index: int, reduction: str, label_smoothing: float
    ) -> Any:
        if (
            label_smoothing
            or target.dtype.kind == "f"
            or reduction == "sum"
            or (weight is not None and reduction != "none")
        ):
            raise Unsupported("Chainer's softmax_cross_entropy has classes by number, and means over their count")
        reduce = "no" if reduction == "none" else "mean"
        return F.softmax_cross_entropy(x, target, class_weight=weight, ignore_label=ignore_index, reduce=reduce)

    def reduced(each: Any, reduction: str) -> Any:
        return each if reduction == "none" else F.sum(each) if reduction == "sum" else F.mean(each)

    def local_response_norm(x: Any, *, size: int, alpha: float, beta: float, k: float) -> Any:
        if size % 2 == 0:
            raise Unsupported("Chainer's window has as many channels before as behind")
        return F.local_response_normalization(x, size, k, alpha / size, beta)

    return {
        "layer_norm": layer_norm,
        "group_norm": group_norm,
        "batch_norm": batch_norm,
        "local_response_norm": local_response_norm,
        "cross_entropy": cross_entropy,
        "mse_loss": lambda x, target, *, reduction: reduced(F.squared_error(x, target), reduction),
        "l1_loss": lambda x, target, *, reduction: reduced(F.absolute_error(x, target), reduction),
        "huber_loss": lambda x, target, *, delta, reduction: reduced(
            F.huber_loss(x, target, delta, reduce="no"), reduction
        ),
    }


def _windows(F: Any) -> dict[str, Callable[..., Any]]:
    def sizes(v: Any, n: int) -> tuple[int, ...]:
        given = (v,) * n if isinstance(v, int) else tuple(v)
        if len(given) != n:
            raise Unsupported("Chainer pads both ends alike")
        return given

    def conv(n: int) -> Callable[..., Any]:
        def convolved(
            x: Any, weight: Any, bias: Any = None, *, stride: Any, padding: Any, dilation: Any, groups: int = 1
        ) -> Any:
            given = [sizes(v, n) for v in (stride, padding)]
            function = F.convolution_2d if n == 2 else F.convolution_nd
            return function(x, weight, bias, *given, dilate=sizes(dilation, n), groups=groups)

        return convolved

    def transposed(n: int) -> Callable[..., Any]:
        def convolved(
            x: Any, weight: Any, bias: Any = None, *, stride: Any, padding: Any, dilation: Any, output_padding: Any,
            groups: int,
        ) -> Any:  # fmt: skip
            s, p, d, o = (sizes(v, n) for v in (stride, padding, dilation, output_padding))
            out = tuple(
                (x.shape[2 + i] - 1) * s[i] - 2 * p[i] + d[i] * (weight.shape[2 + i] - 1) + 1 + o[i] for i in range(n)
            )
            function = F.deconvolution_2d if n == 2 else F.deconvolution_nd
            return function(x, weight, bias, s, p, out, dilate=d, groups=groups)

        return convolved

    def avg_pool(n: int) -> Callable[..., Any]:
        def pool(
            x: Any, *, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, count_include_pad: bool,
            divisor_override: int | None = None,
        ) -> Any:  # fmt: skip
            if ceil_mode or divisor_override is not None:
                raise Unsupported("Chainer's average pooling has neither ceil_mode nor a divisor")
            k = sizes(kernel_size, n)
            given = (k, k if stride is None else sizes(stride, n), sizes(padding, n))
            return F.average_pooling_nd(x, *given, 0 if count_include_pad else None)

        return pool

    def max_pool(n: int) -> Callable[..., Any]:
        def pool(x: Any, *, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Any:
            if set(sizes(dilation, n)) != {1} or ceil_mode:
                raise Unsupported("Chainer's max pooling has no dilation, and its cover_all is no ceil_mode")
            k = sizes(kernel_size, n)
            given = (k, k if stride is None else sizes(stride, n), sizes(padding, n))
            return F.max_pooling_nd(x, *given, cover_all=False), None

        return pool

    def depthwise(x: Any, weight: Any, bias: Any = None, *, stride: Any, padding: Any, dilation: Any) -> Any:
        if set(sizes(dilation, 2)) != {1} or weight.shape[0] != x.shape[1]:
            raise Unsupported(
                "Chainer's depthwise_convolution_2d is mapped with one kernel a channel, without dilation"
            )
        kernels = F.transpose(weight, (1, 0, 2, 3))
        return F.depthwise_convolution_2d(x, kernels, bias, sizes(stride, 2), sizes(padding, 2))

    return {
        "conv1d": conv(1),
        "conv2d": conv(2),
        "conv3d": conv(3),
        "conv2d_depthwise": depthwise,
        "conv_transpose1d": transposed(1),
        "conv_transpose2d": transposed(2),
        "avg_pool1d": avg_pool(1),
        "avg_pool2d": avg_pool(2),
        "avg_pool3d": avg_pool(3),
        "max_pool1d": max_pool(1),
        "max_pool2d": max_pool(2),
        "max_pool3d": max_pool(3),
        "upsample_bilinear": lambda x, *, size, align_corners: F.resize_images(
            x, tuple(size), align_corners=align_corners
        ),
        "upsample_nearest": lambda x, *, size: F.resize_images(x, tuple(size), mode="nearest", align_corners=False),
    }
