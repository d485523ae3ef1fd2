"""Casts of a reference's own: shares that it rounds to bfloat16 for a product, as eager code does, a kernel may too.

Which calls cast floats is known of the reference in its own dtypes; in float64 the same calls do nothing, and come in
the same order. There what they give is stored once under noise, and so are the gradients that come back through them.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import count
from pathlib import Path
from typing import Any

from opproof.harness.truth.torch.functions import functions

#: Methods of tensors that cast.
_CASTS = frozenset("to type type_as half bfloat16 float double".split())
#: Calls of the judge's own are none of the reference's.
_OWN = str(Path(__file__).parents[2])
_NARROW = {"torch.float16": "f16", "torch.bfloat16": "bf16"}

#: By the number of a call among all that cast: the dtype in 16 bits that it takes or gives.
Casts = tuple[tuple[int, str], ...]


@contextlib.contextmanager
def recorded(given: Container[int]) -> Iterator[dict[int, str]]:
    """A block of which the casts between floats of 16 bits and wider ones are kept.

    `given`: memory of what it is given, which is widened as it is, and has nothing to be rounded.
    """
    found: dict[int, str] = {}

    def kept(number: int, x: Any, y: Any) -> Any:
        dtypes = str(x.dtype), str(y.dtype)
        own = dtypes[0] not in _NARROW or x.untyped_storage().data_ptr() not in given
        if own and x.is_floating_point() and y.is_floating_point() and len({d in _NARROW for d in dtypes}) > 1:
            found[number] = next(_NARROW[d] for d in dtypes if d in _NARROW)
        return y

    with _counted(kept):
        yield found


def stored(noise: Any, casts: Casts, stores: Mapping[str, Any]) -> AbstractContextManager[None]:
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

    return _counted(given)


def _off(noise: Any, store: Any, y: Any) -> Any:
    """What one store puts `y` off, which has no gradient."""
    from torch.utils._python_dispatch import _disable_current_modes

    with _disable_current_modes(), noise.torch.no_grad():
        plain = y.detach()
        return store.of(noise, plain) - plain


def _counted(answer: Callable[[int, Any, Any], Any]) -> AbstractContextManager[Any]:
    """A block in which `answer` gives what every call gives that casts: by its number, what is cast, and the cast."""
    numbers = count(1)

    def answered(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        y = func(*args, **kwargs)
        if getattr(func, "__name__", "") not in _CASTS or not hasattr(y, "untyped_storage"):
            return y
        if sys._getframe(2).f_code.co_filename.startswith(_OWN):  # who called the function, past the mode
            return y
        return answer(next(numbers), args[0], y)

    return functions(answered)
