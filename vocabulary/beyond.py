"""What is said of a case that nobody was asked for: its tensors alone take more memory than opproof allows."""

from __future__ import annotations

import math
import re

_MIB = 2**20
_SAID = re.compile(r"its tensors alone take (\d+) MiB, more than --memory (\d+) allows")


def worded(size: int) -> str:
    """A number of bytes for reading: 396 bytes, 1.8 KiB, 14,000 MiB"""
    if size < 1024:
        return f"{size} bytes"
    of, unit = (_MIB, "MiB") if size >= _MIB else (1024, "KiB")
    return f"{size / of:,.1f} {unit}" if size < 100 * of else f"{size / of:,.0f} {unit}"


def said_beyond(size: int, limit: int) -> str:
    """The message of a record that is declined so; both in bytes."""
    return f"its tensors alone take {math.ceil(size / _MIB)} MiB, more than --memory {limit // _MIB} allows"


def read_beyond(message: str) -> tuple[int, int] | None:
    """MiB of the tensors and of the limit, from such a message; None of any other."""
    found = _SAID.fullmatch(message)
    return None if found is None else (int(found[1]), int(found[2]))
