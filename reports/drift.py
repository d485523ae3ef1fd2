"""A model on a backend: which operator is wrong, or whose rounding the model amplifies, in one table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from opproof.core.verdicts import FAILED, Verdict
from opproof.reports._text import number

#: Rows of the table; of more calls those that are wrong, and those that move the output most.
_MAX_ROWS = 24
#: How far the whole may be off, in what honest rounding of all calls makes of it, while no call is wrong: the RMS of
#: which elements may have 2.5 each, and errors of one sign add up.
MAX_WHOLE_UNITS = 4.0
#: From where on rounding is said to be amplified.
_AMPLIFIED = 10.0


@dataclass(frozen=True)
class FollowedCall:
    """One call of an operator: how it was judged by its own inputs, and relative errors, norm by norm."""

    number: int  # from 1, of all calls on tape
    op: str
    place: str
    case: str
    verdict: Verdict
    units: float | str | None
    limit: float | None
    said: str  # the diagnosis, or the message
    arriving: float  # the error of what came in
    own: float = 0.0  # the error that the call adds
    effect: float = 0.0  # what that makes of the output's error

    @property
    def wrong(self) -> bool:
        """Whether it failed."""
        return self.verdict in FAILED

    @property
    def amplification(self) -> float | None:
        """By how much the model magnifies what the call adds; None where it adds nothing."""
        return self.effect / self.own if self.own else None

    @property
    def name(self) -> str:
        """The operator and its place: softmax in layers.3.attention"""
        return f"{self.op} in {self.place}" if self.place else f"{self.op} (call {self.number})"


@dataclass(frozen=True)
class DriftReport:
    """All operators' calls of a model in its order, and its output as a whole."""

    model: str
    backend: str
    calls: Sequence[FollowedCall]
    error: float  # of the output, relative to its norm
    noise: float  # what honest rounding of every call makes of it
    u: float  # the unit roundoff of the output
    others: Mapping[str, int]  # what is no operator of ours, and therefore not the backend's

    @property
    def wrong(self) -> list[FollowedCall]:
        """The calls that failed, in the model's order."""
        return [c for c in self.calls if c.wrong]

    @property
    def beyond(self) -> bool:
        """Whether no call is wrong, and yet the output is further off than their rounding makes it."""
        return not self.wrong and not self.error <= MAX_WHOLE_UNITS * max(self.noise, self.u)

    @property
    def farthest(self) -> FollowedCall:
        """The call whose error moves the output most."""
        return max(self.calls, key=lambda c: c.effect)

    def to_json(self) -> str:
        """All of it as one JSON document."""
        rows = [{**msgspec.to_builtins(c), "amplification": c.amplification} for c in self.calls]
        own = {**msgspec.to_builtins(self), "calls": rows, "verdict": self.verdict}
        return msgspec.json.encode(own).decode()

    @property
    def verdict(self) -> str:
        """What is found, in a sentence or two."""
        whole = f"The output is off by {number(self.error, 2)}"
        honest = f"honest rounding of every operator makes {number(self.noise, 2)}"
        if self.wrong:
            first, rest = self.wrong[0], len(self.wrong) - 1
            told = [f"{first.name} is wrong by its own inputs ({first.verdict}{_format_share(first)})"]
            told += [first.said] if first.said else []
            more = f" {rest} more {'calls are' if rest > 1 else 'call is'} wrong." if rest else ""
            return f"{': '.join(told)}.{more} {whole}; {honest}."
        if self.beyond:
            return f"No operator is wrong by its own inputs. {whole}, and {honest}: errors add up to one side."
        far = self.farthest
        if far.amplification is None or far.amplification < _AMPLIFIED:
            return f"No operator is wrong. {whole}; {honest}."
        times = number(far.amplification, 2)
        return f"No operator is wrong; rounding of {far.name} is amplified {times} times. {whole}; {honest}."

    def __str__(self) -> str:
        declined = [c for c in self.calls if c.verdict is Verdict.UNSUPPORTED]
        lines = [f"{self.model} on {self.backend}: {len(self.calls)} calls of operators", "", *_render_table(self), ""]
        lines.append(self.verdict)
        if declined:
            names = ", ".join(dict.fromkeys(c.op for c in declined))
            lines.append(f"{len(declined)} calls are PyTorch's, which {self.backend} declines: {names}.")
        if self.others:
            names = ", ".join(f"{name} ({n})" for name, n in self.others.items())
            lines.append(f"No operators of opproof, which {self.backend} is not asked for: {names}.")
        return "\n".join(lines)


def _format_share(call: FollowedCall) -> str:
    return "" if call.units is None else f", {_format_units(call)}"


def _format_units(call: FollowedCall) -> str:
    if call.units is None:
        return str(call.verdict)
    return f"{number(call.units, 3)} of {number(call.limit, 3)}"


_HEADS = ("call", "operator", "place", "units", "comes in", "adds", "amplified", "of the output")


def _render_table(report: DriftReport) -> list[str]:
    """The calls, or of many those that say most, in the model's order."""
    from tabulate import tabulate  # type: ignore[import-untyped, unused-ignore]

    first = sorted(report.calls, key=lambda c: (not c.wrong, -c.effect))[:_MAX_ROWS]
    some = [c for c in report.calls if c in first]
    align = ("right", "left", "left", *["right"] * 5)
    told = tabulate(list(map(_make_row, some)), _HEADS, tablefmt="plain", disable_numparse=True, colalign=align)
    left = len(report.calls) - len(some)
    marks = ["  ", *("> " if c.wrong else "  " for c in some)]
    marked = [mark + line.rstrip() for mark, line in zip(marks, told.splitlines(), strict=True)]
    return marked + ([f"  and {left} more calls, right, which move the output less"] if left else [])


def _make_row(call: FollowedCall) -> tuple[str, ...]:
    figures = [call.arriving, call.own, call.amplification, call.effect]
    told = ["" if x is None or not math.isfinite(x) else number(x, 2) for x in figures]
    return str(call.number), call.op, call.place, _format_units(call), *told
