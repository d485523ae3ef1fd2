"""Advice to declare a precision, withdrawn where a wider dtype of the same operator is wrong too.

A record is diagnosed by itself. In 16 bits a small mistake of a formula passes as the rounding of what lies between
the steps, and the record says so; that the same operator's float32 is wrong, which no such rounding explains, only
all records together tell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from opproof.reports._record import Result
from opproof.vocabulary.dtypes import DTYPES
from opproof.vocabulary.verdicts import WRONG

#: What the diagnosis says where it is the size of the errors alone that fits.
_ADVICE = re.compile(r"passes if its (intermediates|sums) are |looks like \w+ arithmetic: the errors of ")


def sound(results: Sequence[Result]) -> list[Result]:
    """The records; those of 16 bits without such advice, where wider ones of backend, operator and mode are wrong."""
    wrong = {_group(r) for r in results if r.verdict in WRONG and _wide(r) and not r.known}
    if not wrong:
        return [*results]
    return [_withdrawn(r) if (r.diagnosis or r.also) and not _wide(r) and _group(r) in wrong else r for r in results]


def _group(result: Result) -> tuple[str, str, str]:
    return result.backend, result.op, result.mode


def _wide(result: Result) -> bool:
    kind = DTYPES.get(result.dtype)
    return kind is None or kind.digits >= DTYPES["f32"].digits


def _withdrawn(result: Result) -> Result:
    """The record without advice; another pattern that fits is then what is said."""
    said = [text for text in (result.diagnosis, *result.also) if text]
    kept = [text for text in said if not _ADVICE.match(text)]
    if kept == said:
        return result
    return replace(result, diagnosis=kept[0] if kept else "", also=tuple(kept[1:]))
