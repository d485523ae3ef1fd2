"""From the text after -b to a host that has loaded the backend."""

from __future__ import annotations

import os

from opproof.harness.run.hosts import filed, foreign, inside, placed
from opproof.harness.run.hosts.host import Host
from opproof.harness.run.hosts.process import references_allowed
from opproof.harness.run.limits import Limits
from opproof.vocabulary.errors import BackendError


def start(spec: str, limits: Limits) -> Host:
    """A host of `spec`. Raises BackendError, also where loading it kills or hangs the process."""
    kind, _, rest = spec.partition(":")
    if kind == filed.KIND:
        return filed.start(rest)
    if kind == "exec":
        if limits.in_process:
            raise BackendError(f"{spec} is a process of its own, which --in-process cannot be; leave that out.")
        return foreign.start(rest, limits.memory, limits.timeout)
    if limits.in_process or os.name != "posix":
        return inside.start(spec)
    return placed.start(
        spec, limits.memory, references=references_allowed(), private=limits.private, patience=limits.timeout
    )


def described(spec: str, host: Host) -> dict[str, str]:
    """What the header of a run says of a backend."""
    about = host.about
    return {"spec": spec, "name": about.name, "version": about.version, "device": about.device}
