"""Colours of a summary that is printed to a terminal."""

from __future__ import annotations

import os
import re
import sys

from opproof.core.verdicts import FAILED, OPEN

#: Codes of colours in a terminal (ECMA-48, SGR).
_RED_CODE = "31"
_YELLOW_CODE = "33"
_GREEN_CODE = "32"
_WORDS = re.compile(rf"\b({'|'.join(sorted(FAILED | OPEN))})\b")
_OUTCOME = re.compile(r" (fails|passes) [\d,]+ of [\d,]+ record.*$", re.MULTILINE)


def paint_text(text: str) -> str:
    """`text` as it is to be printed: verdicts and the sentence that says how the run ended in their colours."""
    if not is_colour_wanted():
        return text
    text = _WORDS.sub(lambda m: _in(_RED_CODE if m[1] in FAILED else _YELLOW_CODE, m[1]), text)
    return _OUTCOME.sub(lambda m: _in(f"1;{_RED_CODE if m[1] == 'fails' else _GREEN_CODE}", m[0]), text)


def is_colour_wanted() -> bool:
    """Whether stdout is a terminal that shows colours, and NO_COLOR is not set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _in(code: str, text: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m"
