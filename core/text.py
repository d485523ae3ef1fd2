"""Texts that others wrote, made fit to be kept and shown: every character prints, and there are not too many.

JSON that is kept is written so that a diff shows it well: an entry of a list or table stands on one line.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

#: Bytes of UTF-8 that one text of a backend may take.
MAX_TEXT_BYTES = 4096

# Beside these, a character is asked whether it prints.
_UNUSUAL = re.compile(r"[^\x20-\x7e\t\n]")


def escape_unprintable(text: str) -> str:
    r"""`text`, of which all that does not print is escaped as Python does it: \x1b, \u202e (bidirectional), \udc80.

    Tabs and line ends stay; \r\n is a line end.
    """
    if type(text) is str and text.isascii() and text.isprintable():  # most are, and this is ten times as fast
        return text
    # Not text.replace: the text may be of a class of the backend's own.
    return _UNUSUAL.sub(_escape, str.replace(text, "\r\n", "\n"))


def make_plain(text: str) -> str:
    """`escape_unprintable`, and cut at MAX_TEXT_BYTES bytes of UTF-8, the last character then an ellipsis."""
    short = escape_unprintable(
        text[: 2 * MAX_TEXT_BYTES + 2]
    )  # which are more than MAX_TEXT_BYTES also where half of them are carriage returns
    if 4 * len(short) <= MAX_TEXT_BYTES:
        return short
    encoded = short.encode()
    return (
        short
        if len(encoded) <= MAX_TEXT_BYTES
        else encoded[: MAX_TEXT_BYTES - len("…".encode())].decode(errors="ignore") + "…"
    )


def text_of(error: BaseException) -> str:
    """What an exception says, cut at MAX_TEXT_BYTES characters; its class may be a backend's own, and do anything when
    asked.
    """
    try:
        return str(error)[:MAX_TEXT_BYTES]
    except BaseException:
        return "its text cannot be told"


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return character if character.isprintable() else repr(character)[1:-1]


#: Letters of a line that is broken no further.
WIDTH = 160


def dump_json(value: Any) -> str:
    """Return `value` as JSON. Raises ValueError where a float is not finite: see `kept`."""
    return _lay_out(value, 0, in_list=False) + "\n"


def round_figure(value: float, digits: int) -> float | int | str:
    """Return a figure with the digits that are kept of it; one that is not finite is a word."""
    if not math.isfinite(value):
        return str(value)
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and math.copysign(1, rounded) > 0 else rounded


def _lay_out(value: Any, depth: int, *, in_list: bool) -> str:
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if not value or (depth and (len(line) <= WIDTH or not _breaks(value, in_list=in_list))):
        return line
    if isinstance(value, dict):
        entries = [f"{json.dumps(key)}: {_lay_out(one, depth + 1, in_list=False)}" for key, one in value.items()]
    else:
        entries = [_lay_out(one, depth + 1, in_list=True) for one in value]
    inner = "\n" + " " * (depth + 1)
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return f"{begin}{inner}{f',{inner}'.join(entries)}\n{' ' * depth}{end}"


def _breaks(value: Any, *, in_list: bool) -> bool:
    """Whether a long value has lines of its own: a table, and a list of lists or tables."""
    if in_list:
        return any(_holds(one) for one in _parts_of(value))
    return isinstance(value, dict) or _holds(value)


def _holds(value: Any) -> bool:
    return any(isinstance(one, list | dict) for one in _parts_of(value))


def _parts_of(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
