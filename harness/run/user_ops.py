"""Operators from outside the tree: an op's file may hold its own case rows (SMOKE, STANDARD, FULL)."""

from __future__ import annotations

import sys

from opproof.cases import LEVELS, Case, read_rows
from opproof.reference_ops import Op


def own_cases(op: Op, level: str) -> list[Case]:
    """The cases that a user's op file holds; none for built-in operators."""
    module = sys.modules.get(f"opproof_user_op_{op.name}")
    if module is None:
        return []
    return read_rows(op.name, {name: getattr(module, name.upper(), ()) for name in LEVELS}, level)
