"""MindSpore on the CPU, each operator by MindSpore's own function, gradients by mindspore.ops.vjp: for the study.

    pip install mindspore==2.10.0
    opproof run -b benchmarks/soak/on_mindspore.py

An entry takes our tensors and parameters and calls the library's own function, nothing of ours in its place; what
MindSpore has no function for is declined, and so is what its CPU has no kernel for: much of mindspore.mint, whence most
are of mindspore.ops.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from opproof.backends import precision
from opproof.backends.protocol import Unsupported
from opproof.backends.table import Table, decline_params, make_forward_and_vjp
from opproof.core.arrays import Array
from opproof.core.errors import BackendError
from opproof.core.tuples import tuple_of

name, device = "mindspore", "cpu"
compute, rounding = precision.make_declarations(precision.read(Path(__file__).with_name("mindspore.toml")))
try:
    version = importlib.metadata.version("mindspore")
except importlib.metadata.PackageNotFoundError:
    raise BackendError("benchmarks/soak/on_mindspore.py needs MindSpore: pip install mindspore==2.10.0.") from None

#: How MindSpore refuses a dtype, or what its CPU has no kernel or no gradient for.
DECLINES = (
    "unregistered", "on device CPU", "Unsupported data type", "Unsupported op", "only supports Ascend", "not support",
    "must be one of", "should be one of", "valid type", "No implementation", "Bprop", "is not registered",
    "KernelMod Init Failed", "must be a type of", "alpha must be 1.0f", "bprop not defined", "must be equal to 4",
    "Create kernelmod for op", "supports types", "input dtype should be", "type of the input_x tensor",
    "must be integers", "all elements must be positive", "must be greater than or equal to",
    "must be equal, but got rank", "dim must be in [2,3]", "The dtype should be", "Only support integers, slices",
)  # fmt: skip


def _pull(f: Callable[..., list[Any]], leaves: list[Any], gs: list[Any]) -> list[Any]:
    def outputs(*xs: Any) -> Any:
        ys = f(*xs)
        return ys[0] if len(ys) == 1 else tuple(ys)

    _, back = _mindspore().ops.vjp(outputs, *leaves)
    return list(tuple_of(back(*gs)))


def _tensor(array: Array | None) -> Any:
    return None if array is None else _mindspore().Tensor(np.array(array, order="C"))


def _numpy(y: Any) -> Array:
    import ml_dtypes

    ms = _mindspore()
    if y.dtype == ms.bfloat16:  # its asnumpy has none with NumPy 2
        return y.astype(ms.float32).asnumpy().astype(ml_dtypes.bfloat16)  # type: ignore[no-any-return]
    return np.asarray(y.asnumpy())


@functools.cache
def _mindspore() -> Any:
    ms = importlib.import_module("mindspore")
    ms.set_context(mode=ms.PYNATIVE_MODE, pynative_synchronize=True)  # else a refusal meets a later call
    ms.set_device("CPU")
    for _ in range(3):  # with NumPy 2, the first number beside a tensor leaves an exception of another module behind
        with suppress(SystemError):
            ms.ops.pow(2.0 * ms.Tensor(np.ones(1, np.float16)), 2.0)
    return ms


@contextmanager
def _declining() -> Iterator[None]:
    try:
        yield
    except (RuntimeError, ValueError, TypeError, NotImplementedError, AttributeError) as error:
        if any(words in str(error) for words in DECLINES):
            raise Unsupported(f"MindSpore: {str(error).strip().splitlines()[0][:300]}") from None
        raise


@functools.cache
def table() -> Table:
    """MindSpore's function by our operator's name. Raises ImportError where MindSpore is not installed."""
    ms = _mindspore()
    return {**_pointwise(ms), **_reductions(ms), **_moves(ms), **_layers(ms), **_windows(ms)}


forward, vjp = make_forward_and_vjp("MindSpore", table, tensor=_tensor, array=_numpy, pull=_pull, declining=_declining)


def _pointwise(ms: Any) -> dict[str, Callable[..., Any]]:
    ops, F = ms.ops, ms.mint.nn.functional
    same = (
        "abs neg sign square sqrt rsqrt reciprocal log log2 log1p exp exp2 expm1 sin cos tan tanh sinh cosh asin acos "
        "atan asinh acosh atanh erf erfinv floor ceil trunc sigmoid relu relu6 selu silu mish hardswish hardsigmoid "
        "logsigmoid softsign tanhshrink lgamma digamma i0 isnan isinf isfinite add sub mul div maximum minimum atan2 "
        "remainder fmod floor_divide hypot logaddexp xlogy eq ne lt le gt ge logical_and logical_or logical_not "
        "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift prelu"
    )
    table: dict[str, Callable[..., Any]] = {n: getattr(ops, n) for n in same.split()}

    def softplus(x: Any, *, beta: float, threshold: float) -> Any:
        return ops.softplus(x, beta, threshold)

    def elu(x: Any, *, alpha: float) -> Any:
        return ops.elu(x, alpha)

    return table | {
        "round": ops.round,
        "gelu": lambda x, *, approximate: ops.gelu(x, approximate),
        "softplus": softplus,
        "elu": elu,
        "celu": lambda x, *, alpha: ops.celu(x, alpha),
        "leaky_relu": lambda x, *, negative_slope: ops.leaky_relu(x, negative_slope),
        "hardtanh": lambda x, *, min_val, max_val: ops.hardtanh(x, min_val, max_val),
        "hardshrink": lambda x, *, lambd: ops.hardshrink(x, lambd),
        "softshrink": lambda x, *, lambd: ops.softshrink(x, lambd),
        "threshold": lambda x, *, threshold, value: ops.threshold(x, threshold, value),
        "clamp": lambda x, *, min, max: ops.clamp(x, min, max),  # noqa: A006 - the names of the parameters
        "scale": lambda x, *, s, b: x * s + b,
        "add1": lambda a, b: a + b.reshape(()),
        "pow": lambda a, b=None, *, exponent: ops.pow(a, exponent if b is None else b),
        "lerp": ops.lerp,
        "addcmul": lambda x, a, b, *, value: ops.addcmul(x, a, b, value),
        "addcdiv": lambda x, a, b, *, value: ops.addcdiv(x, a, b, value),
        "where": lambda condition, a, b: ops.where(condition != 0, a, b),
        "masked_fill": lambda x, mask, *, value: ops.masked_fill(x, mask != 0, value),
        "step": lambda x: ops.heaviside(x, ops.zeros_like(x)),
        "fill": lambda x, *, value: ops.full_like(x, value),
        "silu": F.silu,
    }


def _reductions(ms: Any) -> dict[str, Callable[..., Any]]:
    ops, mint = ms.ops, ms.mint

    def along(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, *, dim=None, keepdim=False: function(x, dim, keepdim)

    def spread(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, *, dim, correction, keepdim: function(x, dim, correction, keepdim)

    def linear(x: Any, weight: Any, bias: Any = None) -> Any:
        return mint.nn.functional.linear(x, weight, bias)

    def extreme(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, *, dim=None, keepdim=False: function(x, () if dim is None else dim, keepdim)

    return {
        "sum": lambda x, *, dim, keepdim: ops.sum(x, dim, keepdim),
        "mean": along(ops.mean),
        "prod": along(ops.prod),
        "amax": extreme(mint.amax),
        "amin": extreme(mint.amin),
        "all": along(ops.all),
        "any": along(ops.any),
        "argmax": along(ops.argmax),
        "argmin": lambda x, *, dim=None, keepdim=False: ops.argmin(x, dim, keepdim),
        "logsumexp": lambda x, *, dim, keepdim: ops.logsumexp(x, dim, keepdim),
        "var": spread(ops.var),
        "std": spread(ops.std),
        "norm": lambda x, *, p, dim, keepdim: ops.vector_norm(x, p, dim, keepdim),
        "softmax": lambda x, *, dim: ops.softmax(x, dim),
        "log_softmax": lambda x, *, dim: ops.log_softmax(x, dim),
        "cumsum": lambda x, *, dim: ops.cumsum(x, dim),
        "cumprod": lambda x, *, dim: ops.cumprod(x, dim),
        "logcumsumexp": lambda x, *, dim: ops.logcumsumexp(x, dim),
        "matmul": ops.matmul,
        "bmm": ops.bmm,
        "dot": lambda a, b: ops.tensor_dot(a, b, 1),
        "linear": linear,
        "addmm": lambda x, a, b, *, beta, alpha: ops.addmm(x, a, b, beta=beta, alpha=alpha),
        "addmv": lambda x, a, b, *, beta, alpha: ops.addmv(x, a, b, beta=beta, alpha=alpha),
        "baddbmm": lambda x, a, b, *, beta, alpha: ops.baddbmm(x, a, b, beta=beta, alpha=alpha),
        "tril": lambda x, *, diagonal: ops.tril(x, diagonal),
        "triu": lambda x, *, diagonal: ops.triu(x, diagonal),
        "cholesky": ops.cholesky,
        "inverse": ops.inverse,
        "det": ops.det,
        "cdist": lambda a, b, *, p: ops.cdist(a, b, p),
    }


def _moves(ms: Any) -> dict[str, Callable[..., Any]]:
    ops = ms.ops

    def sort(x: Any, *, dim: int, descending: bool) -> Any:
        return placed(*ops.sort(x, dim, descending))

    def placed(y: Any, places: Any) -> Any:
        return y, places.astype(ms.int64)

    def pad(x: Any, *, pad: tuple[int, ...], mode: str, value: float | None) -> Any:
        return ops.pad(x, pad, mode, value)

    return {
        "reshape": lambda x, *, shape: ops.reshape(x, shape),
        "permute": lambda x, *, dims: ops.permute(x, dims),
        "transpose": lambda x, *, dim0, dim1: ops.swapaxes(x, dim0, dim1),
        "contiguous": ops.deepcopy,
        "expand": lambda x, *, shape: ops.broadcast_to(x, shape),
        "concat": lambda *xs, dim: ops.cat(xs, dim),
        "stack": lambda *xs, dim: ops.stack(xs, dim),
        "split": lambda x, *, sizes, dim: ops.split(x, list(sizes), dim),
        "repeat": lambda x, *, repeats: ops.tile(x, repeats),
        "repeat_interleave": lambda x, *, repeats, dim: ops.repeat_interleave(x, repeats, dim),
        "roll": lambda x, *, shifts, dims: ops.roll(x, shifts, dims),
        "flip": lambda x, *, dims: ops.flip(x, dims),
        "pad": pad,
        "embedding": decline_params("MindSpore", lambda weight, indices: ops.gather(weight, indices, 0), "padding_idx"),
        "index_select": lambda x, index, *, dim: ops.index_select(x, dim, index),
        "gather": lambda x, index, *, dim: ops.gather_elements(x, dim, index),
        "scatter": lambda x, index, src, *, dim: ops.scatter(x, dim, index, src),
        "scatter_add": lambda x, index, src, *, dim: ops.tensor_scatter_elements(x, index, src, dim, "add"),
        "sort": sort,
        "argsort": lambda x, *, dim, descending: ops.argsort(x, dim, descending).astype(ms.int64),
        "topk": lambda x, *, k, dim, largest: placed(*ops.topk(x, k, dim, largest)),
        "one_hot": lambda index, *, num_classes: ops.one_hot(index, num_classes),
    }


def _layers(ms: Any) -> dict[str, Callable[..., Any]]:
    ops, kl_div = ms.ops, ms.mint.nn.functional.kl_div

    def layer_norm(x: Any, weight: Any = None, bias: Any = None, *, normalized_shape: Any, eps: float) -> Any:
        if weight is None or bias is None:
            raise Unsupported("MindSpore's layer_norm on the CPU has a weight and a bias")
        start = x.ndim - len(normalized_shape)
        return ops.LayerNorm(start, start, eps)(x, weight, bias)[0]

    def batch_norm(
        x: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
        *, training: bool, eps: float,
    ) -> Any:  # fmt: skip
        if training or weight is None or bias is None or running_mean is None:
            raise Unsupported("MindSpore's batch_norm on the CPU is mapped with all its tensors, and trained")
        return ops.batch_norm(x, running_mean, running_var, weight, bias, training, 0.1, eps)

    def by_class(function: Callable[..., Any]) -> Callable[..., Any]:
        def loss(x: Any, target: Any, weight: Any = None, **given: Any) -> Any:
            indices = target if target.dtype in (ms.float32, ms.float16) else target.astype(ms.int32)
            if weight is None and function is ops.nll_loss:
                weight = ops.ones((x.shape[1],), x.dtype)
            return function(x, indices, weight, **given)

        return loss

    def bce(x: Any, target: Any, weight: Any = None, pos_weight: Any = None, *, reduction: str) -> Any:
        return ops.binary_cross_entropy_with_logits(x, target, weight, pos_weight, reduction)

    return {
        "layer_norm": layer_norm,
        "group_norm": lambda x, weight=None, bias=None, *, num_groups, eps: ops.group_norm(
            x, num_groups, weight, bias, eps
        ),
        "batch_norm": batch_norm,
        "local_response_norm": lambda x, *, size, alpha, beta, k: ops.lrn(
            x, depth_radius=(size - 1) // 2, bias=k, alpha=alpha / size, beta=beta
        ),
        "cross_entropy": by_class(ops.cross_entropy),
        "nll_loss": by_class(ops.nll_loss),
        "mse_loss": lambda x, target, *, reduction: ops.mse_loss(x, target, reduction),
        "l1_loss": lambda x, target, *, reduction: ops.l1_loss(x, target, reduction),
        "smooth_l1_loss": lambda x, target, *, beta, reduction: ops.smooth_l1_loss(x, target, beta, reduction),
        "huber_loss": lambda x, target, *, delta, reduction: ops.huber_loss(x, target, reduction, delta),
        "kl_div": lambda x, target, *, reduction, log_target: kl_div(x, target, reduction, log_target=log_target),
        "bce_with_logits": bce,
    }


def _windows(ms: Any) -> dict[str, Callable[..., Any]]:
    ops, F = ms.ops, ms.mint.nn.functional

    def conv(function: Callable[..., Any]) -> Callable[..., Any]:
        def convolved(x: Any, weight: Any, bias: Any = None, *, padding: Any, **given: Any) -> Any:
            return function(x, weight, bias, pad_mode="pad", padding=padding, **given)

        return convolved

    def avg_pool(function: Callable[..., Any]) -> Callable[..., Any]:
        def pool(x: Any, *, kernel_size: Any, padding: Any, stride: Any = None, **given: Any) -> Any:
            if not isinstance(padding, int):
                raise Unsupported("MindSpore's pooling is mapped with one padding for all ends")
            if given.get("divisor_override", 0) is None:
                del given["divisor_override"]
            return function(x, kernel_size, kernel_size if stride is None else stride, padding, **given)

        return pool

    def max_pool(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, *, kernel_size, **given: function(x, kernel_size, return_indices=True, **given)

    def upsample(mode: str) -> Callable[..., Any]:
        def resized(x: Any, *, size: Any, align_corners: bool | None = None) -> Any:
            return ops.interpolate(x, tuple(size), mode=mode, align_corners=align_corners)

        return resized

    def grid_sample(x: Any, grid: Any, *, mode: str, padding_mode: str, align_corners: bool) -> Any:
        return ops.grid_sample(x, grid, mode, padding_mode, align_corners)

    return {
        "conv1d": conv(ops.conv1d),
        "conv2d": conv(ops.conv2d),
        "conv3d": conv(ops.conv3d),
        "conv2d_depthwise": lambda x, *given, **params: conv(ops.conv2d)(x, *given, groups=x.shape[1], **params),
        "avg_pool1d": avg_pool(ops.avg_pool1d),
        "avg_pool2d": avg_pool(ops.avg_pool2d),
        "avg_pool3d": avg_pool(ops.avg_pool3d),
        "max_pool2d": max_pool(ops.max_pool2d),
        "max_pool3d": max_pool(ops.max_pool3d),
        "adaptive_avg_pool2d": lambda x, *, output_size: ops.adaptive_avg_pool2d(x, output_size),
        "upsample_nearest": upsample("nearest"),
        "upsample_bilinear": upsample("bilinear"),
        "upsample_bicubic": upsample("bicubic"),
        "pixel_shuffle": lambda x, *, upscale_factor: F.pixel_shuffle(x, upscale_factor),
        "im2col": lambda x, *, kernel_size, **given: ops.unfold(x, kernel_size, **given),
        "grid_sample": grid_sample,
    }
