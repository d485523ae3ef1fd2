"""Cases of opt_steps_adamw: those of opt_steps_adam, whose parameters it has."""

from opproof.cases.opt_steps_adam import FULL, LONG, LONGEST, SHORT, SMOKE, STANDARD, WITHOUT

PAIRED = [
    "param=5x7;grads=3x5x7;exp_avg=5x7;exp_avg_sq=5x7;lr=0.1;beta1=0.5;beta2=0.75;eps=0.5;weight_decay=0.25;step=3",
]

__all__ = ["FULL", "LONG", "LONGEST", "PAIRED", "SHORT", "SMOKE", "STANDARD", "WITHOUT"]
