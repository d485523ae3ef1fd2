"""Where a reference leaves float64: float32 constants, conversions, factories with a dtype; kept, named, promoted."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from opproof.harness.truth.torch.arithmetic import Arithmetic

_NARROW = ("float32", "float16", "bfloat16")
_HERE = str(Path(__file__).parent)


def promoted(
    noise: Arithmetic, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """The arguments with narrow floats, and dtypes of narrow floats, made float64; the line is kept."""
    torch = noise.torch
    narrow = {getattr(torch, name): torch.float64 for name in _NARROW}
    narrow[torch.complex64] = torch.complex128
    seen = False

    def wide(value: Any) -> Any:
        nonlocal seen
        if isinstance(value, torch.dtype) and value in narrow:
            seen = True
            return narrow[value]
        if isinstance(value, torch.Tensor) and value.dtype in narrow:
            seen = True
            return value.to(narrow[value.dtype])
        if isinstance(value, tuple | list) and any(isinstance(v, torch.Tensor) for v in value):
            return type(value)(wide(v) for v in value)
        return value

    if func._schema.is_mutable and args and isinstance(args[0], torch.Tensor):
        given = [args[0], *map(wide, args[1:])]
    else:
        given = [wide(v) for v in args]
    named = {k: v if k == "out" else wide(v) for k, v in kwargs.items()}
    if seen:
        noise.promoted.setdefault(line())
    return given, named


def line() -> str:
    """The line of the reference that is being evaluated: file, number, text."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_HERE) and f"{'/'}torch{'/'}" not in file.replace("\\", "/"):
            text = linecache.getline(file, frame.f_lineno).strip()
            return f"{file}:{frame.f_lineno}: {text}" if text else f"{file}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return "the backward pass"
