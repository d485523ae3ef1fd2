"""ONNX's operators of 8-bit integers by ours: MatMulInteger, QLinearMatMul, ConvInteger, QLinearConv. See model.py."""

from __future__ import annotations

from typing import Any

from opproof.backends.onnx.model import ELEMENTS, Entry, Model, ModelInput
from opproof.backends.sizes import to_per_axis


def _make_zero_point(m: Model, zero_point: ModelInput | None, kind: str) -> str | None:
    """A zero point in the type of the codes, as ONNX wants it."""
    return None if zero_point is None else m.node("Cast", zero_point, to=ELEMENTS[kind])


def _expand_columns(
    m: Model, b: ModelInput, like: ModelInput | None, given: ModelInput | str | None
) -> ModelInput | str | None:
    """What stands for each column of b, as ONNX wants it: of a batch of matrices, for each of them."""
    if like is None or like.rank == 0 or b.rank <= 2:
        return given
    return m.node("Expand", given, m.constant((*b.shape[:-2], 1, b.shape[-1])))


def matmul_integer(
    m: Model,
    a: ModelInput,
    b: ModelInput,
    a_zero_point: ModelInput | None = None,
    b_zero_point: ModelInput | None = None,
    *,
    type: str,  # noqa: A002
    b_type: str,
) -> str:
    zeros = (
        _make_zero_point(m, a_zero_point, type),
        _expand_columns(m, b, b_zero_point, _make_zero_point(m, b_zero_point, b_type)),
    )
    return m.node("MatMulInteger", m.read(a, type), m.read(b, b_type), *zeros)


def qlinear_matmul(
    m: Model,
    a: ModelInput,
    a_scale: ModelInput,
    a_zero_point: ModelInput,
    b: ModelInput,
    b_scale: ModelInput,
    b_zero_point: ModelInput,
    y_scale: ModelInput,
    y_zero_point: ModelInput,
    *,
    type: str,  # noqa: A002
    b_type: str,
) -> str:
    left = m.read(a, type), a_scale, _make_zero_point(m, a_zero_point, type)
    shared = (
        _expand_columns(m, b, b_scale, b_scale),
        _expand_columns(m, b, b_zero_point, _make_zero_point(m, b_zero_point, b_type)),
    )
    right = m.read(b, b_type), *shared
    return m.node("QLinearMatMul", *left, *right, y_scale, _make_zero_point(m, y_zero_point, type))


def conv_integer(
    m: Model,
    x: ModelInput,
    weight: ModelInput,
    x_zero_point: ModelInput | None = None,
    weight_zero_point: ModelInput | None = None,
    *,
    type: str,  # noqa: A002
    weight_type: str,
    **how: Any,
) -> str:
    zeros = _make_zero_point(m, x_zero_point, type), _make_zero_point(m, weight_zero_point, weight_type)
    return m.node("ConvInteger", m.read(x, type), m.read(weight, weight_type), *zeros, **_attributes_of_windows(**how))


def qlinear_conv(
    m: Model,
    x: ModelInput,
    x_scale: ModelInput,
    x_zero_point: ModelInput,
    weight: ModelInput,
    weight_scale: ModelInput,
    weight_zero_point: ModelInput,
    y_scale: ModelInput,
    y_zero_point: ModelInput,
    bias: ModelInput | None = None,
    *,
    type: str,  # noqa: A002
    weight_type: str,
    **how: Any,
) -> str:
    image = m.read(x, type), x_scale, _make_zero_point(m, x_zero_point, type)
    kernels = m.read(weight, weight_type), weight_scale, _make_zero_point(m, weight_zero_point, weight_type)
    added = None if bias is None else m.node("Cast", bias, to=ELEMENTS["i32"])
    given = (*image, *kernels, y_scale, _make_zero_point(m, y_zero_point, type), added)
    return m.node("QLinearConv", *given, **_attributes_of_windows(**how))


def _attributes_of_windows(*, stride: Any, padding: Any, dilation: Any, groups: int) -> dict[str, Any]:
    """The attributes of a convolution over two axes."""
    axes = {
        "strides": to_per_axis(stride, 2),
        "pads": 2 * to_per_axis(padding, 2),
        "dilations": to_per_axis(dilation, 2),
    }
    return {**axes, "group": groups}


TABLE: dict[str, Entry] = {f.__name__: f for f in (matmul_integer, qlinear_matmul, conv_integer, qlinear_conv)}
