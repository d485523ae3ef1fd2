"""What a caller of a check asks for and declares, beside the two sides and the inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from opproof.core.verdicts import Mode
from opproof.harness.check.contract import Contract, Precision

#: What `like` is of a candidate that draws.
SAMPLING = "sampling"


@dataclass(frozen=True)
class CheckOptions:
    """The options of `opproof.check` and of the command, and what a check by parts asks of each."""

    dtype: str | None = None
    vjp: Callable[..., Any] | None = None
    gradients: bool = True
    seconds: float = 20.0
    compute: Precision = None
    reuses_outputs: bool = False  # declared: the next call may overwrite what this one returns
    bits: str | None = None  # declared: the same call may give others
    contract: Contract = field(default_factory=Contract)
    seed: int = 0
    device: str = "cpu"
    neighbours: bool = True
    last: bool = False  # what is asked last is asked though no neighbours are tried
    time: bool = False  # beside eager and compiled PyTorch, with the error of each
    beyond: bool = False  # what is wrong where no given input lies is a failure
    advise: bool = False  # what is no failure is tried and said too
    modes: tuple[Mode, ...] = ()  # beside values and gradients
    only: str | None = None  # the one variant to try, by its name
    again: str = ""  # the call, to be completed by the name of a variant
    properties: Callable[..., Any] | None = None  # of inputs and outputs: what should be zero, by name
    tolerance: float | None = None  # of these, where no honest answer measures it
    probabilities: Callable[..., Any] | None = None  # of each row, by which the candidate draws
