"""Where a reference leaves float64: float32 constants, conversions, factories with a dtype, casts, Python's numbers.

Which calls cast floats is known of the reference in its own dtypes; in float64 the same calls do nothing and come
in the same order. What they give there is stored once under noise, and so are the gradients that come back
through them.

`x.item()` gives a Python number, from which no dispatch comes. Here it is a float that compares, converts and prints
as in the exact evaluation, and that carries a noisy twin through arithmetic into the next tensor. What leaves it
otherwise (float(x), math.sqrt(x.item())) loses the noise; `Algorithm.SCALAR_NOISE` tells how much of it that was.
"""

from __future__ import annotations

import contextlib
import functools
import linecache
import sys
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import count
from pathlib import Path
from typing import Any, Self

from opproof.harness.reference.torch.arithmetic import Algorithm, Arithmetic, copy_nested
from opproof.harness.reference.torch.intercept import with_intercepted_functions, with_modes_off

_NARROW_DTYPES = ("float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
_HERE = str(Path(__file__).parent)


def widen_arguments(
    noise: Arithmetic, args: Sequence[Any], kwargs: Mapping[str, Any], *, keep_first: bool
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """The arguments with narrow floats, and dtypes of narrow floats, made float64; the line is kept.

    `keep_first`: a tensor that comes first is written to, and stays what it is.
    """
    torch, narrow = noise.torch, _map_wider_dtypes()
    if not (_holds_narrow(torch, narrow, args) or (kwargs and _holds_narrow(torch, narrow, kwargs.values()))):
        return args, kwargs
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

    if keep_first and args and isinstance(args[0], torch.Tensor):
        given = [args[0], *map(wide, args[1:])]
    else:
        given = [wide(v) for v in args]
    named = {k: v if k == "out" else wide(v) for k, v in kwargs.items()}
    if seen:
        noise.promoted.setdefault(find_line())
    return given, named


def _holds_narrow(torch: Any, narrow: Container[Any], values: Iterable[Any]) -> bool:
    """Whether a narrow dtype, a tensor of one, or a list that may hold one is among the values."""
    for v in values:
        if isinstance(v, torch.Tensor):
            if v.dtype in narrow:
                return True
        elif isinstance(v, torch.dtype):
            if v in narrow:
                return True
        elif isinstance(v, tuple | list) and _holds_narrow(torch, narrow, v):
            return True
    return False


@functools.cache
def _map_wider_dtypes() -> dict[Any, Any]:
    import torch

    return {**{getattr(torch, name): torch.float64 for name in _NARROW_DTYPES}, torch.complex64: torch.complex128}


def to_eight_bits(noise: Arithmetic, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A conversion to floats of 8 bits, which is a step like round(): what comes after it knows nothing finer.

    None for all else. `unrounded` of the result is what was converted: an output is rounded where it is judged.
    """
    torch = noise.torch
    dtype = kwargs.get("dtype")
    if func._schema.name != "aten::_to_copy" or dtype not in (torch.float8_e4m3fn, torch.float8_e5m2):
        return None
    wide = args[0].to(torch.float64)
    noise.promoted.setdefault(find_line())
    y = noise.decide("a conversion to 8 bits", lambda: wide.to(dtype).to(torch.float64))
    y.unrounded = wide
    return y


def with_named_constants(noise: Arithmetic) -> Any:
    """A block that names the lines at which numbers become tensors without a dtype, which are float32 elsewhere.

    Here they are float64, the default while the reference is evaluated. Only the exact evaluation looks.
    """
    if not noise.exact:
        return contextlib.nullcontext()
    torch = noise.torch
    makers = {torch.tensor, torch.as_tensor, torch.scalar_tensor, torch.full, torch.linspace, torch.logspace}

    def answered(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        y = func(*args, **kwargs)
        if func in makers and kwargs.get("dtype") is None and y.dtype == torch.float64:
            given = any(isinstance(v, torch.Tensor) or hasattr(v, "dtype") for v in args[:1])
            if not given:
                with with_modes_off():  # or the comparison would be one of the reference's
                    keep_line(noise, y)
        return y

    return with_intercepted_functions(answered)


def keep_line(noise: Arithmetic, y: Any) -> None:
    """Keep the line at which `y` came into being, where it holds what float32 does not."""
    if noise.exact and not noise.torch.equal(y, y.float().double()):
        noise.promoted.setdefault(find_line())


def find_line() -> str:
    """The line of the reference that is being evaluated: file, number, text."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_HERE) and f"{'/'}torch{'/'}" not in file.replace("\\", "/"):
            text = linecache.getline(file, frame.f_lineno).strip()
            return f"{file}:{frame.f_lineno}: {text}" if text else f"{file}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return "the backward pass"


#: Methods of tensors that cast.
_CASTS = frozenset("to type type_as half bfloat16 float double".split())
#: Calls of the judge's own are none of the reference's.
_OWN = str(Path(__file__).parents[2])
_NARROW_NAMES = {"torch.float16": "f16", "torch.bfloat16": "bf16"}

#: By the number of a call among all that cast: the dtype in 16 bits that it takes or gives.
Casts = tuple[tuple[int, str], ...]


def with_recorded_casts(given: Container[int], found: dict[int, str]) -> AbstractContextManager[Any]:
    """A block of which `found` gets the casts between f16 or bf16 and wider floats.

    `given`: memory of what it is given, which is widened as it is, and has nothing to be rounded.
    """

    def kept(number: int, x: Any, y: Any) -> Any:
        dtypes = str(x.dtype), str(y.dtype)
        own = dtypes[0] not in _NARROW_NAMES or x.untyped_storage().data_ptr() not in given
        if own and x.is_floating_point() and y.is_floating_point() and len({d in _NARROW_NAMES for d in dtypes}) > 1:
            found[number] = next(_NARROW_NAMES[d] for d in dtypes if d in _NARROW_NAMES)
        return y

    return _with_counted_casts(kept)


def with_stored_casts(noise: Any, casts: Casts, stores: Mapping[str, Any]) -> AbstractContextManager[None]:
    """A block in which what these casts give is stored in their dtype, once, and the gradients of it are."""
    of = dict(casts)
    if noise.exact or not of:
        return contextlib.nullcontext()

    def given(number: int, x: Any, y: Any) -> Any:
        del x
        if number not in of or not y.is_floating_point():
            return y
        store = stores[of[number]]
        z = y + _off(noise, store, y)
        if z.requires_grad:
            z.register_hook(lambda g: g + _off(noise, store, g))
        return z

    return _with_counted_casts(given)


def _off(noise: Any, store: Any, y: Any) -> Any:
    """What one store puts `y` off, which has no gradient."""
    with with_modes_off(), noise.torch.no_grad():
        plain = y.detach()
        return store.of(noise, plain) - plain


def _with_counted_casts(answer: Callable[[int, Any, Any], Any]) -> AbstractContextManager[Any]:
    """A block in which `answer` gives what every call gives that casts: by its number, what is cast, and the cast."""
    numbers = count(1)

    def answered(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        y = func(*args, **kwargs)
        if getattr(func, "__name__", "") not in _CASTS or not hasattr(y, "untyped_storage"):
            return y
        if sys._getframe(2).f_code.co_filename.startswith(_OWN):  # who called the function, past the mode
            return y
        return answer(next(numbers), args[0], y)

    return with_intercepted_functions(answered)


#: Methods that make Python numbers of tensors; the first two keep their noise.
_KEEP = ("item", "tolist")
_TAKE = (*_KEEP, "__float__", "__int__", "__bool__", "__index__", "__complex__", "__format__", "__contains__")
#: Of quotients and remainders in integers there is the exact one alone: noise would step.
_ARITHMETIC = "add radd sub rsub mul rmul truediv rtruediv pow rpow".split()


class NoisyNumber(float):
    """A number of the exact evaluation, and the noisy one in its place."""

    noisy: float

    def __new__(cls, exact: float, noisy: float) -> Self:
        made = super().__new__(cls, exact)
        made.noisy = noisy
        return made

    def __neg__(self) -> NoisyNumber:
        return NoisyNumber(-float(self), -self.noisy)

    def __abs__(self) -> NoisyNumber:
        return NoisyNumber(abs(float(self)), abs(self.noisy) if float(self) else self.noisy)


def _make_arithmetic_method(name: str) -> Callable[[NoisyNumber, Any], Any]:
    method = getattr(float, f"__{name}__")

    def computed(self: NoisyNumber, other: Any) -> Any:
        if not isinstance(other, int | float):  # a tensor answers by itself, with the noisy number
            return NotImplemented
        exact = method(float(self), float(other))
        noisy = method(self.noisy, noisy_of(other) * 1.0)
        return NoisyNumber(exact, noisy) if isinstance(exact, float) and isinstance(noisy, float) else exact

    return computed


for _name in _ARITHMETIC:
    setattr(NoisyNumber, f"__{_name}__", _make_arithmetic_method(_name))


def noisy_of(value: Any) -> Any:
    """The noisy number of one that has it; all else as it is."""
    return value.noisy if isinstance(value, NoisyNumber) else value


def unpack_numbers(args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments of an operation, noisy numbers in place of exact ones."""
    return tuple(_unpack_nested(v) for v in args), {k: _unpack_nested(v) for k, v in kwargs.items()}


def _unpack_nested(value: Any) -> Any:
    if isinstance(value, tuple | list) and any(isinstance(v, NoisyNumber | tuple | list) for v in value):
        return type(value)(map(_unpack_nested, value)) if type(value) in (tuple, list) else value
    return noisy_of(value)


def _combine_numbers(exact: Any, noisy: Any) -> Any:
    if isinstance(exact, list):
        return [_combine_numbers(e, n) for e, n in zip(exact, noisy, strict=True)]
    return NoisyNumber(exact, noisy) if isinstance(exact, float) else exact


def with_noisy_numbers(noise: Arithmetic) -> Any:
    """A block that names the lines which take numbers out of float tensors, and keeps their noise.

    Noisy evaluations look where the exact one found such a line.
    """
    if not noise.exact and not noise.tape.taken:
        return contextlib.nullcontext()
    takes = {getattr(noise.torch.Tensor, name): name for name in _TAKE}

    def answered(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        args, kwargs = unpack_numbers(args, kwargs)
        if func not in takes or not args[0].is_floating_point():
            return func(*args, **kwargs)
        if noise.exact:
            noise.tape.taken.setdefault(find_line())
        with with_modes_off():
            plain = args[0].detach()
            kept = noise.tape.kept("taken", lambda: copy_nested(plain))
            exact, noisy = (func(v, *args[1:], **kwargs) for v in (kept, plain))
        if noise.exact or noise.algorithm is Algorithm.SCALAR_NOISE:
            return noisy
        return _combine_numbers(exact, noisy) if takes[func] in _KEEP else exact

    return with_intercepted_functions(answered)
