"""Which entries speak of a run: a library's own ledger, the backend's variant, the version it is of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import opproof.backends
from opproof.core.capabilities import backend_of
from opproof.core.errors import UsageError
from opproof.harness.ledger.known import Known, read_known
from opproof.reports._text import plural

#: Ledgers of the built-in backends, applied to their runs unasked.
LEDGERS = Path(opproof.backends.__file__).parent


def ledger_of(spec: str) -> Path | None:
    """The ledger that comes with the library of a built-in backend, whichever variant `spec` is."""
    path = LEDGERS / re.split("[:@]", backend_of(spec), maxsplit=1)[0] / "known.toml"
    return path if path.is_file() else None


def built_in(spec: str) -> list[Known]:
    """Of the list that comes with a library the entries for `spec`.

    A variant or another build, such as torch:cuda or ggml:PATH, inherits every cause that is executed: it explains
    nothing where it does not hold. Patterns with a size speak of the default alone, unless they name backends.
    """
    path = ledger_of(spec)
    if path is None:
        return []
    return [replace(entry, backend=spec, backends=(), built_in=True) for _, entry in own_entries(path, spec)]


def own_entries(path: Path, spec: str) -> list[tuple[int, Known]]:
    """The entries for `spec` in a ledger that comes with a library, each with its place in the file."""
    library = path.parent.name
    entries = (e if e.specs else replace(e, backends=_speaks_of(e, library)) for e in read_known(path))
    return [(place, entry) for place, entry in enumerate(entries) if entry.covers_backend(spec)]


def _speaks_of(entry: Known, library: str) -> tuple[str, ...]:
    """The backends that an entry of the library's list means where it names none."""
    return (library, f"{library}:*", f"{library}@*") if entry.operators else (library,)


def entries_for(spec: str, ledger: Path | None) -> tuple[Path, list[tuple[int, Known]]]:
    """`ledger`, or that which comes with the library, and what it says of `spec`. Raises UsageError."""
    path = ledger_of(spec) if ledger is None else ledger
    if path is None:
        raise UsageError(f"{spec} comes without a ledger; give one with --known FILE.")
    if ledger is None:
        return path, own_entries(path, spec)
    return path, [(place, e) for place, e in enumerate(read_known(path)) if e.covers_backend(spec)]


def of_versions(known: Iterable[Known], backends: Sequence[Mapping[str, str]]) -> tuple[list[Known], list[str]]:
    """The entries that speak of this machine and these versions (spec and version of each backend).

    And a sentence where some of the user's own do not.
    """
    speaking: list[Known] = []
    silent: Counter[tuple[str, str]] = Counter()
    for entry in known:
        if entry.where is not None and not entry.where.holds():
            continue
        if not entry.versions:
            speaking.append(entry)
            continue
        meant = [b for b in backends if entry.covers_backend(b.get("spec", ""))]
        same = [b.get("spec", "") for b in meant if any(_begins(b.get("version", ""), v) for v in entry.versions)]
        if not entry.built_in:
            silent.update((b.get("spec", ""), b.get("version", "")) for b in meant if b.get("spec", "") not in same)
        if same:
            speaking.append(replace(entry, backend="", backends=tuple(same)))
    return speaking, [
        f"{plural(count, 'known failure')} of {spec} {'was' if count == 1 else 'were'} seen in other versions than "
        f"{version}, and {'explains' if count == 1 else 'explain'} nothing in this run."
        for (spec, version), count in silent.items()
    ]


def _begins(version: str, beginning: str) -> bool:
    """Whether 2.13 begins 2.13 and 2.13.1, not 2.130."""
    rest = version.removeprefix(beginning)
    return version.startswith(beginning) and not (beginning[-1:].isdigit() and rest[:1].isdigit())
