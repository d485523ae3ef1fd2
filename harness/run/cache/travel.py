"""Entries of a cache as one file, for another machine: `opproof cache export` and `import`.

The file is a line that says what it is, then entries: the lengths of name and data, both, and a checksum over all of
it. It carries no key: who imports a file says by that that it is believed, as much as the sources it came with.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

from opproof.core.errors import UsageError
from opproof.harness.run.cache.store import Store

_HEAD = b"opproof cache 1\n"
_SUM = 16
#: Bytes that a name, and an entry, may have.
_NAME, _DATA = 64, 2**28


def write(store: Store, path: Path) -> int:
    """Write all entries to `path`, which appears when it is whole, and return how many. Raises OSError."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    count = 0
    try:
        with part.open("wb") as file:
            file.write(_HEAD)
            for name in store.names():
                data = store.get(name)
                if data is not None:
                    lengths = len(name).to_bytes(4, "little") + len(data).to_bytes(4, "little")
                    file.write(lengths + name + data + _checksum(lengths + name + data))
                    count += 1
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    return count


def read(store: Store, path: Path) -> int:
    """Keep all entries of `path`, and return how many. Raises UsageError for what is no whole file of `write`.

    The file is read to its end before the first entry is kept.
    """
    with path.open("rb") as file:
        if file.read(len(_HEAD)) != _HEAD:
            raise UsageError(f"{path} is no cache that `opproof cache export` of this version wrote.")
        for _ in _entries(file, path):
            pass
        file.seek(len(_HEAD))
        count = 0
        for name, data in _entries(file, path):
            store.put(name, data)
            count += 1
    store.write()
    return count


def _entries(file: BinaryIO, path: Path) -> Iterator[tuple[bytes, bytes]]:
    while lengths := file.read(8):
        n, d = int.from_bytes(lengths[:4], "little"), int.from_bytes(lengths[4:], "little")
        if len(lengths) == 8 and n <= _NAME and d <= _DATA:
            content, checksum = file.read(n + d), file.read(_SUM)
            if len(content) == n + d and checksum == _checksum(lengths + content):
                yield content[:n], content[n:]
                continue
        raise UsageError(f"{path} is damaged or cut short; fetch it again, or export it anew.")


def _checksum(data: bytes) -> bytes:
    return blake2b(data, digest_size=_SUM).digest()
