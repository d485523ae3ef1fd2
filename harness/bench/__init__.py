"""How fast a backend is where it is right: blocks of calls, medians with intervals, a share of what the machine can.

Front files: `bench.py` times cases, `measure.py` one call, `cost.py` says what a call moves and computes.
"""
