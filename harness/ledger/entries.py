"""Ledgers are TOML files of entries, tables of one name, decoded into their type."""

from __future__ import annotations

import dataclasses
import functools
import tomllib
import typing
from collections.abc import Hashable, Sequence
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec

from opproof.core.errors import UsageError

T = TypeVar("T")

#: Metadata of a dataclass's field that no table may give.
NOT_OF_THE_FILE = MappingProxyType({"file": False})


def read_entries(path: Path, name: str, kind: type[T]) -> list[T]:
    """The [[name]] tables of the file as `kind`, a dataclass. Raises UsageError that names the file and the entry.

    What `kind` itself refuses, a ValueError of its __post_init__, becomes the sentence.
    """
    return decoded(path, name, kind, tables(path, name))


def tables(path: Path, name: str) -> Sequence[Any]:
    """The [[name]] tables of the file as they are. Raises UsageError."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read the ledger {path}: {error.strerror or error}; give an existing file.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}.") from None
    entries = document.get(name, [])
    if set(document) - {name} or not isinstance(entries, list):
        raise UsageError(f"{path}: expected [[{name}]] tables only, got {', '.join(document)}.")
    return entries


def decoded(path: Path, name: str, kind: type[T], entries: Sequence[Any]) -> list[T]:
    """`entries` of the file as `kind`, as in read_entries."""
    return [_entry(f"{path}, entry {number}", name, kind, entry) for number, entry in enumerate(entries, start=1)]


def _entry(where: str, name: str, kind: type[T], entry: Any) -> T:
    if not isinstance(entry, dict):
        raise UsageError(f"{where}: expected a [[{name}]] table, got {entry!r}.")
    fields = _fields(typing.cast("Hashable", kind))
    needed = [f.name for f in dataclasses.fields(kind) if f.default is dataclasses.MISSING]  # type: ignore[arg-type]
    if missing := [field for field in needed if field not in entry]:
        raise UsageError(f"{where}: no {' and no '.join(missing)}; every [[{name}]] table has {', '.join(needed)}.")
    for key, value in entry.items():
        if key not in fields:
            raise UsageError(f"{where}: unknown key {key!r}; expected {', '.join(fields)}.")
        try:
            msgspec.convert(value, fields[key])
        except msgspec.ValidationError:
            raise UsageError(f"{where}: {key} is {value!r}; expected {_words(fields[key])}.") from None
    try:
        return msgspec.convert(entry, kind)
    except msgspec.ValidationError as error:  # what the type itself refuses
        raise UsageError(f"{where}: {error}.") from None


@functools.cache
def _fields(kind: Hashable) -> dict[str, Any]:
    """The types of the fields of a dataclass: slow to find out, and asked for every entry."""
    hints = typing.get_type_hints(kind)
    fields = dataclasses.fields(kind)  # type: ignore[arg-type]
    return {f.name: hints[f.name] for f in fields if f.metadata != NOT_OF_THE_FILE}


def _words(hint: Any) -> str:
    """A type in words: a str, one of forward, gradient, a list, each a str."""
    if typing.get_origin(hint) is tuple:
        return f"a list, each {_words(typing.get_args(hint)[0])}"
    kinds = [k for k in typing.get_args(hint) if k is not type(None)]
    kind = kinds[0] if kinds else hint
    if isinstance(kind, type) and issubclass(kind, Enum):
        return f"one of {', '.join(sorted(member.value for member in kind))}"
    return f"a {getattr(kind, '__name__', kind)}"
