"""docs/reference/versions.md: which versions of each library are tried, and how long an old one is kept."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

#: Libraries that every run needs, and whose version matters to a verdict.
ALWAYS = ("numpy", "scipy", "ml_dtypes")
#: Extras without a library of which versions matter to a verdict.
LEFT_OUT = ("backends", "dask")
PAGE = """\
# Versions

Generated from `constraints.txt`, `tox.ini` and `pyproject.toml` by `docs/generate.py`; do not edit.

The tests pass with the pinned versions, and the published figures are theirs. `tox` tries them; `tried too` names what
another environment of `tox` installs, with all else as pinned. An extra accepts a library from the version in the last
column on: that is the oldest for which the adapter is written, and nothing between it and the pin is tried.

| library | pinned | tried too | accepted from |
| --- | --- | --- | --- |
{rows}

## How long a version is kept

- A pin moves as soon as the tests pass with the new version, and a run of its backend leaves no failure unexplained.
- The next PyTorch is tried from its release on, until the pin moves to it: for six months at most there are two.
- Once the pin has moved, the version before is tried no longer.
- A known failure says which versions it holds for. It stays for a year after the last of them was tried.
- `accepted from` moves when an adapter needs what an older version has not; the changelog says so.

Lists of other libraries' names have versions of their own, in [the last part of the operators](../operators.md).
"""


def page(root: Path) -> str:
    """The page, from the files in the folder `root`."""
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)$", (root / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE))
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    judging = _oldest(one for one in project["dependencies"] if one.partition(">=")[0] in ALWAYS)
    judged = _oldest(one for extra, some in extras.items() if extra not in LEFT_OUT for one in some)
    tried = _tried(root / "tox.ini")
    rows = [(name, pins[name], tried.get(name, ""), oldest) for name, oldest in (*judging, *sorted(judged))]
    return PAGE.format(rows="\n".join("| " + " | ".join(row) + " |" for row in rows))


def _oldest(requirements: Iterable[str]) -> list[tuple[str, str]]:
    """Each library that is required, once, and the oldest version accepted."""
    found = (re.match(r"([\w.-]+)(?:\[\w+\])?>=([\d.]+)", one) for one in requirements)
    return list(dict.fromkeys((match[1], match[2]) for match in found if match))


def _tried(tox: Path) -> dict[str, str]:
    """By library, the versions that environments install beside the pins."""
    found = re.findall(
        r"^commands_pre = .* pip install ([\w-]+)==(\S+)$", tox.read_text(encoding="utf-8"), re.MULTILINE
    )
    return {library: f"{version} (`tox -e {library}-next`)" for library, version in found}
