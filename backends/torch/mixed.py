"""Calls with floats of several dtypes: PyTorch refuses most, and promotes results in others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from opproof.backends.protocol import Unsupported
from opproof.core.tuples import tuple_of

#: What PyTorch says where it takes one dtype only; it says so by RuntimeError or ValueError.
_REFUSES = ("dtype", "scalar type", "should be the same", "data type", "Promotion for Float8")


def is_mixed(tensors: Sequence[Any]) -> bool:
    """Whether tensors of floats have several dtypes."""
    return len({t.dtype for t in tensors if t is not None and t.is_floating_point()}) > 1


def with_declines() -> AbstractContextManager[None]:
    """PyTorch's refusals of several dtypes as ours."""
    return decline_where(_REFUSES, "PyTorch takes no such dtypes together")


@contextmanager
def decline_where(refusals: Sequence[str], said: str) -> Iterator[None]:
    """Decline, with what is `said` and PyTorch's own words, where it raises an error with one of these `refusals`."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        if not any(words in str(error) for words in refusals):
            raise
        raise Unsupported(f"{said}: {str(error).splitlines()[0]}") from None


def check_unpromoted(function: Callable[..., Any], dtype: Any) -> Callable[..., Any]:
    """`function`, all results of which that are floats have to be of `dtype`. Raises Unsupported for others."""

    def checked(*tensors: Any, **params: Any) -> Any:
        results = function(*tensors, **params)
        for y in tuple_of(results):
            if y.is_floating_point() and y.dtype != dtype:
                raise Unsupported(f"PyTorch gives the result in {y.dtype}, by promotion, not in {dtype}")
        return results

    return checked
