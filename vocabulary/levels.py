"""How much is tried: each level is part of the next."""

LEVELS = ("smoke", "standard", "full")

#: What a run may be asked for besides: every number of a dtype, of operators that map numbers. Part of no other.
EXHAUSTIVE = "exhaustive"
RUN_LEVELS = (*LEVELS, EXHAUSTIVE)
