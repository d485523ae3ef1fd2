"""What changed from one run to another. Every rendering shows what is computed here, and computes nothing again."""

from opproof.reports.changes.compare import changes, unlike
from opproof.reports.changes.record import TITLES, WORSE, Change, Changed, Changes, Figure, Moved

__all__ = ["TITLES", "WORSE", "Change", "Changed", "Changes", "Figure", "Moved", "changes", "unlike"]
