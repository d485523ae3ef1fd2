"""Where a reference leaves float64: float32 constants, conversions, factories with a dtype; kept, named, promoted."""

from __future__ import annotations

import contextlib
import functools
import linecache
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from opproof.harness.truth.torch.arithmetic import Arithmetic
from opproof.harness.truth.torch.functions import functions

_NARROW = ("float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
_HERE = str(Path(__file__).parent)


def promoted(
    noise: Arithmetic, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """The arguments with narrow floats, and dtypes of narrow floats, made float64; the line is kept."""
    torch, narrow, seen = noise.torch, _wider(), False

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


@functools.cache
def _wider() -> dict[Any, Any]:
    import torch

    return {**{getattr(torch, name): torch.float64 for name in _NARROW}, torch.complex64: torch.complex128}


def to_eight_bits(noise: Arithmetic, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A conversion to floats of 8 bits, which is a step like round(): what comes after it knows nothing finer.

    None for all else. `unrounded` of the result is what was converted: an output is rounded where it is judged.
    """
    torch = noise.torch
    dtype = kwargs.get("dtype")
    if func._schema.name != "aten::_to_copy" or dtype not in (torch.float8_e4m3fn, torch.float8_e5m2):
        return None
    wide = args[0].to(torch.float64)
    noise.promoted.setdefault(line())
    y = noise.decided("a conversion to 8 bits", lambda: wide.to(dtype).to(torch.float64))
    y.unrounded = wide
    return y


def constants(noise: Arithmetic) -> Any:
    """A block that names the lines at which numbers become tensors without a dtype, which are float32 elsewhere.

    Here they are float64, the default while the reference is evaluated. Only the exact evaluation looks.
    """
    if not noise.exact:
        return contextlib.nullcontext()
    torch = noise.torch
    from torch.utils._python_dispatch import _disable_current_modes

    makers = {torch.tensor, torch.as_tensor, torch.scalar_tensor, torch.full, torch.linspace, torch.logspace}

    def answered(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        y = func(*args, **kwargs)
        if func in makers and kwargs.get("dtype") is None and y.dtype == torch.float64:
            given = any(isinstance(v, torch.Tensor) or hasattr(v, "dtype") for v in args[:1])
            if not given:
                with _disable_current_modes():  # or the comparison would be one of the reference's
                    kept(noise, y)
        return y

    return functions(answered)


def kept(noise: Arithmetic, y: Any) -> None:
    """Keep the line at which `y` came into being, where it holds what float32 does not."""
    if noise.exact and not noise.torch.equal(y, y.float().double()):
        noise.promoted.setdefault(line())


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
