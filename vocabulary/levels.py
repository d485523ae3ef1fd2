"""How much is tried: each level is part of the next."""

LEVELS = ("smoke", "standard", "full")
