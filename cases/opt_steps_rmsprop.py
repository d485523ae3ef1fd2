"""Cases of opt_steps_rmsprop: slow and fast averages, an eps that matters, weight decay, one step and nine."""

from opproof.cases._rows.optimisers import SHORT, fresh, full_steps, long_steps, steps
from opproof.cases._rows.reasons import AVERAGES
from opproof.cases._rows.row import BETWEEN

_STATES = "square_avg"

SMOKE, STANDARD = steps(
    _STATES,
    (
        "lr=0.1",
        "lr=0.01;alpha=0.9;eps=0.1;weight_decay=0.1",
        "lr=0.25;alpha=0.5;eps=1.0",
        "lr=0.05;alpha=0.75;weight_decay=0.5",
    ),
    (f"lr=0.5;weight_decay={8 * BETWEEN};alpha=0.5", f"lr=0.5;eps={8 * BETWEEN};alpha=0.5"),
)
STANDARD += fresh(_STATES, "lr=0.1")
LONG, LONGEST = long_steps(_STATES, "lr=0.1")
FULL = full_steps(_STATES, "lr=0.1")
WITHOUT = AVERAGES

__all__ = ["FULL", "LONG", "LONGEST", "SHORT", "SMOKE", "STANDARD", "WITHOUT"]
