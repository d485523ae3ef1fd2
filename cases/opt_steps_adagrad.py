"""Cases of opt_steps_adagrad: falling rates, first and later steps, an eps that matters, one step and nine."""

from opproof.cases._rows.optimisers import SHORT, fresh, full_steps, long_steps, steps
from opproof.cases._rows.reasons import DECAYS
from opproof.cases._rows.row import BETWEEN

_STATES = "state_sum"

SMOKE, STANDARD = steps(
    _STATES,
    (
        "lr=0.1",
        "lr=0.1;lr_decay=0.1;eps=0.1;weight_decay=0.1",
        "lr=0.25;lr_decay=0.01;step=100;eps=1.0",
        "lr=0.05;weight_decay=0.5;step=7",
    ),
    (f"lr=0.5;weight_decay={8 * BETWEEN}", f"lr=0.5;eps={8 * BETWEEN}", f"lr=4.0;lr_decay={8 * BETWEEN};step=3"),
)
STANDARD += fresh(_STATES, "lr=0.1")
LONG, LONGEST = long_steps(_STATES, "lr=0.1")
FULL = full_steps(_STATES, "lr=0.1")
WITHOUT = DECAYS

__all__ = ["FULL", "LONG", "LONGEST", "SHORT", "SMOKE", "STANDARD", "WITHOUT"]
