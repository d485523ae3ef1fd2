"""How fast a backend is where it is right: blocks of calls, medians with intervals, a share of what the machine can."""
