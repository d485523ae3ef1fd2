"""Integers whose bits are the data: those of 32 bits, which every library has."""

WHOLE = range(-(2**31), 2**31)
