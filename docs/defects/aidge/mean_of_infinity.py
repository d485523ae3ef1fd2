"""ReduceMean of an infinity is NaN: the mean is corrected by x - mean, element by element

Ledger: mean forward
Expected: inf
"""

from preamble import aidge, f32, run

print(run(aidge.ReduceMean([0], True), f32(float("inf"), 1.0))[0])
