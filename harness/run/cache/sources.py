"""Which sources an entry was made by, in one number: what another source made is another entry.

An operator's own file, the files of other operators that it imports, what all operators share, and all that draws and
evaluates: none is asked whether a change of it matters.
"""

from __future__ import annotations

import functools
import platform
import re
from collections.abc import Iterable
from hashlib import blake2b
from importlib import metadata
from pathlib import Path

import opproof.cases
import opproof.core
import opproof.harness.diagnose
import opproof.harness.judge
import opproof.harness.reference
import opproof.harness.run.cache
import opproof.reference_ops

_PACKAGES = (opproof.harness.reference, opproof.harness.judge, opproof.harness.run.cache, opproof.core)
_LIBRARIES = ("numpy", "scipy", "ml_dtypes")
_DOTTED = re.compile(rb"opproof\.reference_ops\.(\w+)")
_WORDS = re.compile(rb"\w+")
_FROM_ITSELF = re.compile(rb"opproof\.reference_ops\s+(import|as)|from\s+opproof\s+import|\\\n")


def digest_of_operator(operator: Path, *, torch: bool) -> bytes | None:
    """Of the operator in the file `operator`; `torch` says that PyTorch evaluates it.

    None of an operator from outside the tree, which may import anything.
    """
    if operator.parent != _folder_of(opproof.reference_ops):
        return None
    files = sorted(_with_imports(operator))
    return _digest_of([_digest_of_shared(), *(_version_of("torch"),) * torch, *map(_content_of, files)])


@functools.cache
def _digest_of_shared() -> bytes:
    files = [f for package in _PACKAGES for f in _folder_of(package).rglob("*.py")]
    for folder in map(_folder_of, (opproof.cases, opproof.reference_ops)):
        # What operators share: a file of its own, or a folder, whose name begins with an underscore.
        files += [f for f in folder.rglob("*.py") if f.relative_to(folder).parts[0].startswith("_")]
    machine = f"{platform.python_version()} {platform.machine()}".encode()
    return _digest_of([machine, *map(_version_of, _LIBRARIES), *map(_content_of, sorted(files))])


@functools.cache
def of_diagnoses() -> bytes:
    """Of what says how an error looks: it tries other operators than the one that failed."""
    folders = _folder_of(opproof.harness.diagnose), _folder_of(opproof.reference_ops)
    return _digest_of(map(_content_of, sorted(f for folder in folders for f in folder.rglob("*.py"))))


def _with_imports(file: Path) -> set[Path]:
    """The file of an operator, and those of other operators that it imports, directly or not."""
    seen: set[Path] = set()
    left = [file]
    while left:
        one = left.pop()
        if one in seen:
            continue
        seen.add(one)
        candidates = (one.with_name(f"{name}.py") for name in _find_operators(one.read_bytes()))
        left += [c for c in candidates if c.exists()]
    return seen


def _find_operators(source: bytes) -> set[str]:
    """Names that a file may import of the operators' package: those after its dotted name, wherever that stands.

    Of a file that imports from the package itself, or breaks a line within a name, it is every word.
    """
    names = _WORDS if _FROM_ITSELF.search(source) else _DOTTED
    return {name.decode() for name in names.findall(source)}


def _folder_of(package: object) -> Path:
    return Path(str(getattr(package, "__file__", ""))).parent


def _content_of(file: Path) -> bytes:
    return file.name.encode() + b"\0" + file.read_bytes()


@functools.cache
def _version_of(library: str) -> bytes:
    try:
        return f"{library} {metadata.version(library)}".encode()
    except metadata.PackageNotFoundError:
        return library.encode()


def _digest_of(parts: Iterable[bytes]) -> bytes:
    total = blake2b(digest_size=16)
    for part in parts:
        total.update(len(part).to_bytes(8, "little"))
        total.update(part)
    return total.digest()
