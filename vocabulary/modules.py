"""Modules of Python files, made of their source: what Python keeps of it beside them may be anybody's.

A compiled file that says that it need not be checked takes its source's place without a word. Who is judged may leave
one beside what judges it, for the next run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
)
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType


class _FromSource(SourceFileLoader):
    """One that neither reads what was compiled nor writes it."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


def spec_of(name: str, file: Path) -> ModuleSpec | None:
    """Of a module of this name, to be made of the file; None where it is no Python file."""
    loader = _FromSource(name, str(file)) if file.suffix in SOURCE_SUFFIXES else None
    return spec_from_file_location(name, file, loader=loader)


def import_from(folder: Path) -> None:
    """Let modules be imported from the folder, before others of their names, and of their sources."""
    sys.path.insert(0, str(folder))
    sys.path_hooks.insert(0, _finder_in(folder))
    for path in [path for path in sys.path_importer_cache if _is_in(path, folder)]:
        del sys.path_importer_cache[path]


def _finder_in(folder: Path) -> Callable[[str], FileFinder]:
    def finder(path: str) -> FileFinder:
        if not _is_in(path, folder):
            raise ImportError
        return FileFinder(path, (ExtensionFileLoader, EXTENSION_SUFFIXES), (_FromSource, SOURCE_SUFFIXES))

    return finder


def _is_in(path: str, folder: Path) -> bool:
    return Path(path).is_relative_to(folder)
