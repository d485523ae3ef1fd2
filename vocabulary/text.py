"""Texts that others wrote, made fit to be kept and shown: every character prints, and there are not too many."""

import re

#: Bytes of UTF-8 that one text of a backend may take.
MOST = 4096

# Beside these, a character is asked whether it prints.
_UNUSUAL = re.compile(r"[^\x20-\x7e\t\n]")


def visible(text: str) -> str:
    r"""`text`, of which all that does not print is escaped as Python does it: \x1b, \u202e (bidirectional), \udc80.

    Tabs and line ends stay; \r\n is a line end.
    """
    if type(text) is str and text.isascii() and text.isprintable():  # most are, and this is ten times as fast
        return text
    # Not text.replace: the text may be of a class of the backend's own.
    return _UNUSUAL.sub(_escaped, str.replace(text, "\r\n", "\n"))


def plain(text: str) -> str:
    """`visible`, and cut at MOST bytes of UTF-8, the last character then an ellipsis."""
    short = visible(text[: 2 * MOST + 2])  # which are more than MOST also where half of them are carriage returns
    if 4 * len(short) <= MOST:
        return short
    encoded = short.encode()
    return short if len(encoded) <= MOST else encoded[: MOST - len("…".encode())].decode(errors="ignore") + "…"


def text_of(error: BaseException) -> str:
    """What an exception says, cut at MOST characters; its class may be a backend's own, and do anything when asked."""
    try:
        return str(error)[:MOST]
    except BaseException:
        return "its text cannot be told"


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    return character if character.isprintable() else repr(character)[1:-1]
