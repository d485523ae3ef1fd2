"""Folders of this user's that opproof has for itself."""

from __future__ import annotations

import os
from pathlib import Path


def caches() -> Path:
    """Where opproof keeps what it can make again; no backend is to read it or write to it."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(named) if named else Path.home() / ".cache") / "opproof"
