"""The store: what is written is there for all processes, what is damaged or foreign is not, and nothing fails."""

import os
import resource
import sqlite3
import subprocess
import sys
import time

import pytest

from opproof.harness.run.cache.store import FILE, CacheLocation, CacheStore, place

KEY = b"k" * 32


@pytest.fixture
def at(tmp_path):
    return CacheLocation(tmp_path / "cache", KEY)


def changed(at, statement, *values):
    connection = sqlite3.connect(at.folder / FILE)
    with connection:
        connection.execute(statement, values)
    connection.close()


def test_what_is_put_is_there_for_another_connection(at):
    one, other = CacheStore(at), CacheStore(at)
    one.put(b"a", b"x" * 5000)
    one.write()
    assert other.get(b"a") == b"x" * 5000
    assert other.get(b"b") is None
    one.put(b"a", b"y")
    assert one.get(b"a") == b"y"
    one.write()
    assert other.get(b"a") == b"y"
    assert one.info().entries == 1
    assert (at.folder / FILE).stat().st_mode & 0o077 == 0


def test_entries_are_written_some_at_a_time(at):
    one, other = CacheStore(at), CacheStore(at)
    for i in range(70):
        one.put(b"%d" % i, b"x")
    assert [b"%d" % i for i in range(70) if other.get(b"%d" % i) is not None] == [b"%d" % i for i in range(65)]
    one.close()
    assert other.info().entries == 70


@pytest.mark.parametrize("column", ["data", "mark"])
def test_a_damaged_entry_is_not_believed(at, column):
    store = CacheStore(at)
    store.put(b"a", bytes(1000))
    store.write()
    changed(at, f"UPDATE entries SET {column} = zeroblob(length({column})) || x'01'")
    assert store.get(b"a") is None
    info = store.info()
    assert (info.entries, info.foreign) == (0, 1)


def test_an_entry_under_another_name_is_not_believed(at):
    """A backend could put the easy case's expected values in the place of the hard one's."""
    store = CacheStore(at)
    store.put(b"a", b"of a")
    store.put(b"b", b"of b")
    store.write()
    changed(at, "DELETE FROM entries WHERE name = ?", b"b")
    changed(at, "UPDATE entries SET name = ? WHERE name = ?", b"b", b"a")
    assert store.get(b"b") is None
    assert store.info().foreign == 1


def test_a_foreign_cache_is_not_believed(at):
    theirs = CacheStore(CacheLocation(at.folder, b"of another user" * 2))
    theirs.put(b"a", b"x")
    theirs.write()
    store = CacheStore(at)
    assert store.get(b"a") is None
    store.put(b"a", b"y")
    assert store.get(b"a") == b"y"


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_made_anew(at, content):
    at.folder.mkdir()
    (at.folder / FILE).write_bytes(content)
    store = CacheStore(at)
    store.put(b"a", b"x")
    assert store.get(b"a") == b"x"


def test_a_database_that_is_damaged_meanwhile_costs_entries_and_no_run(at):
    store = CacheStore(at)
    for i in range(200):
        store.put(b"%d" % i, os.urandom(3000))
    store.close()
    whole = (at.folder / FILE).read_bytes()
    (at.folder / FILE).write_bytes(whole[:8192] + os.urandom(len(whole) - 8192))
    store = CacheStore(at)
    assert all(store.get(name) is None for name in (b"0", b"100", b"199"))
    store.close()
    again = CacheStore(at)
    again.put(b"a", b"x")
    assert again.get(b"a") == b"x"


def test_a_disk_that_is_full_fails_nothing(at):
    code = f"""
import resource, signal
from opproof.harness.run.cache.store import CacheLocation
from opproof.harness.run.cache.store import CacheStore
from pathlib import Path
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
store = CacheStore(CacheLocation(Path({str(at.folder)!r}), {KEY!r}))
for i in range(100):
    store.put(b"%d" % i, bytes([i]) * 10_000)
kept = [store.get(b"%d" % i) for i in range(100)]
assert all(k in (None, bytes([i]) * 10_000) for i, k in enumerate(kept))
assert None in kept
store.close()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 100_000


def test_a_folder_that_cannot_be_made_fails_nothing(tmp_path):
    (tmp_path / "file").touch()
    store = CacheStore(CacheLocation(tmp_path / "file" / "cache", KEY))
    store.put(b"a", b"x")
    assert store.get(b"a") is None
    assert store.info().entries == 0
    store.close()


def test_what_was_not_used_for_longest_goes(tmp_path):
    at = CacheLocation(tmp_path, KEY, size=2**20)
    store = CacheStore(at)
    for i in range(64):
        store.put(b"%02d" % i, os.urandom(12_000))
    store.write()
    long_ago = int(time.time()) - 100_000
    changed(at, "UPDATE entries SET used = ? + rowid", long_ago)
    assert store.get(b"00") is not None  # used now, and oldest otherwise
    store.close()
    store = CacheStore(at)
    for i in range(64, 96):
        store.put(b"%02d" % i, os.urandom(12_000))
    assert store.get(b"00") is not None
    assert store.get(b"95") is not None
    assert store.get(b"01") is None
    assert sum(f.stat().st_size for f in tmp_path.glob(FILE)) < 1.3 * 2**20


def test_a_run_that_needs_more_than_there_is_room_for_keeps_what_it_has(tmp_path):
    store = CacheStore(CacheLocation(tmp_path, KEY, size=2**20))
    for i in range(300):
        store.put(b"%03d" % i, os.urandom(12_000))
    assert store.get(b"000") is not None
    assert store.get(b"299") is None
    assert (tmp_path / FILE).stat().st_size < 1.3 * 2**20


def test_an_entry_that_is_too_large_is_not_kept(tmp_path):
    store = CacheStore(CacheLocation(tmp_path, KEY, size=2**20))
    store.put(b"a", bytes(2**18))
    assert store.get(b"a") is None


def test_one_key_for_one_user(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = place()
    assert len(first.key) == 32
    assert place() == first
    file = tmp_path / "opproof" / "key"
    assert file.stat().st_mode & 0o077 == 0
    file.write_bytes(b"cut")
    assert place().key not in {first.key, b"cut"}
    assert repr(first.key) not in repr(first)


def test_without_a_home_there_is_no_cache(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert place() is None
