"""By what a kernel says that it does not take what it is given: an exception that somebody raised for it."""

from __future__ import annotations

#: Exceptions by which one says so.
_COMPLAINTS = frozenset(("AssertionError", "NotImplementedError", "TypeError", "ValueError"))


def is_complaint(message: str) -> bool:
    """Whether `message`, an exception's name and text, is such a one."""
    return message.partition(":")[0] in _COMPLAINTS
