"""Cases of opt_steps_sgd: momentum, damped and ahead of itself, weight decay, one step and nine."""

from opproof.cases._rows.optimisers import SHORT, full_steps, long_steps, steps
from opproof.cases._rows.reasons import DECAYS

_STATES = "momentum_buffer"

SMOKE, STANDARD = steps(
    _STATES,
    (
        "lr=0.1;momentum=0.9",
        "lr=0.01;momentum=0.5;dampening=0.25;weight_decay=0.1",
        "lr=0.25;momentum=0.75;nesterov=true;weight_decay=0.5",
        "lr=0.5;momentum=0.0",
    ),
)
LONG, LONGEST = long_steps(_STATES, "lr=0.1")
FULL = full_steps(_STATES, "lr=0.1")
WITHOUT = DECAYS

__all__ = ["FULL", "LONG", "LONGEST", "SHORT", "SMOKE", "STANDARD", "WITHOUT"]
