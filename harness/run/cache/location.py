"""Where the cache lies, and the key with which this user's opproof marks what it writes there.

A backend runs as the same user, so no file is hidden from it for certain. It is not told where the cache is: hosts'
environments do not say so, and their Python opens nothing under the folder of the user's caches
(backends/worker/sandbox/import_guard). What something without the key wrote is not believed.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

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


def clear_cache_env() -> None:
    """Leave nothing in this process's environment that tells a host where the cache is."""
    os.environ.pop(VARIABLE, None)


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
