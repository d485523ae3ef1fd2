"""The kill rates of `opproof mutate`, of the summary that its option --json writes."""

from __future__ import annotations

from opproof.harness.selftest.mutation.report import equivalents_table, rates_table, scores_table, survivors_list
from parts.tables import read


def scores(name: str) -> str:
    """Return the mutants by dtype."""
    return scores_table(read(name))


def equivalents(name: str) -> str:
    """Return the mutants whose every answer is right."""
    return equivalents_table(read(name))


def survivors(name: str) -> str:
    """Return what survives, or that nothing does."""
    return survivors_list(read(name)) or "Nothing survives."


def rates(name: str) -> str:
    """Return the kill rate by operator and dtype."""
    return rates_table(read(name))
