"""What standards ask of operators, as data: a TOML file a standard, judged beside opproof's own bound.

`limits.py` reads a standard and judges results by it, `table.py` renders two columns of verdicts, ours and the
standard's. A verdict of a standard changes none of ours.
"""

from pathlib import Path

#: Verdicts of a standard: within its limit, beyond it, or it says nothing.
WITHIN, BEYOND, SILENT = "within", "beyond", "silent"


def list_profiles() -> list[str]:
    """The names of all standards."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.toml"))
