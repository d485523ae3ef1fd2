"""Colour for the summary of a run, where a terminal shows it and nobody asked for none (https://no-color.org)."""

from __future__ import annotations

import os
import re
import sys

from opproof.core.verdicts import FAILED, OPEN

_BAD, _OPEN, _GOOD = "31", "33", "32"
_WORDS = re.compile(rf"\b({'|'.join(sorted(FAILED | OPEN))})\b")
_OUTCOME = re.compile(r" (fails|passes) [\d,]+ of [\d,]+ record.*$", re.MULTILINE)


def coloured(text: str) -> str:
    """`text` as it is to be printed: verdicts and the sentence that says how the run ended in their colours."""
    if not wanted():
        return text
    text = _WORDS.sub(lambda m: _in(_BAD if m[1] in FAILED else _OPEN, m[1]), text)
    return _OUTCOME.sub(lambda m: _in(f"1;{_BAD if m[1] == 'fails' else _GOOD}", m[0]), text)


def wanted() -> bool:
    """Whether stdout is a terminal that shows colours, and NO_COLOR is not set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _in(code: str, text: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m"
