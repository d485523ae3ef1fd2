"""Times of a bench: the record, the table, the comparison, the page."""

from pathlib import Path

#: What a bench leaves in its folder.
FILE = "bench.json"


def is_bench(path: Path) -> bool:
    """Whether `path` is a bench.json or a folder with one."""
    return path.name == FILE or (path / FILE).is_file()
