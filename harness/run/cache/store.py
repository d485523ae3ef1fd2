"""Entries of bytes by name in one SQLite file that processes share. Whatever is wrong with it costs entries, no run.

An entry carries a keyed mark: what another user's opproof, a backend or a disk wrote is counted, removed, and never
returned.
"""

from __future__ import annotations

import hmac
import sqlite3
import time
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from opproof.harness.run.cache.location import CacheLocation

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
        try:
            row = self._connection.execute("SELECT data, mark, used FROM entries WHERE name = ?", (name,)).fetchone()
            if row is None:
                return None
            data, mark, used = row
            if not isinstance(data, bytes) or not isinstance(mark, bytes) or not self._is_own(name, data, mark):
                with self._connection:
                    self._connection.execute("DELETE FROM entries WHERE name = ?", (name,))
                    self._connection.execute("INSERT INTO foreign_entries VALUES (?)", (int(time.time()),))
                return None
            if not isinstance(used, int) or used < time.time() - _USE_NOTED_SECONDS:
                self._uses.append(name)
                if len(self._uses) >= _AT_ONCE:
                    self._write_uses()
        except sqlite3.Error as error:
            self._close_failed(error)
            return None
        return data

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
        try:
            with self._connection:
                self._connection.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", rows)
            if self._written >= min(_BYTES_BETWEEN_SIZE_CHECKS, self.place.size // 8):
                self._written = 0
                self._shrink()
        except sqlite3.Error as error:
            self._close_failed(error)

    def info(self) -> Info:
        """What it holds."""
        self.write()
        counts = (0, 0)
        if self._connection is not None:
            try:
                selected = "SELECT (SELECT count(*) FROM entries), (SELECT count(*) FROM foreign_entries)"
                counts = self._connection.execute(selected).fetchone()
            except sqlite3.Error as error:
                self._close_failed(error)
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

    def _close_failed(self, error: sqlite3.Error) -> None:
        """Nothing more to and from a file that failed; one that is damaged is removed."""
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            return
        if self._connection is not None:
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
