"""Which versions of each library are tried."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

from parts.tables import table

#: Libraries that every run needs, and whose version matters to a verdict.
ALWAYS = ("numpy", "scipy", "ml_dtypes")
#: Extras without a library of which versions matter to a verdict.
LEFT_OUT = ("backends", "dask")
ROOT = Path(__file__).resolve().parent.parent.parent


def tried() -> str:
    """Return which versions are pinned, tried and accepted."""
    return table(("library", "pinned", "tried too", "accepted from"), rows(ROOT))


def rows(root: Path) -> list[tuple[str, str, str, str]]:
    """Return a row for each library, from the files in the folder `root`."""
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)$", (root / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE))
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    judging = _oldest(one for one in project["dependencies"] if one.partition(">=")[0] in ALWAYS)
    judged = _oldest(one for extra, some in extras.items() if extra not in LEFT_OUT for one in some)
    others = _tried(root / "tox.ini")
    return [(name, pins[name], others.get(name, ""), oldest) for name, oldest in (*judging, *sorted(judged))]


def _oldest(requirements: Iterable[str]) -> list[tuple[str, str]]:
    """Return each library that is required, once, and the oldest version accepted."""
    found = (re.match(r"([\w.-]+)(?:\[\w+\])?>=([\d.]+)", one) for one in requirements)
    return list(dict.fromkeys((match[1], match[2]) for match in found if match))


def _tried(tox: Path) -> dict[str, str]:
    """Return by library the versions that environments install beside the pins."""
    found = re.findall(
        r"^commands_pre = .* pip install ([\w-]+)==(\S+)$", tox.read_text(encoding="utf-8"), re.MULTILINE
    )
    return {library: f"{version} (`tox -e {library}-next`)" for library, version in found}
