"""Patterns of case ids: * matches anything, all else is literal. One that names no seed means every seed."""

from __future__ import annotations

import functools
import re

_SEED = re.compile(r";seed=\d+(?=\]$)")  # the last part of an id


@functools.cache
def pattern_regex(pattern: str) -> re.Pattern[str]:
    """Of the texts that match."""
    return re.compile(".*".join(map(re.escape, pattern.split("*"))))


@functools.lru_cache(2**16)
def seedless(case: str) -> str:
    """The id of the same case with the seed left out."""
    return _SEED.sub("", case)


def matches(pattern: str, case: str) -> bool:
    """Whether the pattern covers the id."""
    return pattern_regex(pattern).fullmatch(case if ";seed=" in pattern else seedless(case)) is not None


def covers_all(pattern: str) -> bool:
    """Whether the pattern names an operator, or none, and nothing else: no fill, shape, dtype, layout, parameter."""
    op, bracket, rest = pattern.partition("[")
    rest = rest if bracket else op[op.find("*") :] if "*" in op else "one case"
    return not re.sub(r"\w+=(?=\*)|[*;\]]", "", rest)
