"""From the text after -b to a backend: built in, installed, a Python file, a library, a command."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import re
import shlex
import shutil
import sys
from importlib.metadata import PackageNotFoundError, distributions, entry_points, requires
from pathlib import Path
from typing import Any

from opproof.core.capabilities import backend_of, capability_of, library_of
from opproof.core.errors import BackendError, find_near, suggest
from opproof.core.text import text_of

FOLDER = Path(__file__).parent
LIBRARIES = (".so", ".dylib", ".dll")


def list_built_in() -> list[str]:
    """Names of the adapters: the folders here whose package has a function `create`; imports nothing."""
    return sorted(p.parent.name for p in FOLDER.glob("*/__init__.py") if "\ndef create(" in _source_of(p.parent.name))


def _source_of(name: str) -> str:
    return (FOLDER / name / "__init__.py").read_text(encoding="utf-8")


def list_installed() -> list[str]:
    """Names that other packages offer under the entry point `opproof.backends`."""
    return sorted(e.name for e in entry_points(group="opproof.backends"))


def find_missing(name: str) -> list[str]:
    """The distributions that the extra of the adapter `name` asks for and this environment does not have."""
    return [n for n in _list_packages(name) if not any(True for _ in distributions(name=n))]


def hash_files(spec: str) -> dict[str, str]:
    """SHA-256 of what the backend `spec` is made of: its file, its folder's libraries, or its installed packages."""
    name, _, variant = backend_of(spec).partition(":")
    place = shutil.which(shlex.split(variant)[0]) if name == "exec" else variant.partition("@")[0] or name
    path = Path(place or "")
    if place and path.exists():
        files = sorted(p for p in path.rglob("*") if set(LIBRARIES) & set(p.suffixes)) if path.is_dir() else [path]
        return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    packages = (d for n in _list_packages(name) for d in distributions(name=n))
    records = {f"{d.name} {d.version}, its list of files": d.read_text("RECORD") or "" for d in packages}
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in records.items()}


def _list_packages(name: str) -> list[str]:
    """The distributions that the extra of the adapter `name` asks for."""
    try:
        asked = [r for r in requires("opproof") or [] if f'extra == "{name.replace("_", "-")}"' in r]
    except PackageNotFoundError:  # a tree on PYTHONPATH
        return []
    return [*dict.fromkeys(re.split(r"[^\w.-]", r, maxsplit=1)[0] for r in asked)]


def load_backend(spec: str) -> Any:
    """The backend that `spec` names. Raises BackendError with one sentence that says what to do."""
    if capability_of(spec):
        plain = backend_of(spec)
        raise BackendError(
            f"{spec} names a vector capability, which a process has from its start on: give {plain} here, or run "
            f"`opproof run -b {plain} --isa {capability_of(spec)}`."
        )
    name, variant = _split_name(spec)
    if name in list_built_in():
        module = importlib.import_module(f"opproof.backends.{name}")
        return module.create(variant)
    path = Path(spec)
    if path.suffix in LIBRARIES:
        from opproof.backends.c.library import load

        return load(path)
    if path.suffix == ".py":
        return _from_file(path)
    for entry in entry_points(group="opproof.backends"):
        if entry.name == name:
            return _make(entry.load(), variant)
    known = [*list_built_in(), *list_installed()]
    hint = suggest(name, known, most=3) if find_near(name, known) else f"; there are {', '.join(known)}."
    raise BackendError(f"unknown backend {spec!r}: expected a name, ./file.py, ./library.so or exec:COMMAND{hint}")


def list_devices(spec: str) -> dict[str, str]:
    """What to write after -b for each device of the adapter `spec`, and what it is. Raises BackendError without any."""
    name, variant = _split_name(spec)
    module = importlib.import_module(f"opproof.backends.{name}") if name in list_built_in() else None
    if not hasattr(module, "list_devices"):
        names = ", ".join(n for n in list_built_in() if "def list_devices(" in _source_of(n))
        raise BackendError(f"{spec} is no backend that names its devices: give one of {names}.")
    found: dict[str, str] = module.list_devices(variant)  # type: ignore[union-attr]
    return found


def _split_name(spec: str) -> tuple[str, str]:
    """The name of a backend, and what stands behind it: a variant, a path, a device."""
    name = library_of(spec)
    return name, spec.removeprefix(name).removeprefix(":")


def _make(loaded: Any, variant: str) -> Any:
    return loaded.create(variant) if hasattr(loaded, "create") else loaded


def _from_file(path: Path) -> Any:
    """A module is a backend by itself; its name is the file's unless it says another."""
    if not path.is_file():
        raise BackendError(f"backend file {path} does not exist; give the path of a .py file with a function forward.")
    module_name = f"opproof_backend_{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path.resolve())
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except BackendError:
        raise
    except BaseException as error:  # of any class, KeyboardInterrupt too: importing it failed
        line = f" at line {error.lineno}" if isinstance(error, SyntaxError) else ""
        text = error.msg if isinstance(error, SyntaxError) else text_of(error)
        reason = f"{type(error).__name__}{line}: {text}"
        raise BackendError(f"backend file {path} could not be imported: {reason}; mend it and run again.") from None
    some: tuple[Any, ...] = (getattr(module, "backend", None), module)  # it may use that name for something of its own
    backend = next(filter(_is_backend, some), None)
    if backend is None:
        raise BackendError(f"backend file {path} has no function forward(op, inputs, params); see opproof.backends.")
    if not isinstance(getattr(backend, "name", None), str):
        backend.name = path.stem
    return backend


def _is_backend(some: Any) -> bool:
    return callable(getattr(some, "forward", None)) or hasattr(some, "forward_into")
