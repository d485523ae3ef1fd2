"""Numbers that a reference takes out of tensors: they keep their noise, and what they decide is the exact one's.

`x.item()` gives a Python number, from which no dispatch comes. Here it is a float that compares, converts and prints
as in the exact evaluation, and that carries a noisy twin through arithmetic into the next tensor. What leaves it
otherwise (float(x), math.sqrt(x.item())) loses the noise; `Algorithm.SCALAR_NOISE` tells how much of it that was.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from opproof.harness.reference.torch.arithmetic import Algorithm, Arithmetic, copy_nested
from opproof.harness.reference.torch.dtype_leaks import find_line
from opproof.harness.reference.torch.intercept import with_intercepted_functions, with_modes_off

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
