"""Cases of opt_steps_adamw: those of opt_steps_adam, whose parameters it has."""

from opproof.cases.opt_steps_adam import FULL, LONG, LONGEST, SHORT, SMOKE, STANDARD, WITHOUT

__all__ = ["FULL", "LONG", "LONGEST", "SHORT", "SMOKE", "STANDARD", "WITHOUT"]
