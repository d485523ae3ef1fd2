"""Tensors as the judge holds them: values in float64, int64 or bool, and the dtype that they are handed over in."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Kind, round_to
from opproof.core.errors import UsageError

#: PyTorch's names of float dtypes, and ours.
KINDS = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "float8_e4m3fn": "f8e4m3",
    "float8_e5m2": "f8e5m2",
}  # fmt: skip
NAMES = {kind: name for name, kind in KINDS.items()}
#: Of complex dtypes those of their parts: a last axis of two numbers, real and imaginary, holds their values here.
PARTS = {"complex64": "f32", "complex128": "f64"}

CONTIGUOUS = "contiguous"
#: Begins a layout that is as given: its axes from the outermost in memory on, as "axes 0213"; where there are gaps, of
#: each axis how many times, or by how much more than, what lies within it a step is; and numbers before the first.
_AXES = "axes "
#: Of these more than so many are left out: what lies before tells nothing but how a tensor is aligned.
_MAX_OFFSET = 64
#: What lies beside integers; beside floats lies NaN.
_BESIDE_INTEGERS = 77
#: Labels and masks have so many elements at least; and what is added to scores to mask them is no larger.
_MIN_MARKS = 4
_MAX_MASKING_SCORE = -1e4


@dataclass(frozen=True)
class CallTensor:
    """One tensor of a call. `dtype` is PyTorch's name."""

    name: str
    values: Array  # float64, rounded to the dtype; int64; bool
    dtype: str
    param: bool = False  # a parameter or a buffer of a module
    buffer: bool = False
    layout: str = "contiguous"
    leaf: bool = False  # given with requires_grad=True

    @property
    def marks(self) -> bool:
        """Whether its floats say which and not how much: 0 and 1 alone, as of labels, or 0 and what masks scores."""
        if not self.kind or self.leaf or self.param or self.values.size < _MIN_MARKS or self.dtype in PARTS:
            return False
        found = np.unique(self.values)
        return found.size == 2 and (tuple(found) == (0, 1) or (found[1] == 0 and found[0] <= _MAX_MASKING_SCORE))

    @property
    def kind(self) -> str:
        """Our name of its float dtype, "" where it holds no floats."""
        return kind_of(self.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """As PyTorch has it."""
        return self.values.shape[:-1] if self.dtype in PARTS else self.values.shape

    def holding(self, values: Array) -> CallTensor:
        """The same with other values, rounded where they are floats."""
        rounded = round_to(values, DTYPES[self.kind]) if self.kind else values
        return replace(self, values=np.asarray(rounded))


def kind_of(dtype: str) -> str:
    """Our name of a float dtype, of the parts of a complex one, "" for others."""
    return KINDS.get(dtype) or PARTS.get(dtype, "")


def dtype_name_of(dtype: str) -> str:
    """PyTorch's name of a dtype given in our words, in its own, or as a torch.dtype."""
    text = str(dtype).removeprefix("torch.")
    text = NAMES.get(text, text)
    if text not in (*KINDS, "bool", "uint8", "int8", "int16", "int32", "int64"):
        raise UsageError(f"unknown dtype {dtype!r}: expected f32, f16, bf16, f64 or a name of PyTorch's.")
    return text


def take_tensor(
    name: str, value: Any, dtype: str | None = None, *, param: bool = False, buffer: bool = False
) -> CallTensor:
    """A tensor of PyTorch's, or an array, as a `CallTensor`; floats in `dtype` where one is given."""
    array, own = as_array(value)
    if array.dtype.kind == "f":
        kind = dtype_name_of(dtype) if dtype and own not in PARTS else own
        if not kind_of(kind):
            raise UsageError(f"{name} has dtype {own}: expected one of {', '.join((*KINDS, *PARTS))}.")
        leaf = bool(getattr(value, "requires_grad", False))
        return CallTensor(name, np.zeros(0), kind, param, buffer, _find_layout(value), leaf).holding(array)
    return CallTensor(name, array, own, param, buffer, _find_layout(value))


def _find_layout(value: Any) -> str:
    """How a tensor lies in memory: with exchanged axes and gaps, as parts of a projection come, or else contiguous."""
    if not hasattr(value, "is_contiguous") or value.is_contiguous() or 0 in value.stride() or value.dim() > 9:
        return CONTIGUOUS
    order, steps, within = sorted(range(value.dim()), key=value.stride, reverse=True), list[str](), 1
    for axis in reversed(order):
        n, step = value.shape[axis], value.stride(axis)
        if n > 1 and step < within:  # windows that overlap
            return CONTIGUOUS
        step = step if n > 1 else within
        steps.append(f"+{step - within}" if step % within else f"x{step // within}")
        within = step * n
    if {*steps} == {"x1"}:
        return CONTIGUOUS if order == sorted(order) else _AXES + "".join(map(str, order))
    return f"{_AXES}{''.join(map(str, order))} {','.join(reversed(steps))} {value.storage_offset() % _MAX_OFFSET}"


def layout_of_cotangents(tensors: Sequence[CallTensor]) -> str:
    """How gradients come in where tensors lie so: as the first that is not contiguous, without gaps as given."""
    layout = next((t.layout for t in tensors if t.layout != CONTIGUOUS), CONTIGUOUS)
    if not layout.startswith(_AXES):
        return layout
    order = layout.split()[1]
    return CONTIGUOUS if [*order] == sorted(order) else _AXES + order


def as_array(value: Any) -> tuple[Array, str]:
    """Values in float64, int64 or bool, complex ones by their parts; and the dtype they came in."""
    if hasattr(value, "detach"):
        own = str(value.dtype).removeprefix("torch.")
        if "strided" not in str(value.layout):
            raise UsageError(f"a tensor has layout {value.layout}: expected a dense one; give x.to_dense().")
        if own == "complex32" or (value.is_floating_point() and own not in KINDS):
            raise UsageError(f"a tensor has dtype {own}: expected one of {', '.join((*KINDS, *PARTS))}.")
        value = value.detach().cpu()
        value = by_parts(value)
        array = np.array((value.double() if value.is_floating_point() else value).numpy())
    else:
        array = np.array(value)
        own = array.dtype.name
        array = np.stack([array.real, array.imag], -1) if array.dtype.kind == "c" else array
    if array.dtype.kind in "iu":
        return array.astype(np.int64, copy=False), own
    return (array.astype(np.float64, copy=False) if array.dtype.kind in "fV" else array), own


def by_parts(y: Any) -> Any:
    """A tensor of PyTorch's, a complex one with its parts along a last axis."""
    import torch

    return torch.view_as_real(y.resolve_conj()).resolve_neg() if y.is_complex() else y


def to_torch(torch: Any, tensor: CallTensor, device: str) -> Any:
    """The tensor for a call: a leaf in its dtype and layout, with memory of its own."""
    plain = torch.from_numpy(np.array(tensor.values, order="C"))
    plain = torch.view_as_complex(plain) if tensor.dtype in PARTS else plain
    return apply_layout(torch, plain.to(getattr(torch, tensor.dtype)).to(device), tensor.layout)


def apply_layout(torch: Any, plain: Any, layout: str) -> Any:
    """A contiguous tensor in another layout."""
    if layout.startswith(_AXES) and len(layout.split()[1]) == plain.dim():
        return _place_as_given(torch, plain, *layout.removeprefix(_AXES).split())
    if layout == "transposed" and plain.dim() >= 2:
        return plain.transpose(-1, -2).contiguous().transpose(-1, -2)
    if layout == "sliced" and plain.dim():
        wide = _make_room(torch, plain, (*plain.shape[:-1], 2 * plain.shape[-1]))
        wide[..., ::2] = plain
        return wide[..., ::2]
    if layout == "gapped" and plain.dim() >= 2:  # by 4, so that pairs and fours of a row stay together
        return _place_within(torch, plain, (*plain.shape[:-1], plain.shape[-1] + 4))
    if layout == "cropped" and plain.dim() >= 3:
        return _place_within(torch, plain, (*plain.shape[:-2], plain.shape[-2] + 2, plain.shape[-1]))
    if layout == "exchanged" and plain.dim() >= 3:
        return plain.transpose(-2, -3).contiguous().transpose(-2, -3)
    if layout == "channels" and plain.dim() >= 4:  # last in memory, as convolutions like them
        return plain.movedim(1, -1).contiguous().movedim(-1, 1)
    if layout == "offset":
        room = _make_room(torch, plain, (plain.numel() + 3,))
        room[3:] = plain.reshape(-1)
        return room[3:].view(plain.shape)
    if layout == "broadcast" and plain.dim():  # behind the one slice there lie no others that are like it
        return _place_within(torch, plain[:1], plain.shape).expand(plain.shape)
    return plain


def _place_within(torch: Any, plain: Any, shape: tuple[int, ...]) -> Any:
    """The tensor as the first part, along every axis, of a larger one of this shape."""
    room = _make_room(torch, plain, shape)
    part = room[tuple(slice(n) for n in plain.shape)]
    part.copy_(plain)
    return part


def _place_as_given(torch: Any, plain: Any, order: str, steps: str = "", offset: str = "0") -> Any:
    """The tensor with the axes and gaps of a layout as given."""
    strides, within = [0] * plain.dim(), 1
    for axis, step in zip(
        map(int, reversed(order)), reversed(steps.split(",") if steps else ["x1"] * len(order)), strict=True
    ):
        strides[axis] = within * int(step[1:]) if step[0] == "x" else within + int(step[1:])
        within = strides[axis] * plain.shape[axis]
    part = _make_room(torch, plain, (int(offset) + within,)).as_strided(plain.shape, strides, int(offset))
    part.copy_(plain)
    return part


def _make_room(torch: Any, like: Any, shape: tuple[int, ...]) -> Any:
    """Memory for a tensor and what lies beside it, which nobody may read for a number of the tensor."""
    beside = math.nan if like.is_floating_point() or like.is_complex() else _BESIDE_INTEGERS
    return torch.full(shape, beside, device=like.device).to(like.dtype)


def is_float8(kind: str) -> bool:
    """Whether it is our name of a float of 8 bits."""
    return kind in DTYPES and DTYPES[kind].kind is Kind.FLOAT8


def flatten_outputs(outputs: Any) -> list[Any]:
    """The tensors of outputs in any nesting, in order; numbers count as tensors, None does not."""
    import torch

    leaves = [y for y in _walk_leaves(outputs) if y is not None]
    kept = [torch.as_tensor(y) if isinstance(y, int | float | np.ndarray | np.generic) else y for y in leaves]
    for y in kept:
        if not isinstance(y, torch.Tensor):
            raise TypeError(f"an output is a {type(y).__name__}: expected tensors")
    return kept


def _walk_leaves(outputs: Any) -> Iterator[Any]:
    """The leaves of a tree, of whose nodes some may be dataclasses, which PyTorch takes for leaves."""
    from torch.utils._pytree import tree_leaves

    for leaf in tree_leaves(outputs):
        if is_dataclass(leaf) and not isinstance(leaf, type):
            for f in fields(leaf):
                yield from _walk_leaves(getattr(leaf, f.name))
        else:
            yield leaf
