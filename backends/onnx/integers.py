"""ONNX's operators of 8-bit integers by ours: MatMulInteger, QLinearMatMul, ConvInteger, QLinearConv. See model.py."""

from __future__ import annotations

from typing import Any

from opproof.backends.onnx.model import ELEMENTS, Entry, Model, Tensor
from opproof.backends.sizes import per_axis


def _zero(m: Model, zero_point: Tensor | None, kind: str) -> str | None:
    """A zero point in the type of the codes, as ONNX wants it."""
    return None if zero_point is None else m.node("Cast", zero_point, to=ELEMENTS[kind])


def _columns(m: Model, b: Tensor, like: Tensor | None, given: Tensor | str | None) -> Tensor | str | None:
    """What stands for each column of b, as ONNX wants it: of a batch of matrices, for each of them."""
    if like is None or like.rank == 0 or b.rank <= 2:
        return given
    return m.node("Expand", given, m.constant((*b.shape[:-2], 1, b.shape[-1])))


def matmul_integer(
    m: Model, a: Tensor, b: Tensor, a_zero_point: Tensor | None = None, b_zero_point: Tensor | None = None, *,
    type: str, b_type: str,  # noqa: A002 - the operator's own name
) -> str:  # fmt: skip
    zeros = _zero(m, a_zero_point, type), _columns(m, b, b_zero_point, _zero(m, b_zero_point, b_type))
    return m.node("MatMulInteger", m.read(a, type), m.read(b, b_type), *zeros)


def qlinear_matmul(
    m: Model, a: Tensor, a_scale: Tensor, a_zero_point: Tensor, b: Tensor, b_scale: Tensor, b_zero_point: Tensor,
    y_scale: Tensor, y_zero_point: Tensor, *, type: str, b_type: str,  # noqa: A002
) -> str:  # fmt: skip
    left = m.read(a, type), a_scale, _zero(m, a_zero_point, type)
    shared = _columns(m, b, b_scale, b_scale), _columns(m, b, b_zero_point, _zero(m, b_zero_point, b_type))
    right = m.read(b, b_type), *shared
    return m.node("QLinearMatMul", *left, *right, y_scale, _zero(m, y_zero_point, type))


def conv_integer(
    m: Model, x: Tensor, weight: Tensor, x_zero_point: Tensor | None = None, weight_zero_point: Tensor | None = None, *,
    type: str, weight_type: str, **how: Any,  # noqa: A002
) -> str:  # fmt: skip
    zeros = _zero(m, x_zero_point, type), _zero(m, weight_zero_point, weight_type)
    return m.node("ConvInteger", m.read(x, type), m.read(weight, weight_type), *zeros, **_windows(**how))


def qlinear_conv(
    m: Model, x: Tensor, x_scale: Tensor, x_zero_point: Tensor, weight: Tensor, weight_scale: Tensor,
    weight_zero_point: Tensor, y_scale: Tensor, y_zero_point: Tensor, bias: Tensor | None = None, *,
    type: str, weight_type: str, **how: Any,  # noqa: A002
) -> str:  # fmt: skip
    image = m.read(x, type), x_scale, _zero(m, x_zero_point, type)
    kernels = m.read(weight, weight_type), weight_scale, _zero(m, weight_zero_point, weight_type)
    added = None if bias is None else m.node("Cast", bias, to=ELEMENTS["i32"])
    given = (*image, *kernels, y_scale, _zero(m, y_zero_point, type), added)
    return m.node("QLinearConv", *given, **_windows(**how))


def _windows(*, stride: Any, padding: Any, dilation: Any, groups: int) -> dict[str, Any]:
    """The attributes of a convolution over two axes."""
    axes = {"strides": per_axis(stride, 2), "pads": 2 * per_axis(padding, 2), "dilations": per_axis(dilation, 2)}
    return {**axes, "group": groups}


TABLE: dict[str, Entry] = {f.__name__: f for f in (matmul_integer, qlinear_matmul, conv_integer, qlinear_conv)}
