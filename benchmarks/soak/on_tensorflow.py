"""TensorFlow on the CPU, each operator by TensorFlow's own function, gradients by its tape; for the false-alarm study.

    pip install tensorflow-cpu==2.21.0
    opproof run -b benchmarks/soak/on_tensorflow.py

An entry takes our tensors and parameters and calls the library's own function, nothing of ours in its place; what
TensorFlow has no function for is declined, and so is what its CPU has no kernel for. Images are moved to its layout,
channels last, and back.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from opproof.backends import precision
from opproof.backends.protocol import Unsupported
from opproof.backends.table import Table, make_forward_and_vjp
from opproof.core.arrays import Array
from opproof.core.errors import BackendError

name, device = "tensorflow", "cpu"
compute, rounding = precision.make_declarations(precision.read(Path(__file__).with_name("tensorflow.toml")))
try:
    version = importlib.metadata.version("tensorflow-cpu")
except importlib.metadata.PackageNotFoundError:
    raise BackendError(
        "benchmarks/soak/on_tensorflow.py needs TensorFlow: pip install tensorflow-cpu==2.21.0."
    ) from None

#: How TensorFlow refuses a dtype, or what its CPU has no kernel or no gradient for.
DECLINES = (
    "Could not find device for node", "No OpKernel was registered", "is not in the list of allowed values",
    "not supported", "Unimplemented", "unimplemented", "No gradient defined", "has no entry for", "only supports",
    "are not in the list of allowed values", "Fused conv implementation does not support",
)  # fmt: skip


#: Channels last. Without its name, the gradient of tf.nn.convolution of three axes raises AttributeError.
LAYOUTS = {1: "NWC", 2: "NHWC", 3: "NDHWC"}


def _pull(f: Callable[..., list[Any]], leaves: list[Any], gs: list[Any]) -> list[Any]:
    tf = _tensorflow()
    with tf.GradientTape() as tape:
        for leaf in leaves:
            tape.watch(leaf)
        outputs = f(*leaves)
    found = tape.gradient(outputs, leaves, output_gradients=gs)
    if any(d is None for d in found):
        raise Unsupported("TensorFlow has no gradient of one of the inputs, and says so by None")
    return [tf.convert_to_tensor(d) for d in found]


def _tensor(array: Array | None) -> Any:
    return None if array is None else _tensorflow().constant(np.array(array))


def _numpy(y: Any) -> Array:
    return np.asarray(y.numpy())


@functools.cache
def _tensorflow() -> Any:
    tf = importlib.import_module("tensorflow")
    tf.config.set_visible_devices([], "GPU")
    return tf


@contextmanager
def _declining() -> Iterator[None]:
    tf = _tensorflow()
    try:
        yield
    except (tf.errors.UnimplementedError, tf.errors.NotFoundError) as error:
        raise Unsupported(f"TensorFlow: {error.message[:300]}") from None
    except (tf.errors.InvalidArgumentError, TypeError, ValueError, LookupError, NotImplementedError) as error:
        if any(words in str(error) for words in DECLINES):
            raise Unsupported(f"TensorFlow: {str(error)[:300]}") from None
        raise


@functools.cache
def table() -> Table:
    """TensorFlow's function by our operator's name. Raises ImportError where TensorFlow is not installed."""
    tf = _tensorflow()
    return {**_pointwise(tf), **_reductions(tf), **_moves(tf), **_layers(tf), **_windows(tf)}


forward, vjp = make_forward_and_vjp("TensorFlow", table, tensor=_tensor, array=_numpy, pull=_pull, declining=_declining)


def _pointwise(tf: Any) -> dict[str, Callable[..., Any]]:
    same = (
        "abs sign square sqrt rsqrt reciprocal log log1p exp expm1 sin cos tan tanh sinh cosh asin acos atan erf floor "
        "ceil round add subtract multiply divide maximum minimum atan2 pow softplus softsign sigmoid equal not_equal "
        "less less_equal greater greater_equal"
    )
    ours = {
        "subtract": "sub", "multiply": "mul", "divide": "div", "equal": "eq", "not_equal": "ne", "less": "lt",
        "less_equal": "le", "greater": "gt", "greater_equal": "ge",
    }  # fmt: skip
    table: dict[str, Callable[..., Any]] = {ours.get(n, n): getattr(tf.math, n) for n in same.split()}

    def softplus(x: Any, *, beta: float, threshold: float) -> Any:
        if beta != 1 or threshold < 20:
            raise Unsupported("TensorFlow's softplus has neither beta nor threshold")
        return tf.math.softplus(x)

    def clamp(x: Any, *, min: float | None, max: float | None) -> Any:  # noqa: A002 - the parameters' names
        if min is None or max is None:
            raise Unsupported("TensorFlow's clip_by_value has both bounds")
        return tf.clip_by_value(x, min, max)

    def elu(x: Any, *, alpha: float) -> Any:
        if alpha != 1:
            raise Unsupported("TensorFlow's elu has no alpha")
        return tf.nn.elu(x)

    return table | {
        "neg": tf.math.negative,
        "logsigmoid": tf.math.log_sigmoid,
        "softplus": softplus,
        "remainder": tf.math.floormod,
        "floor_divide": tf.math.floordiv,
        "fmod": lambda a, b: tf.raw_ops.TruncateMod(x=a, y=b),
        "pow": lambda a, b=None, *, exponent: tf.math.pow(a, exponent if b is None else b),
        "relu": tf.nn.relu,
        "relu6": tf.nn.relu6,
        "leaky_relu": lambda x, *, negative_slope: tf.nn.leaky_relu(x, negative_slope),
        "elu": elu,
        "selu": tf.nn.selu,
        "silu": tf.nn.silu,
        "gelu": lambda x, *, approximate: tf.nn.gelu(x, approximate == "tanh"),
        "clamp": clamp,
        "where": lambda condition, a, b: tf.where(condition != 0, a, b),
        "logical_and": lambda a, b: tf.math.logical_and(a != 0, b != 0),
        "logical_or": lambda a, b: tf.math.logical_or(a != 0, b != 0),
        "logical_not": lambda x: tf.math.logical_not(x != 0),
    }


def _reductions(tf: Any) -> dict[str, Callable[..., Any]]:
    def along(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, *, dim=None, keepdim=False: function(x, axis=dim, keepdims=keepdim)

    def spread(function: Callable[..., Any]) -> Callable[..., Any]:
        def of(x: Any, *, dim: Any, correction: int, keepdim: bool) -> Any:
            if correction != 0:
                raise Unsupported("TensorFlow's reduce_std and reduce_variance divide by n")
            return function(x, dim, keepdim)

        return of

    def place(function: Callable[..., Any]) -> Callable[..., Any]:
        def of(x: Any, *, dim: int | None, keepdim: bool) -> Any:
            if dim is None or keepdim:
                raise Unsupported("TensorFlow's argmax and argmin are along one axis, which goes")
            return function(x, dim)

        return of

    def norm(x: Any, *, p: float, dim: Any, keepdim: bool) -> Any:
        if p <= 0:
            raise Unsupported("TensorFlow's norm is of p > 0")
        if isinstance(dim, tuple) and len(dim) > 1:
            raise Unsupported("TensorFlow's norm over two axes is of matrices")
        return tf.norm(x, p, dim[0] if isinstance(dim, tuple) else dim, keepdim)

    return {
        "sum": along(tf.reduce_sum),
        "mean": along(tf.reduce_mean),
        "prod": along(tf.reduce_prod),
        "amax": along(tf.reduce_max),
        "amin": along(tf.reduce_min),
        "logsumexp": along(tf.reduce_logsumexp),
        "all": lambda x, *, dim, keepdim: tf.reduce_all(x != 0, dim, keepdim),
        "any": lambda x, *, dim, keepdim: tf.reduce_any(x != 0, dim, keepdim),
        "argmax": place(tf.argmax),
        "argmin": place(tf.argmin),
        "var": spread(tf.math.reduce_variance),
        "std": spread(tf.math.reduce_std),
        "norm": norm,
        "cumsum": lambda x, *, dim: tf.cumsum(x, dim),
        "cumprod": lambda x, *, dim: tf.math.cumprod(x, dim),
        "matmul": lambda a, b: tf.matmul(a, b) if min(a.ndim, b.ndim) > 1 else tf.tensordot(a, b, 1),
        "bmm": tf.matmul,
        "dot": lambda a, b: tf.tensordot(a, b, 1),
        "linear": lambda x, weight, bias=None: _biased(tf, tf.tensordot(x, weight, [[-1], [1]]), bias),
        "tril": lambda x, *, diagonal: _band(tf, x, diagonal, lower=True),
        "triu": lambda x, *, diagonal: _band(tf, x, diagonal, lower=False),
    }


def _biased(tf: Any, y: Any, bias: Any) -> Any:
    return y if bias is None else tf.add(y, bias)


def _band(tf: Any, x: Any, diagonal: int, *, lower: bool) -> Any:
    if (diagonal < 0) if lower else (diagonal > 0):
        raise Unsupported("TensorFlow's band_part has the main diagonal in it")
    return tf.linalg.band_part(x, -1, diagonal) if lower else tf.linalg.band_part(x, -diagonal, -1)


def _moves(tf: Any) -> dict[str, Callable[..., Any]]:
    def transpose(x: Any, *, dim0: int, dim1: int) -> Any:
        order = list(range(x.ndim))
        order[dim0], order[dim1] = order[dim1], order[dim0]
        return tf.transpose(x, order)

    def take_along(x: Any, index: Any, *, dim: int) -> Any:
        dim %= x.ndim
        if any(m != n for d, (m, n) in enumerate(zip(x.shape, index.shape, strict=True)) if d != dim):
            raise Unsupported("tf.gather with batch_dims wants axes alike")
        last = [d for d in range(x.ndim) if d != dim] + [dim]
        back = list(np.argsort(last))
        y = tf.gather(tf.transpose(x, last), tf.transpose(index, last), axis=-1, batch_dims=x.ndim - 1)
        return tf.transpose(y, back)

    def pad(x: Any, *, pad: tuple[int, ...], mode: str, value: float | None) -> Any:
        if mode not in ("constant", "reflect") or min(pad, default=0) < 0:
            raise Unsupported("TensorFlow's pad is constant or reflects, and takes no cells away")
        widths = [(0, 0)] * (x.ndim - len(pad) // 2) + list(zip(pad[::2], pad[1::2], strict=True))[::-1]
        return tf.pad(x, widths, mode.upper(), 0 if value is None else value)

    def sort(x: Any, *, dim: int, descending: bool) -> Any:
        way = "DESCENDING" if descending else "ASCENDING"
        return tf.sort(x, dim, way), tf.cast(tf.argsort(x, dim, way, stable=True), tf.int64)

    def topk(x: Any, *, k: int, dim: int, largest: bool) -> Any:
        if not largest or dim % x.ndim != x.ndim - 1:
            raise Unsupported("TensorFlow's top_k is of the largest along the last axis")
        values, places = tf.math.top_k(x, k)
        return values, tf.cast(places, tf.int64)

    def expand(x: Any, *, shape: tuple[int, ...]) -> Any:
        lead = len(shape) - x.ndim
        return tf.broadcast_to(x, [x.shape[i - lead] if n == -1 else n for i, n in enumerate(shape)])

    def repeat(x: Any, *, repeats: tuple[int, ...]) -> Any:
        if len(repeats) != x.ndim:
            raise Unsupported("TensorFlow's tile has a number for each axis")
        return tf.tile(x, repeats)

    def index_add(x: Any, index: Any, source: Any, *, dim: int, alpha: float) -> Any:
        if dim % x.ndim != 0 or alpha != 1:
            raise Unsupported("TensorFlow's scatter_nd_add is along the first axis, and adds as it is")
        return tf.tensor_scatter_nd_add(x, index[:, None], source)

    return {
        "reshape": lambda x, *, shape: tf.reshape(x, shape),
        "permute": lambda x, *, dims: tf.transpose(x, [d % x.ndim for d in dims]),
        "transpose": transpose,
        "contiguous": tf.identity,
        "expand": expand,
        "concat": lambda *xs, dim: tf.concat(list(xs), dim),
        "stack": lambda *xs, dim: tf.stack(list(xs), dim),
        "split": lambda x, *, sizes, dim: tf.split(x, list(sizes), dim),
        "repeat": repeat,
        "repeat_interleave": lambda x, *, repeats, dim: tf.repeat(x, repeats, dim),
        "roll": lambda x, *, shifts, dims: tf.roll(x, shifts, dims),
        "flip": lambda x, *, dims: tf.reverse(x, list(dims)),
        "pad": pad,
        "embedding": tf.nn.embedding_lookup,
        "index_select": lambda x, index, *, dim: tf.gather(x, index, axis=dim),
        "index_add": index_add,
        "gather": take_along,
        "take_along_dim": lambda x, indices, *, dim: take_along(x, indices, dim=dim),
        "sort": sort,
        "argsort": lambda x, *, dim, descending: sort(x, dim=dim, descending=descending)[1],
        "topk": topk,
    }


def _layers(tf: Any) -> dict[str, Callable[..., Any]]:
    def batch_norm(
        x: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
        *, training: bool, eps: float,
    ) -> Any:  # fmt: skip
        if training:
            axes = [d for d in range(x.ndim) if d != 1]
            running_mean, running_var = tf.nn.moments(x, axes)
        four = [None if v is None else _channels(tf, v, x.ndim) for v in (running_mean, running_var, bias, weight)]
        return tf.nn.batch_normalization(x, *four, eps)

    def cross_entropy(x: Any, target: Any, weight: Any = None, **given: Any) -> Any:
        if weight is not None or given["label_smoothing"] or x.ndim != 2 or given["ignore_index"] >= 0:
            raise Unsupported("TensorFlow's softmax_cross_entropy has neither weights nor smoothing, and two axes")
        if target.shape == x.shape:
            raise Unsupported("TensorFlow's softmax_cross_entropy wants rows of labels whose sum is 1")
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=x)
        return reduced(loss, given["reduction"])

    def reduced(loss: Any, reduction: str) -> Any:
        return {"none": tf.identity, "sum": tf.reduce_sum, "mean": tf.reduce_mean}[reduction](loss)

    def bce(x: Any, target: Any, weight: Any = None, pos_weight: Any = None, *, reduction: str) -> Any:
        if weight is not None:
            raise Unsupported("TensorFlow's sigmoid_cross_entropy has pos_weight alone")
        if pos_weight is None:
            return reduced(tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=x), reduction)
        return reduced(tf.nn.weighted_cross_entropy_with_logits(target, x, pos_weight), reduction)

    def l2_norm(x: Any, *, dim: int, eps: float) -> Any:
        return tf.math.l2_normalize(x, dim, eps * eps)

    def mse(x: Any, target: Any, *, reduction: str) -> Any:
        return reduced(tf.math.squared_difference(x, target), reduction)

    return {
        "softmax": lambda x, *, dim: tf.nn.softmax(x, dim),
        "log_softmax": lambda x, *, dim: tf.nn.log_softmax(x, dim),
        "batch_norm": batch_norm,
        "cross_entropy": cross_entropy,
        "bce_with_logits": bce,
        "l2_norm": l2_norm,
        "mse_loss": mse,
        "local_response_norm": functools.partial(_local_response_norm, tf),
    }


def _channels(tf: Any, v: Any, rank: int) -> Any:
    return tf.reshape(v, (1, -1) + (1,) * (rank - 2))


def _local_response_norm(tf: Any, x: Any, *, size: int, alpha: float, beta: float, k: float) -> Any:
    if size % 2 == 0 or x.ndim != 4:
        raise Unsupported("TensorFlow's local_response_normalization has 2 r + 1 channels, of images")
    y = tf.nn.local_response_normalization(_last(tf, x), size // 2, k, alpha / size, beta)
    return _second(tf, y)


def _last(tf: Any, x: Any) -> Any:
    """Channels from the second axis to the last."""
    return tf.transpose(x, [0, *range(2, x.ndim), 1])


def _second(tf: Any, x: Any) -> Any:
    return tf.transpose(x, [0, x.ndim - 1, *range(1, x.ndim - 1)])


def _per_axis(value: Any, rank: int) -> list[int]:
    return [value] * rank if isinstance(value, int) else list(value)


def _windows(tf: Any) -> dict[str, Callable[..., Any]]:
    def conv(
        x: Any, weight: Any, bias: Any = None, *, stride: Any, padding: Any, dilation: Any, groups: int = 1
    ) -> Any:
        rank = x.ndim - 2
        pads = [[0, 0], *([p, p] for p in _per_axis(padding, rank)), [0, 0]]
        kernel = tf.transpose(weight, [*range(2, weight.ndim), 1, 0])
        strides, dilations = _per_axis(stride, rank), _per_axis(dilation, rank)
        if groups != 1:
            raise Unsupported("TensorFlow's CPU has no convolution in groups")
        y = tf.nn.convolution(tf.pad(_last(tf, x), pads), kernel, strides, "VALID", LAYOUTS[rank], dilations)
        return _second(tf, _biased(tf, y, bias))

    def depthwise(x: Any, weight: Any, bias: Any = None, *, stride: Any, padding: Any, dilation: Any) -> Any:
        (sh, sw), dilations = _per_axis(stride, 2), _per_axis(dilation, 2)
        if sh != sw or (sh > 1 and dilations != [1, 1]):
            raise Unsupported("TensorFlow's depthwise_conv2d strides alike on both axes, and does not dilate then")
        if weight.shape[0] % x.shape[1]:
            raise Unsupported("as many filters for each channel")
        pads = [[0, 0], *([p, p] for p in _per_axis(padding, 2)), [0, 0]]
        kernel = tf.reshape(weight, (x.shape[1], -1, *weight.shape[2:]))
        kernel = tf.transpose(kernel, [2, 3, 0, 1])
        y = tf.nn.depthwise_conv2d(tf.pad(_last(tf, x), pads), kernel, [1, sh, sw, 1], "VALID", dilations=dilations)
        return _second(tf, _biased(tf, y, bias))

    def avg_pool(x: Any, *, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, **given: Any) -> Any:
        rank = x.ndim - 2
        if ceil_mode or any(_per_axis(padding, rank)) or given.get("divisor_override") is not None:
            raise Unsupported("TensorFlow's avg_pool has no padding of its own, no ceil_mode and no divisor")
        kernel = _per_axis(kernel_size, rank)
        strides = kernel if stride is None else _per_axis(stride, rank)
        return _second(tf, tf.nn.avg_pool(_last(tf, x), kernel, strides, "VALID"))

    def resized(method: str) -> Callable[..., Any]:
        def upsample(x: Any, *, size: Any, align_corners: bool = False) -> Any:
            if align_corners:
                raise Unsupported("tf.image.resize aligns no corners")
            if method == "nearest" and any(n % m for n, m in zip(size, x.shape[2:], strict=True)):
                raise Unsupported(
                    "tf.image.resize takes the nearest centre; it agrees with floor(i n / out) at multiples"
                )
            y = tf.image.resize(_last(tf, x), size, method)
            if y.dtype != x.dtype:
                raise Unsupported("tf.image.resize gives float32")
            return _second(tf, y)

        return upsample

    return {
        "conv1d": conv,
        "conv2d": conv,
        "conv3d": conv,
        "conv2d_depthwise": depthwise,
        "avg_pool1d": avg_pool,
        "avg_pool2d": avg_pool,
        "upsample_nearest": resized("nearest"),
        "upsample_bilinear": resized("bilinear"),
    }
