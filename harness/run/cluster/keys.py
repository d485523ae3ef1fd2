"""Who may ask a cluster: schedulers and workers carry out whatever they are sent, and a backend can send too.

With TLS they answer those alone who show a key. That of a local cluster is made for the run, and is nowhere on disk
while a backend runs; that of another one is in the settings of Dask, which hosts do not get.
"""

from __future__ import annotations

import os
from typing import Any

from opproof.core.errors import UsageError


def temporary(distributed: Any) -> Any:
    """Keys for one run, in memory. Raises UsageError where they cannot be made."""
    try:
        return distributed.Security.temporary()
    except ImportError:
        raise UsageError(
            "--dask local needs the package cryptography, which is not installed; pip install cryptography."
        ) from None


def withdraw() -> None:
    """Leave no key in this process's environment, which its hosts inherit."""
    for name in [n for n in os.environ if n.startswith("DASK_")]:
        del os.environ[name]


def unguarded(address: str) -> list[str]:
    """What is to be said of a run whose scheduler asks nobody for a key."""
    if "://" not in address or address.startswith("tls://"):
        return []
    said = "asks nobody for a key: whoever reaches it, a backend on its workers too, can change what they judge"
    return [f"The scheduler at {address} {said}. One with TLS asks, at tls://; docs/how-to/cluster.md says how."]
