"""Under which conditions two runs were made: processor, vector extensions, variables, versions of libraries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from opproof.reports._record import Header
from opproof.reports._text import format_line

#: Of a host, what answers do not depend on.
INDIFFERENT = frozenset({"system", "cpus"})
#: What every header has that tells of variables: one that is not among them there was not set.
_TELLS = "cores"
_VECTORS = "vectors"


def describe_difference(before: Header, after: Header) -> str:
    """In one line what differs between the conditions of two runs, as far as both tell; empty where nothing does."""
    old, new = _versions_of(before), _versions_of(after)
    versions = [_describe_change(name, old[name], new[name]) for name in old if name in new and old[name] != new[name]]
    return _format_sentence([*_of_hosts(before.host, after.host), *versions])


def difference_of_hosts(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """The same of two hosts alone, such as those of benches."""
    return _format_sentence(list(_of_hosts(before, after)))


def _format_sentence(differences: list[str]) -> str:
    return f"The two were made under other conditions: {'; '.join(differences)}." if differences else ""


def _of_hosts(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    both_tell = _TELLS in before and _TELLS in after
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if old == new or name in INDIFFERENT or not (both_tell or (old is not None and new is not None)):
            continue
        yield _describe_vectors(old, new) if name == _VECTORS else _describe_change(name, old, new)


def _describe_vectors(before: str | None, after: str | None) -> str:
    """Vectors + avx512f, - amx_bf16"""
    old, new = (() if text is None else text.split() for text in (before, after))
    gained, lost = ([n for n in some if n not in other] for some, other in ((new, old), (old, new)))
    parts = [f"{sign} {' '.join(names)}" for sign, names in (("+", gained), ("-", lost)) if names]
    return format_line(f"{_VECTORS} {', '.join(parts)}")


def _describe_change(name: str, before: str | None, after: str | None) -> str:
    old, new = ("not set" if text is None else text for text in (before, after))
    return format_line(f"{name} {old} → {new}")


def _versions_of(header: Header) -> dict[str, str]:
    """Of opproof, and of the library of each backend, by its name where no other has that."""
    names = Counter(b.get("name", "") for b in header.backends)
    told = {
        b["name"] if names[b.get("name", "")] == 1 and b.get("name") else b.get("spec", ""): _library_of(b)
        for b in header.backends
    }
    return {"opproof": header.opproof, **told}


def _library_of(about: Mapping[str, str]) -> str:
    return " ".join(filter(None, (about.get("version"), about.get("device"))))
