"""What a caller of a check asks for and declares, beside the two sides and the inputs; and the time of its calls."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from opproof.core.verdicts import Mode
from opproof.harness.check.call.exchange import CallRequest, Reply
from opproof.harness.check.contract import Contract, Precision
from opproof.harness.clock import ENDLESS, Allowed, Clock
from opproof.harness.reference.torch.arithmetic import OutOfTime

#: What `like` is of a candidate that draws.
SAMPLING = "sampling"
#: Calls are begun that end within so many times the seconds of a check: variants have its seconds, all else the rest.
_CALLS_TIME_FACTOR = 1.5
#: Calls that are made whatever they take: of other data, and of the inputs as given.
_FREE_CALLS = 2


@dataclass
class CallBudget:
    """Calls of a candidate, each begun while there is time for one like the first two."""

    seconds: float = math.inf  # after the first call, which compiles, or starts a process
    made: int = 0
    free: int = _FREE_CALLS  # that are left of those
    usual: float = math.inf  # the least seconds of the first
    refused: bool = False
    allowed: Allowed = ENDLESS

    @property
    def over(self) -> bool:
        """Whether no other call is begun."""
        return self.free <= 0 and self.allowed.left < self.usual

    def skip_other_data(self) -> bool:
        """Whether the first call, by which it was found out how to call, stands for that of other data as well."""
        pressed = self.free == _FREE_CALLS and self.made > 0 and self.allowed.left < self.usual
        self.free -= pressed
        return pressed

    def ask(self, ask: Callable[[CallRequest], Reply], request: CallRequest) -> Reply:
        """The reply. Raises OutOfTime where there is no time for it."""
        if self.over:
            self.refused = True
            raise OutOfTime
        self.free -= 1
        reply: Reply = self.measure(lambda: ask(request))
        return reply

    def measure(self, call: Callable[[], Any]) -> Any:
        """What a call gives, which counts as one."""
        clock = Clock() if self.made < _FREE_CALLS else None
        found = call()
        if clock is not None:
            self.usual = min(self.usual, clock.spent)
        if not self.made:
            self.allowed = Allowed(self.seconds)
        self.made += 1
        return found


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
    calls: CallBudget = field(default_factory=CallBudget)
    forked: bool = False  # the candidate is called in a copy of this process, which may die

    def begin(self) -> CheckOptions:
        """The options with a budget that begins now, unless it has begun; one variant alone has none."""
        if self.only is not None or math.isfinite(self.calls.seconds):
            return self
        return replace(self, calls=CallBudget(_CALLS_TIME_FACTOR * self.seconds))
