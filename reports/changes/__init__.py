"""What changed from one run to another. Every rendering shows what is computed here, and computes nothing again."""

from opproof.reports.changes.compare import compare_runs, explain_incomparable
from opproof.reports.changes.record import TITLES, WORSE, Change, Changed, Changes, Figure, Moved

__all__ = ["TITLES", "WORSE", "Change", "Changed", "Changes", "Figure", "Moved", "compare_runs", "explain_incomparable"]
