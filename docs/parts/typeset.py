"""Formulas of docstrings as HTML: names of values in italics, powers raised, roots and products as signs.

The docstrings are text that a terminal shows, with words between the formulas; what is not known to be a name of a
value stays as it is written. No script and no font is needed, so the site shows the same offline.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection

_TOKEN = re.compile(r"`[^`]+`|'s\b|[A-Za-z_][A-Za-z_0-9]*|\d+(?:\.\d+)?(?:e-?\d+)?|\s+|.", re.DOTALL)
_SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠", " - ": " − ", "(-": "(−", "= -": "= −"}
#: Single letters that are words of English where they stand alone.
_WORDS = {"a", "A", "I"}
_GREEK = {"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "eps": "ε", "lambd": "λ"}


def typeset(text: str, names: Collection[str]) -> str:
    """The text as HTML; `names` are the tensors and parameters of the operator, single letters count as names too."""
    for sign, better in _SIGNS.items():
        text = text.replace(sign, better)
    words = _TOKEN.findall(" ".join(text.split()))
    out: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        if word == "^" and at + 1 < len(words):
            raised, at = _raised(words, at + 1)
            out.append(f"<sup>{typeset(raised, names)}</sup>")
            continue
        if word == "sqrt" and words[at + 1 : at + 2] == ["("]:
            inner, at = _bracketed(words, at + 1)
            out.append(f'√<span class="root">{typeset(inner, names)}</span>')
            continue
        out.append(_one(word, words[at + 1 : at + 2], names))
        at += 1
    return "".join(out)


def _one(word: str, after: list[str], names: Collection[str]) -> str:
    if word.startswith("`"):
        return f"<code>{html.escape(word[1:-1])}</code>"
    article = word in _WORDS and after == [" "] and word not in names
    if word.isidentifier() and not article and (word in names or len(word) == 1 or _differential(word, names)):
        return f"<var>{_GREEK.get(word, word)}</var>"
    return html.escape(word)


def _differential(word: str, names: Collection[str]) -> bool:
    """dx, the gradient of x."""
    return word.startswith("d") and word[1:] in names


def _raised(words: list[str], at: int) -> tuple[str, int]:
    """The exponent that begins at `at`, without its brackets, and where it ends."""
    if words[at] == "(":
        return _bracketed(words, at)
    end = at + 1 + (words[at] in "-+" and at + 1 < len(words))
    return "".join(words[at:end]), end


def _bracketed(words: list[str], at: int) -> tuple[str, int]:
    depth = 0
    for end in range(at, len(words)):
        depth += (words[end] == "(") - (words[end] == ")")
        if depth == 0:
            return "".join(words[at + 1 : end]), end + 1
    return "".join(words[at:]), len(words)
