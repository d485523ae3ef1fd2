"""What every rendering needs of texts: numbers, names of backends, options; nothing that could do harm on the way."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from opproof.reports._record import Header

# Control characters, which a crashing backend can put into a message, move a terminal's cursor and are not XML.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def number(value: float | str | None, digits: int = 9) -> str:
    """A number of a record as text: nan, inf and -inf as they are, nothing as an en dash."""
    if value is None:
        return "–"
    # 2.9e6 rather than Python's 2.9e+06
    return re.sub(r"e([+-])0*", lambda sign: "e-" if sign[1] == "-" else "e", f"{float(value):.{digits}g}")


def short_names(backends: Iterable[str]) -> dict[str, str]:
    """What to call each backend: a path by its last part, where that is unambiguous."""
    names = {b: b if "/" not in b else b.rstrip("/").rsplit("/", 1)[-1] for b in backends}
    counts = Counter(names.values())
    return {b: name if counts[name] == 1 else b for b, name in names.items()}


def described(header: Header, backend: str) -> str:
    """Name, version and device of a backend of the records, as far as the header has them."""
    about = next((b for b in header.backends if backend in (b.get("spec"), b.get("name"))), {})
    name = short_names([backend])[backend]
    own = about.get("name", name)
    parts = [name if own in name else f"{name} ({own})", about.get("version", ""), about.get("device", "")]
    return line(" ".join(part for part in parts if part))


def options(header: Header) -> dict[str, str]:
    """The options that were set, flat and as text."""
    flat: dict[str, Any] = {}
    for key, value in header.options.items():
        flat.update(value if isinstance(value, dict) else {key: value})
    flat.pop("backends", None)  # they have lines of their own
    several = {key: ", ".join(map(str, value)) for key, value in flat.items() if isinstance(value, list | tuple)}
    texts = {**flat, **several}
    # 0 is a value, and equal to False
    unset = [key for key, value in texts.items() if value is None or value is False or value == ""]
    return {key.replace("_", " "): line(str(value)) for key, value in texts.items() if key not in unset}


def when(header: Header) -> str:
    """The start of the run, for reading: 2026-07-01 12:00:00 UTC"""
    return re.sub(r"(\.\d+)?(Z|\+00:00)$", " UTC", header.started).replace("T", " ", 1)


def plural(count: int, noun: str) -> str:
    """1 record, 2,843 records"""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def plain(text: str) -> str:
    """Text without control characters, except tabs and line ends."""
    return _CONTROL.sub("\ufffd", text.replace("\r\n", "\n"))


def line(text: str) -> str:
    """Text without control characters, on one line."""
    return " ".join(plain(text).split())
