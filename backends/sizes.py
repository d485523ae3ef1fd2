"""Sizes of windows, as our operators have them and as libraries ask for them: one number, one an axis, or two."""

from __future__ import annotations

Sizes = int | tuple[int, ...]


def to_per_axis(value: Sizes, rank: int) -> tuple[int, ...]:
    """An int stands for the same number on every axis."""
    return (value,) * rank if isinstance(value, int) else tuple(value)


def to_both_sides(padding: Sizes, rank: int) -> tuple[int, ...]:
    """Padding before every axis, then after every axis; two numbers an axis are that already."""
    pads = to_per_axis(padding, rank)
    return pads if len(pads) == 2 * rank else 2 * pads
