"""How a candidate is judged: what a caller declares of it, and which draws it gets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Manner:
    """How to judge."""

    seed: int = 0
    gradients: bool = True
    compute: str | None = None
    reuses_outputs: bool = False  # declared: the next call may overwrite what this one returns
    bits: str | None = None  # declared: the same call may give others
