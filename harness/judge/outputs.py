"""What a backend gave to a posed case, before it is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opproof.core.arrays import Array
from opproof.core.text import make_plain
from opproof.core.verdicts import Verdict


class EarlyVerdict(Exception):
    """A verdict is reached before the numbers are looked at."""

    def __init__(self, verdict: Verdict, message: str) -> None:
        super().__init__(message)
        self.verdict, self.message = verdict, make_plain(message)


@dataclass(frozen=True)
class Outputs:
    """Outputs, or gradients by argument, None where none was asked for; in the dtype under test."""

    arrays: Sequence[Array | None]
    before: Sequence[Array | None] = ()  # what the call before gave, which had other data
    drawn: Sequence[Array | None] = ()  # of gradients, what the forward of the same call gives, where it draws
    seconds: float = 0.0  # in the backend, by the judge's clock
