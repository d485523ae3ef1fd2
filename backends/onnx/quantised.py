"""ONNX's operators of codes by ours: QuantizeLinear, DequantizeLinear, MatMulInteger; MatMulNBits. See model.py."""

from __future__ import annotations

from opproof.backends.onnx.model import ELEMENTS, Entry, Model, ModelInput
from opproof.backends.protocol import Unsupported

_KINDS = ("i8", "u8", "f8e4m3", "f8e5m2")


def _shape_of_scales(m: Model, scale: ModelInput, shape: tuple[int, ...]) -> tuple[str | None, dict[str, int]]:
    """A shape for scales and zero points, None for their own, and ONNX's axis and block_size."""
    if all(n == 1 for n in scale.shape):
        return m.constant(()), {}
    long = [i for i, n in enumerate(scale.shape) if n != 1]
    if len(long) == 1 and scale.shape[long[0]] == shape[long[0]]:
        return m.constant((-1,)), {"axis": long[0]}
    parts = [i for i, (n, whole) in enumerate(zip(scale.shape, shape, strict=True)) if n != whole]
    if len(parts) != 1:
        raise Unsupported("ONNX shares scales along one axis, or in blocks of one")
    (axis,) = parts
    return None, {"axis": axis, "block_size": shape[axis] // scale.shape[axis]}


def _reshape_to(m: Model, x: ModelInput | str, shape: str | None) -> ModelInput | str:
    return x if shape is None else m.node("Reshape", x, shape)


def _check_type(kind: str) -> None:
    if kind not in _KINDS:
        raise Unsupported(f"this adapter reads no {kind} for ONNX, two codes in a byte")


def _make_zero_points(m: Model, zero_point: ModelInput | None, kind: str, shape: str | None) -> str | ModelInput | None:
    return None if zero_point is None else _reshape_to(m, m.node("Cast", zero_point, to=ELEMENTS[kind]), shape)


def quantize_linear(
    m: Model,
    x: ModelInput,
    scale: ModelInput,
    zero_point: ModelInput | None = None,
    *,
    type: str,  # noqa: A002
) -> str:
    """Divide in float32: unless `precision` says so, the scale's dtype is that of the quotient."""
    shape, how = _shape_of_scales(m, scale, x.shape)
    given = None if zero_point is not None else ELEMENTS[type]
    zeros = _make_zero_points(m, zero_point, type, shape)
    return m.node(
        "QuantizeLinear",
        x,
        _reshape_to(m, scale, shape),
        zeros,
        output_dtype=given,
        saturate=1,
        precision=ELEMENTS["f32"],
        **how,
    )


def dequantize_linear(
    m: Model,
    data: ModelInput,
    scale: ModelInput,
    zero_point: ModelInput | None = None,
    *,
    type: str,  # noqa: A002
) -> str:
    _check_type(type)
    shape, how = _shape_of_scales(m, scale, data.shape)
    codes = m.read(data, type)
    return m.node(
        "DequantizeLinear", codes, _reshape_to(m, scale, shape), _make_zero_points(m, zero_point, type, shape), **how
    )


def scaled_matmul(m: Model, x: ModelInput, weight: ModelInput, scale: ModelInput, *, type: str, scales: str) -> str:  # noqa: A002
    if scales != "float":
        raise Unsupported("ONNX has no scales of 8 bits that a library computes with")
    if type == "i4":
        return _of_four_bits(m, x, weight, scale)
    weights = dequantize_linear(m, weight, scale, type=type)
    return m.node("MatMul", x, m.node("Transpose", weights, perm=(1, 0)))


def _of_four_bits(m: Model, x: ModelInput, weight: ModelInput, scale: ModelInput) -> str:
    """ONNX Runtime's own MatMulNBits, whose codes are those of two's complement plus 8: their highest bit changes."""
    rows, k = weight.shape[0], 2 * weight.shape[1]
    parts = scale.shape[1] if scale.rank else 0
    group = k // parts if parts else 0
    if group < 16 or group & (group - 1):
        raise Unsupported("MatMulNBits takes scales of groups of 16, 32, 64 and so on")
    moved = m.node("BitwiseXor", weight, m.constant(0x88, "u8"))
    blocks = m.node("Reshape", moved, m.constant((rows, parts, group // 2)))
    how = {"K": k, "N": rows, "bits": 4, "block_size": group}
    return m.node("MatMulNBits", x, blocks, scale, domain="com.microsoft", **how)


def scaled_mm(m: Model, a: ModelInput, b: ModelInput, scale_a: ModelInput, scale_b: ModelInput, *, type: str) -> str:  # noqa: A002
    """MatMulInteger of integers, of fp8 a product of what they stand for."""
    left, right = m.read(a, type), m.read(b, type)
    kind = ELEMENTS["f64" if scale_a.dtype == "f64" else "f32"]
    if type in ("i8", "u8"):
        products = m.node("MatMulInteger", left, m.node("Transpose", right, perm=(1, 0)))
    else:
        rows, columns = (m.node("Cast", v, to=kind) for v in (left, right))
        products = m.node("MatMul", rows, m.node("Transpose", columns, perm=(1, 0)))
    sums = m.node("Cast", products, to=kind)
    for scale, axis in ((scale_a, 1), (scale_b, 0)):
        wide: str = m.node("Cast", scale, to=kind)
        sums = m.node("Mul", sums, m.node("Unsqueeze", wide, m.constant((axis,))) if scale.rank else wide)
    return m.node("Cast", sums, to=ELEMENTS[scale_a.dtype])


def dynamic_quantize_linear(m: Model, x: ModelInput) -> list[str]:
    y, scale, zero_point = m.nodes_results("DynamicQuantizeLinear", 3, x)
    return [y, scale, m.node("Cast", zero_point, to=ELEMENTS["i64"])]


TABLE: dict[str, Entry] = {
    f.__name__: f for f in (quantize_linear, dequantize_linear, dynamic_quantize_linear, scaled_matmul, scaled_mm)
}
