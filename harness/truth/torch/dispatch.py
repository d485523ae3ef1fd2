"""One operation of PyTorch under noise: what it is, by its name, decides where the noise goes.

Rules first, then what moves or makes, what is decided, what rounds once; all else is decomposed, under the same noise,
and what cannot be decomposed is refused.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from opproof.core.errors import OpError
from opproof.harness.truth.torch import complexes, constants, exactly, places, stores
from opproof.harness.truth.torch.alignments import ALIGNMENTS
from opproof.harness.truth.torch.arithmetic import Arithmetic, OutOfTime, copied
from opproof.harness.truth.torch.bags import BAGS
from opproof.harness.truth.torch.complements import made_of_others
from opproof.harness.truth.torch.draws import draws
from opproof.harness.truth.torch.formulas import FORMULAS, MEASURED
from opproof.harness.truth.torch.intercepted import intercepted
from opproof.harness.truth.torch.losses import LOSSES
from opproof.harness.truth.torch.matrices import MATRICES
from opproof.harness.truth.torch.numbers import taking
from opproof.harness.truth.torch.pulled import scattered
from opproof.harness.truth.torch.resized import RESIZED
from opproof.harness.truth.torch.rules import CREATES, DECIDES, MOVES, MOVES_IN_PLACE, ROUNDS, SATURATES, STEPS
from opproof.harness.truth.torch.sampled import SAMPLED
from opproof.harness.truth.torch.scattered import SCATTERED
from opproof.harness.truth.torch.segments import SEGMENTS
from opproof.harness.truth.torch.selections import SELECTIONS
from opproof.harness.truth.torch.sums import SUMS
from opproof.harness.truth.torch.windows import WINDOWS

#: What is said of operations that take functions; `{}` is the operation.
TAKES_FUNCTIONS = (
    "{} takes functions and compiles them, so that the judge does not see their steps: write the reference with plain "
    "operations, attention with a score function as scores + bias, softmax and a product."
)
#: What is said where bits of floats become another number; `{}` is the dtype that they are read as.
READS_BITS = (
    "The reference reads bits as {0} (x.view({0})): of float64, in which it is evaluated, they are others. Give what "
    "it reads as an input, or leave this step out of the reference and the candidate."
)

#: What gives places, by an order that NaN has none in.
_CHOOSES = frozenset(("argmax", "argmin", "argsort", "max", "min", "sort", "topk", "kthvalue", "median"))
_RULES = {**SUMS, **SELECTIONS, **WINDOWS, **RESIZED, **MATRICES, **SCATTERED}
_STEPWISE = {**FORMULAS, **SAMPLED, **BAGS, **LOSSES, **SEGMENTS, **ALIGNMENTS}


@contextlib.contextmanager
def noisy(noise: Arithmetic) -> Iterator[None]:
    """A block in which PyTorch computes as `noise` says: float64 by default, attention as its formula."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    torch = noise.torch
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        alike = sdpa_kernel(SDPBackend.MATH), torch.backends.mkldnn.flags(enabled=False)
        with alike[0], alike[1], intercepted(partial(_counted, noise)), places.constants(noise), taking(noise):
            yield
    finally:
        torch.set_default_dtype(default)


def _counted(noise: Arithmetic, mode: Any, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    return stores.counted(noise, func, _flat((args, kwargs)), lambda: answer(noise, mode, func, args, kwargs))


def answer(noise: Arithmetic, mode: Any, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What `func` gives in this arithmetic. Raises OpError, with its name, where it has no rule, and OutOfTime."""
    if noise.late():
        raise OutOfTime
    if not hasattr(func, "_schema"):
        raise OpError(TAKES_FUNCTIONS.format(f"{func} of PyTorch"))
    if any(getattr(v, "is_meta", False) for v in args):  # forward mode asks for shapes alone
        return func(*args, **kwargs)
    if str(func) == "aten.view.dtype" and _is_float(args[0]):
        raise OpError(READS_BITS.format(args[1]))
    if str(func) == "aten.view.dtype" and args[1].is_floating_point:  # whole numbers are bits as they are
        return func(*args).to(noise.torch.float64)
    if (narrowed := places.to_eight_bits(noise, func, args, kwargs)) is not None:
        return narrowed
    args, kwargs = places.promoted(noise, func, args, kwargs)
    if noise.scattered:
        return scattered(noise, (args, kwargs), lambda: _answered(noise, mode, func, args, kwargs))
    return _answered(noise, mode, func, args, kwargs)


def _answered(noise: Arithmetic, mode: Any, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    if func._schema.is_mutable:
        return _in_place(noise, mode, func, args, kwargs)
    return _functional(noise, mode, func, args, kwargs)


def _functional(noise: Arithmetic, mode: Any, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    name = name_of(func)
    if draws(func):
        return noise.random(func._schema.name, lambda: func(*args, **kwargs))
    args, kwargs = constants.rounded(noise, name, *made_of_others(noise, name, args, kwargs))
    floats = any(map(_is_float, args)) or any(_is_float(v) for v in _flat((args, kwargs)))
    if name == "_local_scalar_dense" or (not floats and name not in ROUNDS):  # a number for an operation's own use
        return func(*args, **kwargs)
    if noise.exact and name in _CHOOSES:
        noise.tape.unordered |= any(bool(v.isnan().any()) for v in args if _is_float(v))
    if name in _RULES:
        return noise.laid(_RULES[name](noise, func, *args, **kwargs))
    if name in STEPS or name in DECIDES or kwargs.get("rounding_mode") is not None:
        return noise.decided(name, lambda: func(*args, **kwargs))
    if name in MOVES or name in CREATES:
        return _moved(noise, name, func(*args, **kwargs))
    if name in ROUNDS:
        noise.saturates |= name in SATURATES
        y = func(*args, **kwargs)
        if not _is_float(y):
            return y
        if not floats:  # whole numbers with a factor: float32 elsewhere
            places.kept(noise, y)
        if name in ("mul", "div") and any(exactly.is_power_of_two(v) for v in args[:2]):
            return y
        if y.is_complex():
            return complexes.rounded(noise, name, args, y)
        if name in ("add", "sub") and "alpha" not in kwargs:
            return _added(noise, y, *args[:2])
        return exactly.in_places(noise, name, args, y, noise.rounded(y))
    return _decomposed(noise, mode, func, args, kwargs)


def _added(noise: Arithmetic, y: Any, a: Any, b: Any) -> Any:
    """`y` = a ± b, rounded; the nearest number is no further off than a or b, which are numbers themselves.

    So gradients of slices meet, one number and zeros, without an error, and -1e30 + b, which is -1e30, has that of b.
    """
    z, torch = noise.rounded(y), noise.torch
    if noise.amplitudes is None or not y.numel():
        return z
    least = torch.minimum(*(v.abs() if hasattr(v, "shape") else torch.tensor(abs(float(v))) for v in (a, b)))
    most = noise.amplitudes.u * y.abs()
    small = (least <= most) & y.isfinite()
    if not bool(small.any()):
        return z
    return torch.where(small, y if noise.scattered else y + (z - y) * (least / most).nan_to_num(0.0), z)


def _moved(noise: Arithmetic, name: str, y: Any) -> Any:
    """`y`; where it became whole numbers or booleans, those of the exact evaluation."""
    return noise.decided(name, lambda: y) if hasattr(y, "shape") and not _is_float(y) else y


def _decomposed(noise: Arithmetic, mode: Any, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    from torch._decomp import decomposition_table

    name, saturates = name_of(func), noise.saturates
    with mode:
        if name in _STEPWISE:
            y = noise.laid(_STEPWISE[name](noise, func, *args, **kwargs))
            noise.saturates = saturates if name in MEASURED else noise.saturates
            return y
        if func in decomposition_table:
            y = decomposition_table[func](*args, **kwargs)
            if y is not NotImplemented:
                return y
        y = func.decompose(*args, **kwargs)
    if y is not NotImplemented:
        return y
    result = func(*args, **kwargs)  # what only decides needs no rule
    if all((hasattr(v, "shape") and not _is_float(v)) or isinstance(v, bool) for v in _flat(result)):
        return noise.decided(name, lambda: result)
    raise OpError(
        f"{func} of PyTorch has no rule under noise: write the reference with other operations, "
        f"or give it a rule in harness/truth/torch/."
    )


def _in_place(noise: Arithmetic, mode: Any, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """An operation that changes what it is given: the functional one, and its result copied."""
    name, target = name_of(func), args[0]
    if name in MOVES_IN_PLACE:
        return func(*args, **kwargs)
    if name in ("copy_", "fill_"):
        y = func(*args, **kwargs)
        source = args[1]
        return target.copy_(noise.decided(name, lambda: y)) if _is_float(source) and not _is_float(target) else y
    if draws(func):
        return target.copy_(noise.random(func._schema.name, lambda: copied(func(*args, **kwargs))))
    if name.endswith("_") and func._schema.returns:
        plain = _functional_of(noise, name[:-1], func)
        if plain is not None:
            return target.copy_(answer(noise, mode, plain, args, kwargs))
    into = [a.name for a in func._schema.arguments if a.is_out and a.name in kwargs]
    plain = _functional_of(noise, name, func) if into else None
    if plain is not None:
        y = answer(noise, mode, plain, args, {k: v for k, v in kwargs.items() if k not in into})
        made = y if isinstance(y, tuple) else (y,)
        found = [kwargs[k].resize_(v.shape).copy_(v) for k, v in zip(into, made, strict=True)]
        return tuple(found) if isinstance(y, tuple) else found[0]
    return _decomposed(noise, mode, func, args, kwargs)


def _functional_of(noise: Arithmetic, name: str, func: Any) -> Any:
    """The overload of `name` that takes what `func` does: pow.Tensor_Scalar for pow_.Scalar, add.Tensor for add.out."""
    packet = getattr(noise.torch.ops.aten, name, None)

    def taken(overload: Any) -> list[str]:
        return [str(a.type) for a in overload._schema.arguments if not a.is_out]

    named = [func._overloadname or "default", *(packet.overloads() if packet is not None else ())]
    found = (_overload(noise, name, overload) for overload in named)
    return next((f for f in found if f is not None and not f._schema.is_mutable and taken(f) == taken(func)), None)


def _overload(noise: Arithmetic, name: str, overload: str) -> Any:
    return getattr(getattr(noise.torch.ops.aten, name, None), overload or "default", None)


@functools.cache
def name_of(func: Any) -> str:
    """The operation's name without namespace and overload."""
    return str(func._schema.name.partition("::")[2])


def _is_float(value: Any) -> bool:
    return hasattr(value, "untyped_storage") and (value.is_floating_point() or value.is_complex())


def _flat(values: Any) -> Iterator[Any]:
    if isinstance(values, Mapping):
        values = list(values.values())
    if isinstance(values, tuple | list):
        for v in values:
            yield from _flat(v)
    else:
        yield values
