"""What every rendering needs of texts: numbers, names of backends, options; nothing that could do harm on the way."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from opproof.core.capabilities import add_capability, backend_of, capability_of
from opproof.core.text import make_plain
from opproof.reports._record import Header, Result


def number(value: float | str | None, digits: int = 9) -> str:
    """A number of a record as text: nan, inf and -inf as they are, nothing as an en dash."""
    if value is None:
        return "–"
    # 2.9e6 rather than Python's 2.9e+06
    return re.sub(r"e([+-])0*", lambda sign: "e-" if sign[1] == "-" else "e", f"{float(value):.{digits}g}")


def format_units(result: Result, digits: int = 3) -> str:
    """The largest error and its limit: 2.7 units of 2 allowed"""
    if result.limit is None or result.units is None:
        return f"{number(result.units, digits)} units"
    digits = count_telling_digits(result.units, result.limit, digits)
    return f"{number(result.units, digits)} units of {number(result.limit, digits)} allowed"


def count_telling_digits(value: float | str, limit: float, digits: int) -> int:
    """How many digits tell a value from its limit: 15.7 of 16, not 16 of 16."""
    if float(value) == limit:
        return digits
    return next((n for n in range(digits, 9) if number(value, n) != number(limit, n)), digits)


def format_array_figures(result: Result, digits: int = 3) -> str:
    """The figures of a whole array; nothing where it has none: RMS 1.4, bias -0.3 units"""
    if result.rms is None or result.bias is None:
        return ""
    return f"RMS {number(result.rms, digits)}, bias {number(result.bias, digits)} units"


def bound(header: Header) -> str:
    """What is allowed: 2 to 16 units of honest rounding an element, RMS 2.5 and bias 1.5 an array"""
    most = {name: number(value, 3) for name, value in header.constants.items()}
    if not {"C", "stored", "rms", "bias"} <= most.keys():
        return f"{number(header.constant or None, 3)} units of honest rounding"
    element = f"{most['stored']} to {most['C']} units of honest rounding an element"
    return f"{element}, RMS {most['rms']} and bias {most['bias']} an array"


def short_names_of(backends: Iterable[str]) -> dict[str, str]:
    """What to call each backend: a path by its last part, where that is unambiguous."""
    own = {b: backend_of(b) for b in backends}
    short = {b: name if "/" not in name else name.rstrip("/").rsplit("/", 1)[-1] for b, name in own.items()}
    names = {b: add_capability(name, capability_of(b)) for b, name in short.items()}
    counts = Counter(names.values())
    return {b: name if counts[name] == 1 else b for b, name in names.items()}


def describe_backend(header: Header, backend: str) -> str:
    """Name, version and device of a backend of the records, as far as the header has them."""
    about = next((b for b in header.backends if backend in (b.get("spec"), b.get("name"))), {})
    name = short_names_of([backend])[backend]
    own = about.get("name", name)
    parts = [name if own in name else f"{name} ({own})", about.get("version", ""), about.get("device", "")]
    return format_line(" ".join(part for part in parts if part))


def options_of(header: Header) -> dict[str, str]:
    """The options that were set, flat and as text."""
    flat: dict[str, Any] = {}
    for key, value in header.options.items():
        flat.update(value if isinstance(value, dict) else {key: value})
    flat.pop("backends", None)  # they have lines of their own
    several = {key: ", ".join(map(str, value)) for key, value in flat.items() if isinstance(value, list | tuple)}
    texts = {**flat, **several}
    # 0 is a value, and equal to False
    unset = [key for key, value in texts.items() if value is None or value is False or value == ""]
    return {
        format_line(key.replace("_", " ")): format_line(str(value)) for key, value in texts.items() if key not in unset
    }


def format_start(header: Header) -> str:
    """The start of the run, for reading: 2026-07-01 12:00:00 UTC"""
    return re.sub(r"(\.\d+)?(Z|\+00:00)$", " UTC", format_line(header.started)).replace("T", " ", 1)


def describe_host(header: Header) -> str:
    """Where the run was: system Linux, machine x86_64"""
    return ", ".join(format_line(f"{name} {value}") for name, value in header.host.items())


def describe_coverage(header: Header) -> str:
    """What the cases cover: 5,179 of 10,621 pairs of factor levels (48 %), 63,230 of 438,765 triples (14 %)"""
    has = header.coverage
    if has is None or not has.of_pairs:
        return ""
    pairs, triples = (f"{n:,} of {of:,}" for n, of in ((has.pairs, has.of_pairs), (has.triples, has.of_triples)))
    shares = [f"({100 * n // max(of, 1)} %)" for n, of in ((has.pairs, has.of_pairs), (has.triples, has.of_triples))]
    return f"{pairs} pairs of factor levels {shares[0]}, {triples} triples {shares[1]}"


def name_backend(backend: str, names: Mapping[str, str]) -> str:
    """The short name of a backend, before what is said of it; empty where there is one alone."""
    return f"{format_line(names[backend])} " if len(names) > 1 else ""


def format_count(count: int, noun: str) -> str:
    """1 record, 2,843 records"""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def format_line(text: str) -> str:
    """`plain` text on one line."""
    return " ".join(make_plain(text).split())


def cut_text(text: str, most: int) -> str:
    """The text, or its beginning where it is longer."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def place(tensor: str, index: Iterable[int]) -> str:
    """An element by its tensor and index: y[2, 32]"""
    return f"{format_line(tensor)}[{', '.join(map(str, index))}]"


def describe_ulp(result: Result) -> str:
    """The largest error in ULP and its element: 1.47 at y[4, 9]; empty where there is none."""
    u = result.ulp
    if u is None:
        return ""
    return number(u.size, 3) + (f" at {place(u.tensor, u.index)}" if float(u.size) > 0 else "")


def describe_standard(result: Result) -> str:
    """The error by a standard; empty without a limit: 0.49 times the limit (3 ulp) at y[4, 9]"""
    s = result.standard
    if s is None or s.share is None:
        return ""
    said = f"{number(s.share, 3)} times the limit ({s.limit})"
    return said + (f" at {place(s.tensor, s.index)}" if float(s.share) > 0 else "")


def escape_cell(text: str, most: int = 200) -> str:
    """Text in Markdown: no HTML, no table cell's end, no emphasis, no @mention and no #reference."""
    short = format_line(text)
    short = short if len(short) <= most else short[: most - 1] + "…"
    short = short.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    short = re.sub(r"([\\`*_\[\]|~$])", r"\\\1", short)
    return re.sub(r"([@#])(?=\w)", "\\1\u2060", short)
