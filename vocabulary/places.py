"""Folders of this user's that opproof has for itself."""

from __future__ import annotations

import os
from pathlib import Path


def caches() -> Path:
    """Where opproof keeps what it can make again; no backend is to read it or write to it."""
    return _home() / "opproof"


def builds() -> Path:
    """Where backends keep what they have compiled: it is theirs, so it lies beside the folder that none may open."""
    return _home() / "opproof-builds"


def _home() -> Path:
    named = os.environ.get("XDG_CACHE_HOME", "")
    return Path(named) if named else Path.home() / ".cache"
