"""Write a summary as JSON that a diff shows well: an entry of a list or table stands on one line."""

from __future__ import annotations

import json
import math
from typing import Any

#: Letters of a line that is broken no further.
WIDTH = 160


def dumped(value: Any) -> str:
    """Return `value` as JSON. Raises ValueError where a float is not finite: see `kept`."""
    return _laid_out(value, 0, in_list=False) + "\n"


def kept(value: float, digits: int) -> float | int | str:
    """Return a figure with the digits that are kept of it; one that is not finite is a word."""
    if not math.isfinite(value):
        return str(value)
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and math.copysign(1, rounded) > 0 else rounded


def _laid_out(value: Any, depth: int, *, in_list: bool) -> str:
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if not value or (depth and (len(line) <= WIDTH or not _breaks(value, in_list=in_list))):
        return line
    if isinstance(value, dict):
        entries = [f"{json.dumps(key)}: {_laid_out(one, depth + 1, in_list=False)}" for key, one in value.items()]
    else:
        entries = [_laid_out(one, depth + 1, in_list=True) for one in value]
    inner = "\n" + " " * (depth + 1)
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return f"{begin}{inner}{f',{inner}'.join(entries)}\n{' ' * depth}{end}"


def _breaks(value: Any, *, in_list: bool) -> bool:
    """Whether a long value has lines of its own: a table, and a list of lists or tables."""
    if in_list:
        return any(_holds(one) for one in _within(value))
    return isinstance(value, dict) or _holds(value)


def _holds(value: Any) -> bool:
    return any(isinstance(one, list | dict) for one in _within(value))


def _within(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
