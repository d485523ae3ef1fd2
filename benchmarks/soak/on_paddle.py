"""PaddlePaddle on the CPU, each operator by Paddle's own function, gradients by paddle.grad; for the false-alarm study.

    pip install paddlepaddle==3.3.1
    opproof run -b benchmarks/soak/on_paddle.py

(A file called paddle.py would be imported in Paddle's place.) An entry takes our tensors and parameters and calls the
library's own function, nothing of ours in its place; what Paddle has no function for is declined, and so is a dtype
that its CPU has no kernel for.
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
from opproof.backends.protocol import Unsupported, short_name_of
from opproof.backends.table import Table, make_forward_and_vjp
from opproof.core.arrays import Array
from opproof.core.errors import BackendError

name, device = "paddle", "cpu"
compute, rounding = precision.make_declarations(precision.read(Path(__file__).with_name("paddle.toml")))
try:
    version = importlib.metadata.version("paddlepaddle")
except importlib.metadata.PackageNotFoundError:
    raise BackendError("benchmarks/soak/on_paddle.py needs PaddlePaddle: pip install paddlepaddle==3.3.1.") from None

#: How Paddle refuses a dtype, or what its kernels do not cover.
DECLINES = (
    "is not registered", "not supported", "Unimplemented", "only support", "data type must be", "should be one of",
    "but received float16", "but received bfloat16", "but received uint16", "must be one of", "NotImplementedError",
    "'epsilon' in Op", "'begin_norm_axis' in Op", "unsupported data layout", "Output_height and padding",
)  # fmt: skip


def _pull(f: Callable[..., list[Any]], leaves: list[Any], gs: list[Any]) -> list[Any]:
    for leaf in leaves:
        leaf.stop_gradient = False
    outputs = f(*leaves)
    if all(y.stop_gradient for y in outputs):
        raise Unsupported("Paddle has no gradient of it")
    found = _paddle().grad(outputs, leaves, gs, allow_unused=True)
    if any(d is None for d in found):
        raise Unsupported("Paddle has no gradient of one of the inputs, and says so by None")
    return list(found)


def _tensor(array: Array | None) -> Any:
    if array is None:
        return None
    if short_name_of(array.dtype) == "bf16":  # 16 bits as they are
        return _paddle().to_tensor(np.array(array).view(np.uint16), dtype="bfloat16")
    return _paddle().to_tensor(np.array(array))


def _numpy(y: Any) -> Array:
    import ml_dtypes

    array = np.asarray(y.numpy())
    return array.view(ml_dtypes.bfloat16) if "bfloat16" in str(y.dtype) else array


@functools.cache
def _paddle() -> Any:
    paddle = importlib.import_module("paddle")
    paddle.set_device("cpu")
    return paddle


@contextmanager
def _declining() -> Iterator[None]:
    try:
        yield
    except (RuntimeError, ValueError, TypeError, NotImplementedError) as error:
        if any(words in str(error) for words in DECLINES):
            raise Unsupported(f"Paddle: {str(error).strip().splitlines()[-1][:300]}") from None
        raise


@functools.cache
def table() -> Table:
    """Paddle's function by our operator's name. Raises ImportError where Paddle is not installed."""
    paddle = _paddle()
    return {**_pointwise(paddle), **_reductions(paddle), **_moves(paddle), **_layers(paddle), **_windows(paddle)}


forward, vjp = make_forward_and_vjp("Paddle", table, tensor=_tensor, array=_numpy, pull=_pull, declining=_declining)


def _pointwise(paddle: Any) -> dict[str, Callable[..., Any]]:
    F = paddle.nn.functional
    same = (
        "abs neg sign square sqrt rsqrt reciprocal log log2 log1p exp expm1 sin cos tan tanh sinh cosh asin acos atan "
        "erf floor ceil round trunc add multiply subtract divide maximum minimum atan2 pow remainder floor_divide"
    )
    ours = {"multiply": "mul", "subtract": "sub", "divide": "div"}
    table: dict[str, Callable[..., Any]] = {ours.get(n, n): getattr(paddle, n) for n in same.split()}
    names = "sigmoid relu relu6 selu silu mish hardswish softsign tanhshrink leaky_relu elu celu"
    table |= {n: getattr(F, n) for n in names.split()}
    comparisons = {
        "eq": "equal", "ne": "not_equal", "lt": "less_than", "le": "less_equal", "gt": "greater_than",
        "ge": "greater_equal", "logical_and": "logical_and", "logical_or": "logical_or", "logical_not": "logical_not",
    }  # fmt: skip
    table |= {n: getattr(paddle, of) for n, of in comparisons.items()}
    return table | {
        "logsigmoid": F.log_sigmoid,
        "gelu": lambda x, *, approximate: F.gelu(x, approximate == "tanh"),
        "softplus": lambda x, *, beta, threshold: F.softplus(x, beta, threshold),
        "hardtanh": lambda x, *, min_val, max_val: F.hardtanh(x, min_val, max_val),
        "hardshrink": lambda x, *, lambd: F.hardshrink(x, lambd),
        "softshrink": lambda x, *, lambd: F.softshrink(x, lambd),
        "hardsigmoid": lambda x: F.hardsigmoid(x, 1 / 6, 0.5),
        "threshold": lambda x, *, threshold, value: F.thresholded_relu(x, threshold, value),
        "prelu": F.prelu,
        "clamp": lambda x, *, min, max: paddle.clip(x, min, max),  # noqa: A006 - the names of the parameters
        "scale": lambda x, *, s, b: paddle.scale(x, s, b),
        "pow": lambda a, b=None, *, exponent: paddle.pow(a, exponent if b is None else b),
        "lerp": paddle.lerp,
        "where": lambda condition, a, b: paddle.where(condition != 0, a, b),
        "masked_fill": lambda x, mask, *, value: paddle.masked_fill(x, mask != 0, value),
        "step": lambda x: paddle.heaviside(x, paddle.zeros_like(x)),
        "fill": lambda x, *, value: paddle.full_like(x, value),
    }


def _reductions(paddle: Any) -> dict[str, Callable[..., Any]]:
    def along(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, *, dim=None, keepdim=False: function(x, axis=dim, keepdim=keepdim)

    def spread(function: Callable[..., Any]) -> Callable[..., Any]:
        def of(x: Any, *, dim: Any, correction: int, keepdim: bool) -> Any:
            if correction not in (0, 1):
                raise Unsupported("Paddle's std and var have a correction of 0 or 1")
            return function(x, dim, correction == 1, keepdim)

        return of

    def norm(x: Any, *, p: float, dim: Any, keepdim: bool) -> Any:
        return paddle.linalg.vector_norm(x, p, dim, keepdim)

    names = "sum mean prod amax amin all any argmax argmin logsumexp"
    return {n: along(getattr(paddle, n)) for n in names.split()} | {
        "var": spread(paddle.var),
        "std": spread(paddle.std),
        "norm": norm,
        "cumsum": lambda x, *, dim: paddle.cumsum(x, dim),
        "cumprod": lambda x, *, dim: paddle.cumprod(x, dim),
        "matmul": paddle.matmul,
        "bmm": paddle.bmm,
        "dot": paddle.dot,
        "linear": lambda x, weight, bias=None: paddle.nn.functional.linear(x, paddle.transpose(weight, [1, 0]), bias),
        "tril": lambda x, *, diagonal: paddle.tril(x, diagonal),
        "triu": lambda x, *, diagonal: paddle.triu(x, diagonal),
    }


def _moves(paddle: Any) -> dict[str, Callable[..., Any]]:
    F = paddle.nn.functional

    def gather(x: Any, index: Any, *, dim: int) -> Any:
        return paddle.take_along_axis(x, index, dim, broadcast=False)

    def sort(x: Any, *, dim: int, descending: bool) -> Any:
        return paddle.sort(x, dim, descending, stable=True), paddle.argsort(x, dim, descending, stable=True)

    def scatter(reduce: str) -> Callable[..., Any]:
        return lambda x, index, src, *, dim: paddle.put_along_axis(
            x, index, src, dim, reduce, include_self=True, broadcast=False
        )

    return {
        "reshape": lambda x, *, shape: paddle.reshape(x, shape),
        "permute": lambda x, *, dims: paddle.transpose(x, dims),
        "transpose": lambda x, *, dim0, dim1: paddle.swapaxes(x, dim0, dim1),
        "contiguous": paddle.clone,
        "expand": lambda x, *, shape: paddle.expand(x, shape),
        "concat": lambda *xs, dim: paddle.concat(list(xs), dim),
        "stack": lambda *xs, dim: paddle.stack(list(xs), dim),
        "split": lambda x, *, sizes, dim: paddle.split(x, list(sizes), dim),
        "repeat": lambda x, *, repeats: paddle.tile(x, repeats),
        "repeat_interleave": lambda x, *, repeats, dim: paddle.repeat_interleave(x, repeats, dim),
        "roll": lambda x, *, shifts, dims: paddle.roll(x, shifts, dims),
        "flip": lambda x, *, dims: paddle.flip(x, list(dims)),
        "embedding": lambda weight, indices: F.embedding(indices, weight),
        "index_select": lambda x, index, *, dim: paddle.index_select(x, index, dim),
        "index_add": lambda x, index, source, *, dim, alpha: paddle.index_add(x, index, dim, source, alpha),
        "gather": gather,
        "take_along_dim": lambda x, indices, *, dim: paddle.take_along_axis(x, indices, dim),
        "scatter": scatter("assign"),
        "scatter_add": scatter("add"),
        "sort": sort,
        "argsort": lambda x, *, dim, descending: paddle.argsort(x, dim, descending, stable=True),
        "topk": lambda x, *, k, dim, largest: paddle.topk(x, k, dim, largest),
    }


def _layers(paddle: Any) -> dict[str, Callable[..., Any]]:
    F = paddle.nn.functional

    def layer_norm(x: Any, weight: Any = None, bias: Any = None, *, normalized_shape: Any, eps: float) -> Any:
        flat = [
            None if v is None else paddle.reshape(v, [-1]) for v in (weight, bias)
        ]  # as paddle.nn.LayerNorm has them
        return F.layer_norm(x, list(normalized_shape), *flat, eps)

    def batch_norm(
        x: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
        *, training: bool, eps: float,
    ) -> Any:  # fmt: skip
        if running_mean is None:  # Paddle wants some, and in training uses none
            running_mean, running_var = (paddle.full([x.shape[1]], v, "float32") for v in (0.0, 1.0))
        layout = {2: "NC", 3: "NCL", 4: "NCHW", 5: "NCDHW"}[x.ndim]
        return F.batch_norm(x, running_mean, running_var, weight, bias, training, 0.9, eps, layout)

    def group_norm(x: Any, weight: Any = None, bias: Any = None, *, num_groups: int, eps: float) -> Any:
        layout = {2: "NC", 3: "NCL", 4: "NCHW", 5: "NCDHW"}[x.ndim]
        return F.group_norm(x, num_groups, eps, weight, bias, layout)

    def attention(
        query: Any, key: Any, value: Any, attn_mask: Any = None, keep: Any = None, sinks: Any = None,
        *, is_causal: bool, scale: float | None, enable_gqa: bool, softcap: float, max_bias: float,
    ) -> Any:  # fmt: skip
        if keep is not None or sinks is not None or softcap > 0 or max_bias > 0:
            raise Unsupported("Paddle's scaled_dot_product_attention has a mask of floats only")
        if is_causal and query.shape[-2] != key.shape[-2]:
            raise Unsupported("Paddle's causal mask ends at the last key")
        q, k, v = (paddle.transpose(x, [0, 2, 1, 3]) for x in (query, key, value))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa)
        return paddle.transpose(y, [0, 2, 1, 3])

    def by_class(function: Callable[..., Any]) -> Callable[..., Any]:
        def loss(x: Any, target: Any, weight: Any = None, **given: Any) -> Any:
            if given.pop("label_smoothing", 0) or target.shape == x.shape or x.ndim != 2:
                raise Unsupported("of Paddle's losses by class, those of indices and two axes are mapped")
            return function(x, target, weight, **given)

        return loss

    def smooth_l1(x: Any, target: Any, *, beta: float, reduction: str) -> Any:
        if beta == 0:
            raise Unsupported("Paddle's smooth_l1_loss divides by its delta")
        return F.smooth_l1_loss(x, target, reduction, beta, False)

    def bce(x: Any, target: Any, weight: Any = None, pos_weight: Any = None, *, reduction: str) -> Any:
        return F.binary_cross_entropy_with_logits(x, target, weight, reduction, pos_weight)

    return {
        "softmax": lambda x, *, dim: F.softmax(x, dim),
        "log_softmax": lambda x, *, dim: F.log_softmax(x, dim),
        "layer_norm": layer_norm,
        "batch_norm": batch_norm,
        "group_norm": group_norm,
        "instance_norm": lambda x, weight=None, bias=None, *, eps: F.instance_norm(
            x, weight=weight, bias=bias, eps=eps
        ),
        "l2_norm": lambda x, *, dim, eps: F.normalize(x, 2, dim, eps),
        "local_response_norm": lambda x, *, size, alpha, beta, k: F.local_response_norm(x, size, alpha, beta, k),
        "scaled_dot_product_attention": attention,
        "cross_entropy": by_class(F.cross_entropy),
        "nll_loss": by_class(F.nll_loss),
        "mse_loss": F.mse_loss,
        "l1_loss": F.l1_loss,
        "kl_div": F.kl_div,
        "huber_loss": lambda x, target, *, delta, reduction: F.smooth_l1_loss(x, target, reduction, delta),
        "smooth_l1_loss": smooth_l1,
        "bce_with_logits": bce,
    }


def _windows(paddle: Any) -> dict[str, Callable[..., Any]]:
    F = paddle.nn.functional

    def conv(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, weight, bias=None, **given: function(x, weight, bias, **given)

    def depthwise(x: Any, weight: Any, bias: Any = None, **given: Any) -> Any:
        return F.conv2d(x, weight, bias, **given, groups=x.shape[1])

    def avg_pool(function: Callable[..., Any]) -> Callable[..., Any]:
        def pool(x: Any, *, kernel_size: Any, count_include_pad: bool, **given: Any) -> Any:
            if given["ceil_mode"]:
                raise Unsupported("with ceil_mode Paddle keeps windows that begin behind x and its padding")
            if given.get("divisor_override", 0) is None:
                del given["divisor_override"]
            return function(x, kernel_size, exclusive=not count_include_pad, **given)

        return pool

    def max_pool(function: Callable[..., Any]) -> Callable[..., Any]:
        def pool(x: Any, *, kernel_size: Any, dilation: Any, ceil_mode: bool, **given: Any) -> Any:
            if dilation not in (1, (1,), (1, 1)) or ceil_mode:
                raise Unsupported("Paddle's max_pool with positions has neither dilation nor ceil_mode")
            y, places = function(x, kernel_size, return_mask=True, **given)
            return y, places.astype("int64")

        return pool

    def upsample(mode: str) -> Callable[..., Any]:
        def resized(x: Any, *, size: Any, align_corners: bool = False) -> Any:
            return F.interpolate(x, list(size), mode=mode, align_corners=align_corners)

        return resized

    def pad(x: Any, *, pad: tuple[int, ...], mode: str, value: float | None) -> Any:
        if mode != "constant" or min(pad, default=0) < 0:
            raise Unsupported("Paddle's other modes of pad take three to five axes")
        widths = [0, 0] * (x.ndim - len(pad) // 2) + [n for k in range(len(pad) - 2, -1, -2) for n in pad[k : k + 2]]
        return F.pad(x, widths, value=0.0 if value is None else value)

    return {
        "conv1d": conv(F.conv1d),
        "conv2d": conv(F.conv2d),
        "conv3d": conv(F.conv3d),
        "conv2d_depthwise": depthwise,
        "conv_transpose1d": conv(F.conv1d_transpose),
        "conv_transpose2d": conv(F.conv2d_transpose),
        "avg_pool1d": avg_pool(F.avg_pool1d),
        "avg_pool2d": avg_pool(F.avg_pool2d),
        "max_pool1d": max_pool(F.max_pool1d),
        "max_pool2d": max_pool(F.max_pool2d),
        "adaptive_avg_pool2d": lambda x, *, output_size: F.adaptive_avg_pool2d(x, output_size),
        "upsample_nearest": upsample("nearest"),
        "upsample_bilinear": upsample("bilinear"),
        "upsample_bicubic": upsample("bicubic"),
        "pixel_shuffle": lambda x, *, upscale_factor: F.pixel_shuffle(x, upscale_factor),
        "pad": pad,
    }
