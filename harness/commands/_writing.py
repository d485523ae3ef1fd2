"""What commands that write files share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from opproof.vocabulary.errors import UsageError


def write(file: Path, text: str) -> None:
    """Write `text`, folders made where they lack. Raises UsageError."""
    attempt(file, lambda: file.write_text(text, encoding="utf-8"))


def attempt(file: Path, action: Callable[[], object]) -> None:
    """Do `action`, which writes `file`. Raises UsageError where it cannot be written."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        action()
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror or error}; give another file.") from None
