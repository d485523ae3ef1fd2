"""PyTorch's quantised layers of u8 with i8, by the engine that its build prefers; other types through the twins.

Its packed weights are those of a linear layer or a convolution, its results u8. Its biases are floats, divided by the
scales again, so that ties are lost: integer biases go through the twins too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opproof.backends.sizes import to_per_axis
from opproof.reference_ops import load


def _make_weights(torch: Any, data: Any, scale: Any, zero_point: Any) -> Any:
    """Codes of i8 whose first axis has scales of its own, or shares one."""
    codes = data.contiguous().view(torch.int8)
    if scale.ndim:
        return torch._make_per_channel_quantized_tensor(codes, scale.double(), zero_point, 0)  # noqa: SLF001
    return torch._make_per_tensor_quantized_tensor(codes, float(scale), int(zero_point))  # noqa: SLF001


def _make_image(torch: Any, data: Any, scale: Any, zero_point: Any) -> Any:
    return torch._make_per_tensor_quantized_tensor(data.contiguous(), float(scale), int(zero_point))  # noqa: SLF001


def _can_take(given: Any, weight: Any, kinds: tuple[str, str]) -> bool:
    """Whether these layers take the types and sizes."""
    return kinds == ("u8", "i8") and 0 not in (*given.shape, *weight.shape)


def qlinear_matmul(
    torch: Any, a: Any, a_scale: Any, a_zero_point: Any, b: Any, b_scale: Any, b_zero_point: Any, y_scale: Any,
    y_zero_point: Any, *, type: str, b_type: str,  # noqa: A002 - the operator's own name
) -> Any:  # fmt: skip
    if not _can_take(a, b, (type, b_type)) or b.ndim != 2:
        given = (a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point)
        return load("qlinear_matmul").torch(torch, *given, type=type, b_type=b_type)  # type: ignore[misc]
    layer = torch.ops.quantized.linear_prepack(_make_weights(torch, b.t(), b_scale, b_zero_point), None)
    rows = _make_image(torch, a, a_scale, a_zero_point)
    return torch.ops.quantized.linear(rows, layer, float(y_scale), int(y_zero_point)).int_repr()


def qlinear_conv(
    torch: Any, x: Any, x_scale: Any, x_zero_point: Any, weight: Any, weight_scale: Any, weight_zero_point: Any,
    y_scale: Any, y_zero_point: Any, bias: Any = None, *, type: str, weight_type: str,  # noqa: A002
    stride: Any, padding: Any, dilation: Any, groups: int,
) -> Any:  # fmt: skip
    if bias is not None or not _can_take(x, weight, (type, weight_type)):
        given = (x, x_scale, x_zero_point, weight, weight_scale, weight_zero_point, y_scale, y_zero_point, bias)
        how = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        return load("qlinear_conv").torch(torch, *given, type=type, weight_type=weight_type, **how)  # type: ignore[misc]
    windows = [to_per_axis(v, 2) for v in (stride, padding, dilation)]
    kernels = _make_weights(torch, weight, weight_scale, weight_zero_point)
    layer = torch.ops.quantized.conv2d_prepack(kernels, None, *windows, groups)
    image = _make_image(torch, x, x_scale, x_zero_point)
    return torch.ops.quantized.conv2d(image, layer, float(y_scale), int(y_zero_point)).int_repr()


NATIVE: dict[str, Callable[..., Any]] = {"qlinear_matmul": qlinear_matmul, "qlinear_conv": qlinear_conv}
