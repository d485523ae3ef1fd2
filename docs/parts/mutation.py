"""The kill rates of `python benchmarks/mutation`, of the summary that its option --json writes."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from mutation.report import render_equivalents, render_rates, render_scores, render_survivors

from parts.tables import read


def scores(name: str) -> str:
    """Return the mutants by dtype."""
    return render_scores(read(name))


def equivalents(name: str) -> str:
    """Return the mutants whose every answer is right."""
    return render_equivalents(read(name))


def survivors(name: str) -> str:
    """Return what survives, or that nothing does."""
    return render_survivors(read(name)) or "Nothing survives."


def rates(name: str) -> str:
    """Return the kill rate by operator and dtype."""
    return render_rates(read(name))
