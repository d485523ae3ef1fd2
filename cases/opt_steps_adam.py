"""Cases of opt_steps_adam: first and later steps, betas, an eps that matters, one step and nine."""

from opproof.cases._rows.optimisers import SHORT, fresh, full_steps, long_steps, steps
from opproof.cases._rows.reasons import AVERAGES
from opproof.cases._rows.row import BETWEEN

_STATES = "exp_avg exp_avg_sq"

SMOKE, STANDARD = steps(
    _STATES,
    (
        "lr=0.1",
        "lr=0.01;eps=0.1;weight_decay=0.1;step=3",
        "lr=0.5;beta1=0.5;beta2=0.75;step=1000",
        "lr=0.2;beta1=0.0;eps=1.0;weight_decay=0.5;step=7",
    ),
    (f"lr=0.5;weight_decay={8 * BETWEEN};step=2", f"lr=0.5;eps={8 * BETWEEN};step=2"),
)
STANDARD += fresh(_STATES, "lr=0.1")
LONG, LONGEST = long_steps(_STATES, "lr=0.1")
FULL = full_steps(_STATES, "lr=0.1")
WITHOUT = AVERAGES

PAIRED = [
    "param=5x7;grads=2x5x7;exp_avg=5x7;exp_avg_sq=5x7;lr=0.01;step=5000;f32",
    "param=5x7;grads=3x5x7;exp_avg=5x7;exp_avg_sq=5x7;lr=0.1;beta1=0.5;beta2=0.75;eps=0.5;weight_decay=0.25;step=3",
]

__all__ = ["FULL", "LONG", "LONGEST", "PAIRED", "SHORT", "SMOKE", "STANDARD", "WITHOUT"]
