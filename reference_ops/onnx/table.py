"""ONNX operators by our references: an entry takes `ref`, ONNX's inputs and ONNX's attributes.

`ref(name, *tensors, **params)` evaluates one of our operators. An entry may translate attributes, move axes and
combine references; arithmetic of its own it has none. What has no counterpart raises NotOurs, with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from opproof.reference_ops.onnx.moves import MOVES, PLACES
from opproof.reference_ops.onnx.nn import NN
from opproof.reference_ops.onnx.quantised import QUANTISED
from opproof.reference_ops.onnx.sequences import LINEAR, RECURRENT, SIGNALS
from opproof.reference_ops.onnx.shared import NotTranslatable, Ref, apply_chain, axes_of, list_axes
from opproof.reference_ops.onnx.windows import WINDOWS


def _translate_by_name(name: Any, **params: Any) -> Any:
    """An operator of the same inputs and no attributes."""
    return lambda ref, *inputs: ref(name, *inputs, **params)


def _reduce(name: Any) -> Any:
    def entry(ref: Ref, data: Any, axes: Any = None, *, keepdims: Any = 1, noop_with_empty_axes: Any = 0) -> Any:
        dims = axes_of(axes, data.ndim)
        if dims is None and noop_with_empty_axes:
            raise NotTranslatable("a reduction over no axes")
        return ref(name, data, dim=dims, keepdim=bool(keepdims))

    return lambda ref, data, axes=None, **attrs: entry(ref, data, attrs.pop("axes", axes), **attrs)


def _translate_norm(p: Any) -> Any:
    def entry(ref: Ref, data: Any, axes: Any = None, *, keepdims: Any = 1, noop_with_empty_axes: Any = 0) -> Any:
        return ref("norm", data, p=p, dim=axes_of(axes, data.ndim), keepdim=bool(keepdims))

    return lambda ref, data, axes=None, **attrs: entry(ref, data, attrs.pop("axes", axes), **attrs)


def _translate_prod(ref: Ref, data: Any, axes: Any = None, *, keepdims: Any = 1, noop_with_empty_axes: Any = 0) -> Any:
    """Ours takes one axis at a time, or all."""
    dims = axes_of(axes, data.ndim)
    if dims is None and not keepdims:
        return ref("prod", data)
    for d in sorted(range(data.ndim) if dims is None else (d % data.ndim for d in dims), reverse=True):
        data = ref("prod", data, dim=d, keepdim=bool(keepdims))
    return data


def _translate_arg(name: Any) -> Any:
    def entry(ref: Ref, data: Any, *, axis: Any = 0, keepdims: Any = 1, select_last_index: Any = 0) -> Any:
        if not select_last_index:
            return ref(name, data, dim=axis, keepdim=bool(keepdims))
        return data.shape[axis] - 1 - ref(name, ref("flip", data, dims=(axis,)), dim=axis, keepdim=bool(keepdims))

    return entry


def _scan(name: Any, neutral: Any) -> Any:
    def entry(ref: Ref, x: Any, axis: Any, *, exclusive: Any = 0, reverse: Any = 0) -> Any:
        dim = int(axis) % x.ndim
        x = ref("flip", x, dims=(dim,)) if reverse else x
        if exclusive:
            widths = [0, 0] * x.ndim
            widths[2 * (x.ndim - 1 - dim) : 2 * (x.ndim - dim)] = [1, -1]
            x = ref("pad", x, pad=tuple(widths), value=neutral)
        y = ref(name, x, dim=dim)
        return ref("flip", y, dims=(dim,)) if reverse else y

    return entry


def _clip(ref: Ref, x: Any, low: Any = None, high: Any = None, **attrs: Any) -> Any:
    low, high = attrs.get("min", low), attrs.get("max", high)
    number = int if x.dtype.kind in "iu" else float
    return ref("clamp", x, min=None if low is None else number(low), max=None if high is None else number(high))


def _translate_hardsigmoid(ref: Ref, x: Any, *, alpha: Any = 0.2, beta: Any = 0.5) -> Any:
    return ref("clamp", ref("scale", x, s=alpha, b=beta), min=0.0, max=1.0)


def _translate_selu(ref: Ref, x: Any, *, alpha: Any = None, gamma: Any = None) -> Any:
    return ref("selu", x) if alpha is None else ref("scale", ref("elu", x, alpha=alpha), s=gamma)


def _shrink(ref: Ref, x: Any, *, lambd: Any = 0.5, bias: Any = 0.0) -> Any:
    if bias not in (0.0, lambd):
        raise NotTranslatable("a bias that is neither 0 nor lambd")
    return ref("softshrink" if bias else "hardshrink", x, lambd=lambd)


def _translate_prelu(ref: Ref, x: Any, slope: Any) -> Any:
    if slope.ndim == 1 and x.ndim > 1 and slope.shape[0] == x.shape[-1]:  # ONNX's slope lies along the last axis
        order = (*range(x.ndim)[:1], x.ndim - 1, *range(1, x.ndim - 1))
        y = ref("prelu", ref("permute", x, dims=order), slope)
        return ref("permute", y, dims=tuple(int(i) for i in np.argsort(order)))
    raise NotTranslatable("a slope per element; ours is one for all or one per channel")


def _translate_swish(ref: Ref, x: Any, *, alpha: Any = 1.0) -> Any:
    if alpha not in (1.0, 1.702):
        raise NotTranslatable("alpha other than 1 and 1.702")
    return ref("silu" if alpha == 1 else "gelu_quick", x)


def _translate_swiglu(ref: Ref, gate: Any, x: Any, *, alpha: Any = 1.0) -> Any:
    return ref("swiglu", gate, x) if alpha == 1 else ref("mul", _translate_swish(ref, gate, alpha=alpha), x)


def _translate_mean(ref: Ref, *xs: Any) -> Any:
    return ref("scale", apply_chain(ref, "add", xs), s=1 / len(xs))


def _translate_pow(ref: Ref, a: Any, b: Any) -> Any:
    if a.dtype != b.dtype:
        raise NotTranslatable("mixed dtypes")
    return ref("pow", a, b)


def _translate_div(ref: Ref, a: Any, b: Any) -> Any:
    if a.dtype.kind in "iu":
        raise NotTranslatable("integer division; ours is of floats")
    return ref("div", a, b)


def _translate_gemm(
    ref: Ref, a: Any, b: Any, c: Any = None, *, alpha: Any = 1.0, beta: Any = 1.0, transA: Any = 0, transB: Any = 0
) -> Any:
    a = ref("transpose", a, dim0=0, dim1=1) if transA else a
    b = b if transB else ref("transpose", b, dim0=0, dim1=1)
    y = ref("scale", ref("linear", a, b), s=alpha)
    return y if c is None else ref("add", y, ref("scale", c, s=beta))


def _translate_mod(ref: Ref, a: Any, b: Any, *, fmod: Any = 0) -> Any:
    return ref("fmod" if fmod else "remainder", a, b)


def _translate_bit_shift(ref: Ref, a: Any, b: Any, *, direction: Any) -> Any:
    return ref(f"bitwise_{direction.lower()}_shift", a, b)


def _is_inf(ref: Ref, x: Any, *, detect_negative: Any = 1, detect_positive: Any = 1) -> Any:
    y = ref("isinf", x)
    if not detect_negative:
        y = ref("logical_and", y, ref("gt", x, np.zeros_like(x)))
    return y if detect_positive else ref("logical_and", y, ref("lt", x, np.zeros_like(x)))


def _translate_trilu(ref: Ref, x: Any, k: Any = None, *, upper: Any = 1) -> Any:
    return ref("triu" if upper else "tril", x, diagonal=0 if k is None else int(k))


def _translate_softmax(name: Any) -> Any:
    return lambda ref, x, *, axis=-1: ref(name, x, dim=axis)


POINTWISE = {
    "Abs": "abs",
    "Acos": "acos",
    "Asin": "asin",
    "Atan": "atan",
    "Ceil": "ceil",
    "Cos": "cos",
    "Cosh": "cosh",
    "Erf": "erf",
    "Exp": "exp",
    "Floor": "floor",
    "HardSwish": "hardswish",
    "Log": "log",
    "Mish": "mish",
    "Neg": "neg",
    "Reciprocal": "reciprocal",
    "Relu": "relu",
    "Round": "round",
    "Sigmoid": "sigmoid",
    "Sign": "sign",
    "Sin": "sin",
    "Sinh": "sinh",
    "Softsign": "softsign",
    "Sqrt": "sqrt",
    "Tan": "tan",
    "Tanh": "tanh",
    "Add": "add",
    "Sub": "sub",
    "Mul": "mul",
    "MatMul": "matmul",
    "Where": "where",
    "Equal": "eq",
    "Greater": "gt",
    "GreaterOrEqual": "ge",
    "Less": "lt",
    "LessOrEqual": "le",
    "Acosh": "acosh",
    "Asinh": "asinh",
    "Atanh": "atanh",
    "BitwiseAnd": "bitwise_and",
    "BitwiseNot": "bitwise_not",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
    "Det": "det",
    "IsNaN": "isnan",
    "And": "logical_and",
    "Or": "logical_or",
    "Not": "logical_not",
    "Xor": "ne",
    "Identity": "contiguous",
}

MAP: dict[str, Callable[..., Any]] = {
    **{theirs: _translate_by_name(ours) for theirs, ours in POINTWISE.items()},
    "BitShift": _translate_bit_shift,
    "IsInf": _is_inf,
    "Celu": lambda ref, x, *, alpha=1.0: ref("celu", x, alpha=alpha),
    "Clip": _clip,
    "Div": _translate_div,
    "Elu": lambda ref, x, *, alpha=1.0: ref("elu", x, alpha=alpha),
    "Gelu": lambda ref, x, *, approximate="none": ref("gelu", x, approximate=approximate),
    "Gemm": _translate_gemm,
    "HardSigmoid": _translate_hardsigmoid,
    "LeakyRelu": lambda ref, x, *, alpha=0.01: ref("leaky_relu", x, negative_slope=alpha),
    "LogSoftmax": _translate_softmax("log_softmax"),
    "Max": lambda ref, *xs: apply_chain(ref, "maximum", xs),
    "Mean": _translate_mean,
    "Min": lambda ref, *xs: apply_chain(ref, "minimum", xs),
    "Mod": _translate_mod,
    "Pow": _translate_pow,
    "PRelu": _translate_prelu,
    "Selu": _translate_selu,
    "Shrink": _shrink,
    "Softmax": _translate_softmax("softmax"),
    "Softplus": lambda ref, x: ref("softplus", x, threshold=math.inf),
    "Sum": lambda ref, *xs: apply_chain(ref, "add", xs),
    "SwiGLU": _translate_swiglu,
    "Swish": _translate_swish,
    "ThresholdedRelu": lambda ref, x, *, alpha=1.0: ref("threshold", x, threshold=alpha, value=0.0),
    "Trilu": _translate_trilu,
    "ArgMax": _translate_arg("argmax"),
    "ArgMin": _translate_arg("argmin"),
    "CumProd": _scan("cumprod", 1),
    "CumSum": _scan("cumsum", 0),
    "ReduceL1": _translate_norm(1.0),
    "ReduceL2": _translate_norm(2.0),
    "ReduceLogSum": _reduce("log_sum"),
    "ReduceLogSumExp": lambda ref, data, axes=None, *, keepdims=1, noop_with_empty_axes=0: ref(
        "logsumexp", data, dim=list_axes(axes_of(axes, data.ndim), data.ndim), keepdim=bool(keepdims)
    ),
    "ReduceMax": _reduce("amax"),
    "ReduceMean": _reduce("mean"),
    "ReduceMin": _reduce("amin"),
    "ReduceProd": _translate_prod,
    "ReduceSum": _reduce("sum"),
    "ReduceSumSquare": _reduce("sum_square"),
    **LINEAR,
    **PLACES,
    **QUANTISED,
    **RECURRENT,
    **SIGNALS,
    **NN,
    **WINDOWS,
    **MOVES,
}
