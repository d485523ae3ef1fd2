"""The case that a call is: shapes, parameters, dtypes, memory, and what the values are like."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from opproof.cases import Case
from opproof.cases._layouts import LAYOUTS, storage_of
from opproof.harness.capture.arguments import Call

_DTYPES = {"torch.float64": "f64", "torch.float32": "f32", "torch.float16": "f16", "torch.bfloat16": "bf16"}


def case_of(call: Call) -> Case | None:
    """The case; None where no case is like it: no floats, or results that would be like none of them."""
    floats = {n: _DTYPES.get(str(t.dtype)) for n, t in call.tensors.items() if t.is_floating_point()}
    like = call.op.like if not call.op.variadic else next(iter(call.tensors))
    dtype = next(iter(floats.values()), None) if len(set(floats.values())) == 1 else floats.get(like)
    if dtype is None or None in floats.values():
        return None
    tensors: dict[str, Any] = {}
    known: dict[int, str] = {}
    for name, tensor in call.tensors.items():
        tensors[name] = known.get(id(tensor), tuple(tensor.shape))
        known.setdefault(id(tensor), name)
    if not all(_is_plain(v) for v in call.params.values()):
        return None
    return Case(
        call.op.name,
        tuple(tensors.items()),
        tuple(call.params.items()),
        dtype,
        mixed=tuple((n, d) for n, d in floats.items() if d is not None and d != dtype and tensors[n] not in tensors),
        fill=_fill(next(t for t in call.tensors.values() if t.is_floating_point())),
        layout=_layouts(call),
        needs=_needs(call),
    )


def as_computed(call: Call, case: Case, result: Any) -> Case | None:
    """The case by the dtype of what came; None where it came in one that results of such a case have not.

    Under autocast tensors are converted to one dtype, where PyTorch would not take them together or gives another.
    """
    import torch

    came = _DTYPES.get(str(result.dtype)) if result.is_floating_point() else case.dtype
    if came is not None and torch.is_autocast_enabled(result.device.type):
        converted = came != case.dtype or (bool(case.mixed) and not _is_taken(call, result.device.type))
        return replace(case, dtype=came, mixed=()) if converted else case
    return case if came == case.dtype or not case.mixed else None


def _is_taken(call: Call, device: str) -> bool:
    """Whether PyTorch takes tensors of such dtypes together by itself."""
    import torch

    with torch.no_grad(), torch.autocast(device, enabled=False):
        try:
            call.twin()
        except (RuntimeError, ValueError):
            return False
    return True


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_is_plain(v) for v in value)
    return value is None or isinstance(value, bool | int | float | str)


def _fill(x: Any) -> str:
    """The data of ours that is most like this."""
    values = x.detach().double()
    if not values.numel():
        return "normal"
    mean, spread = float(values.mean()), float(values.std(correction=0))
    if spread == 0 or not math.isfinite(spread):
        return "normal"
    if abs(mean) > 100 * spread:
        return "offset-1e3"
    if abs(mean) > 4 * spread:
        return "offset"
    return "wide" if spread > 3 else "small" if spread < 2**-8 else "normal"


def _layouts(call: Call) -> str:
    named = {n: _layout(t) for n, t in call.tensors.items()}
    apart = {n: layout for n, layout in named.items() if layout != "contiguous"}
    if apart and len(apart) == len(named) and len(set(apart.values())) == 1:
        return next(iter(apart.values()))
    return ",".join(f"{n}:{layout}" for n, layout in apart.items()) or "contiguous"


def _layout(tensor: Any) -> str:
    """The layout of ours whose axes lie in the same order."""
    shape, strides = tuple(tensor.shape), tensor.stride()
    if tensor.is_contiguous():
        return "offset" if tensor.storage_offset() else "contiguous"
    for layout in LAYOUTS:
        if storage_of(shape, layout).strides == strides:
            return layout
    if strides[0] == 0:
        return "broadcast"
    if strides[-1] == 1:
        return "gapped"
    return "permuted" if strides[0] == min(strides) else "transposed"


def _needs(call: Call) -> tuple[str, ...] | None:
    """The tensors whose gradient the program asks for, where it asks for some and not for all."""
    import torch

    floats = {n: t.requires_grad for n, t in call.tensors.items() if t.is_floating_point()}
    if not torch.is_grad_enabled() or all(floats.values()) or not any(floats.values()):
        return None
    return tuple(n for n, wanted in floats.items() if wanted)
