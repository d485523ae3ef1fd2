"""How fast a backend is where it is right: blocks of calls, medians with intervals, a share of what the machine can.

Front files: `bench.py` times cases and says what a call moves and computes, `measure.py` one call.
"""
