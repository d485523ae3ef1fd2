"""Noisy arithmetic: NumPy in which every rounding shows."""
