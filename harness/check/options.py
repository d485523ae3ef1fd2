"""What a caller asks for, beside the two sides and the inputs.

How a candidate is judged: what a caller declares of it, and which draws it gets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from opproof.core.verdicts import Mode


@dataclass(frozen=True)
class CheckOptions:
    """What a caller asks for, beside the two sides and the inputs."""

    dtype: str | None = None
    vjp: Callable[..., Any] | None = None
    gradients: bool = True
    seconds: float = 20.0
    compute: str | None = None
    reuses_outputs: bool = False
    bits: str | None = None
    seed: int = 0
    device: str = "cpu"
    neighbours: bool = True
    last: bool = False  # what is asked last is asked though no neighbours are tried
    eager: bool = False
    modes: tuple[Mode, ...] = ()  # beside values and gradients
    only: str | None = None  # the one variant to try, by its name
    again: str = ""  # the call, to be completed by the name of a variant

    @property
    def manner(self) -> JudgingOptions:
        """How each variant is judged."""
        return JudgingOptions(self.seed, self.gradients, self.compute, self.reuses_outputs, self.bits)


@dataclass(frozen=True)
class JudgingOptions:
    """How to judge."""

    seed: int = 0
    gradients: bool = True
    compute: str | None = None
    reuses_outputs: bool = False  # declared: the next call may overwrite what this one returns
    bits: str | None = None  # declared: the same call may give others
