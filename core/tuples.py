"""One value or a tuple: what functions with one or several results give and take."""

from collections.abc import Sequence
from typing import Any


def tuple_of(result: Any) -> tuple[Any, ...]:
    """What a function gave as a tuple, whether it was one value or several."""
    return tuple(result) if isinstance(result, tuple | list) else (result,)


def unpack_single(values: Sequence[Any]) -> Any:
    """The inverse of `tuple_of`: one value by itself, several as a tuple."""
    return values[0] if len(values) == 1 else tuple(values)
