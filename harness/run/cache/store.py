"""Entries of bytes by name in one SQLite file that processes share. Whatever is wrong with it costs entries, no run.

An entry carries a keyed mark: what another user's opproof, a backend or a disk wrote is counted, removed, and never
returned. A backend runs as the same user, so no file is hidden from it for certain. It is not told where the cache is:
hosts' environments do not say so, and their Python opens nothing under the folder of the user's caches
(backends/worker/sandbox/import_guard).

What another source made is another entry. That is an operator's own file, the files of other operators that it imports,
what all operators share, and all that draws and evaluates: none is asked whether a change of it matters.
"""

from __future__ import annotations

import functools
import hmac
import os
import platform
import re
import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
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
from opproof.core.system import find_cache_folder

#: Names the folder of the cache, where it is to be another than the user's.
VARIABLE = "OPPROOF_CACHE"
#: Bytes that the cache may take, where the user does not say.
SIZE = 6 * 2**30
_KEY_BYTES = 32


@dataclass(frozen=True)
class CacheLocation:
    """A cache that a run may use; small and picklable."""

    folder: Path
    key: bytes = field(repr=False)
    size: int = SIZE  # bytes that it may take


def locate_folder() -> Path:
    """The folder of the cache: the user's, or that of the environment."""
    named = os.environ.get(VARIABLE, "")
    return Path(named) if named else find_cache_folder() / "golden"


def place(size: int = SIZE) -> CacheLocation | None:
    """The cache of this user; None where no key can be read or written: a home without room, or none at all."""
    try:
        made = CacheLocation(locate_folder(), ensure_key(), size)
        made.folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # hosts learn which folder is not theirs to open
    except OSError:
        return None
    return made


def find_key() -> bytes | None:
    """The key of this user; None where it can be neither read nor written."""
    try:
        return ensure_key()
    except OSError:
        return None


def ensure_key() -> bytes:
    """The key of this user, made when first asked for. Raises OSError."""
    file = find_cache_folder() / "key"
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = file.with_name(f"key.{os.getpid()}")
    for _ in range(2):
        try:
            kept = file.read_bytes()
        except FileNotFoundError:
            kept = b""
        if len(kept) == _KEY_BYTES:
            return kept
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as written:
            written.write(secrets.token_bytes(_KEY_BYTES))
        if kept:  # cut short: a disk that was full
            fresh.replace(file)
        else:
            _put(fresh, file)
    raise OSError(f"{file} holds no key")


def _put(fresh: Path, file: Path) -> None:
    """Give `fresh` the name of `file`, unless another process was quicker."""
    try:
        os.link(fresh, file)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        fresh.replace(file)
        return
    fresh.unlink()


FILE = "entries.sqlite"
#: Seconds to wait for another process that writes, and after which an entry's last use is written down again.
_MAX_WAIT_SECONDS = 10.0
_USE_NOTED_SECONDS = 3600
#: So many bytes written between two looks at the size of all, and the share that is left where it is too large.
_BYTES_BETWEEN_SIZE_CHECKS = 2**22
_KEPT_SIZE_SHARE = 0.8
#: Entries, and uses, that are written down at once, at most.
_AT_ONCE = 64

_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (name BLOB PRIMARY KEY, used INTEGER NOT NULL, mark BLOB NOT NULL, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS foreign_entries (seen INTEGER NOT NULL);
"""  # noqa: E501


@dataclass(frozen=True)
class Info:
    """What a cache holds."""

    path: Path
    entries: int
    bytes: int  # of the file
    foreign: int  # entries that were not believed, since it was made or cleared


class CacheStore:
    """The entries of one place, through one connection: of one process, and one thread."""

    def __init__(self, place: CacheLocation) -> None:
        self.place = place
        self.path = place.folder / FILE
        self._written, self._full = _BYTES_BETWEEN_SIZE_CHECKS, False  # the size is looked at with the first entry
        self._uses: list[bytes] = []
        self._waiting: dict[bytes, bytes] = {}  # entries that are not in the file yet
        self._connection = self._open()

    def get(self, name: bytes) -> bytes | None:
        """The bytes of an entry; None where there is none that can be believed."""
        if self._connection is None:
            return None
        if name in self._waiting:
            return self._waiting[name]
        with self._close_failing() as connection:
            row = connection.execute("SELECT data, mark, used FROM entries WHERE name = ?", (name,)).fetchone()
            if row is None:
                return None
            data, mark, used = row
            if not isinstance(data, bytes) or not isinstance(mark, bytes) or not self._is_own(name, data, mark):
                connection.execute("DELETE FROM entries WHERE name = ?", (name,))
                connection.execute("INSERT INTO foreign_entries VALUES (?)", (int(time.time()),))
                return None
            if not isinstance(used, int) or used < time.time() - _USE_NOTED_SECONDS:
                self._uses.append(name)
                if len(self._uses) >= _AT_ONCE:
                    self._write_uses()
            return bytes(data)
        return None

    def put(self, name: bytes, data: bytes) -> None:
        """Keep `data` under `name`, unless there is no room on the disk; other processes see it after `write`."""
        if self._connection is None or self._full or len(data) > self.place.size // 8:
            return
        self._waiting[name] = data
        self._written += len(data)
        if len(self._waiting) >= _AT_ONCE or self._written >= min(_BYTES_BETWEEN_SIZE_CHECKS, self.place.size // 8):
            self.write()

    def write(self) -> None:
        """Write what waits to be written."""
        if self._connection is None or not self._waiting:
            return
        now, waiting = int(time.time()), self._waiting
        rows = [(name, now, self._mark(name, data), data) for name, data in waiting.items()]
        self._waiting = {}
        with self._close_failing() as connection:
            connection.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", rows)
            connection.commit()
            if self._written >= min(_BYTES_BETWEEN_SIZE_CHECKS, self.place.size // 8):
                self._written = 0
                self._shrink()

    def info(self) -> Info:
        """What it holds."""
        self.write()
        counts = (0, 0)
        if self._connection is not None:
            with self._close_failing() as connection:
                selected = "SELECT (SELECT count(*) FROM entries), (SELECT count(*) FROM foreign_entries)"
                counts = connection.execute(selected).fetchone()
        size = sum(f.stat().st_size for f in self._files() if f.exists())
        return Info(self.path, counts[0], size, counts[1])

    def clear(self) -> None:
        """Remove every entry, and the file."""
        self._waiting.clear()
        self.close()
        self._remove()

    def close(self) -> None:
        """Write down what is left to write; the store is of no more use."""
        self.write()
        if self._connection is None:
            return
        with suppress(sqlite3.Error):
            self._write_uses()
        self._connection.close()
        self._connection = None

    def _mark(self, name: bytes, data: bytes) -> bytes:
        return blake2b(len(name).to_bytes(4, "little") + name + data, digest_size=32, key=self.place.key).digest()

    def _is_own(self, name: bytes, data: bytes, mark: bytes) -> bool:
        return hmac.compare_digest(mark, self._mark(name, data))

    def _open(self) -> sqlite3.Connection | None:
        for _ in range(2):
            try:
                self.place.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                return self._connected()
            except sqlite3.OperationalError:  # no permission, no room, locked for good
                return None
            except (sqlite3.DatabaseError, OSError):  # no database, or a damaged one
                self._remove()
        return None

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=_MAX_WAIT_SECONDS)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = OFF")  # a cache: what is lost is made again
            connection.executescript(_SCHEMA)
            self.path.chmod(0o600)
        except (sqlite3.Error, OSError):
            connection.close()
            raise
        return connection

    @contextmanager
    def _close_failing(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one transaction. Nothing more to and from a file that fails; a damaged one is removed."""
        assert self._connection is not None
        try:
            with self._connection:
                yield self._connection
        except sqlite3.Error as error:
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                return
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None
            if not isinstance(error, sqlite3.OperationalError):
                self._remove()

    def _write_uses(self) -> None:
        assert self._connection is not None
        now = int(time.time())
        with self._connection:
            rows = [(now, name) for name in self._uses]
            self._connection.executemany("UPDATE entries SET used = ? WHERE name = ?", rows)
        self._uses.clear()

    def _shrink(self) -> None:
        """Where all together are too large, remove those first that were not used for longest.

        None of the last hour: a run that needs more than there is room for would remove what it needs itself.
        """
        assert self._connection is not None
        self._write_uses()
        excess = self._taken() - int(_KEPT_SIZE_SHARE * self.place.size)
        self._full = self._taken() > self.place.size
        if not self._full:
            return
        with self._connection:
            gone = []
            selected = "SELECT name, length(data) FROM entries WHERE used < ? ORDER BY used, rowid"
            for name, size in self._connection.execute(selected, (int(time.time()) - _USE_NOTED_SECONDS,)):
                gone.append((name,))
                excess -= size
                if excess <= 0:
                    break
            self._connection.executemany("DELETE FROM entries WHERE name = ?", gone)
        self._full = self._taken() > self.place.size

    def _taken(self) -> int:
        """Bytes of the pages in use: those that are free are used again before the file grows."""
        assert self._connection is not None
        pages, free, each = (
            self._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * each)

    def _files(self) -> list[Path]:
        return [self.path, *(self.path.with_name(self.path.name + end) for end in ("-wal", "-shm"))]

    def _remove(self) -> None:
        for file in self._files():
            with suppress(OSError):
                file.unlink()


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
