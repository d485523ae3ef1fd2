"""What a host may use and may not read, and how many run at once."""

from __future__ import annotations

from dataclasses import dataclass

#: Seconds that a case has, and bytes that a host and all that it started may use, where nobody says otherwise.
TIMEOUT = 30.0
HOST_MEMORY = 4096 * 2**20


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds of one call, bytes of the host and all that it started, judges at work."""

    jobs: int
    timeout: float
    memory: int
    in_process: bool = False  # the backend in the judge's own process, without limits
    private: tuple[str, ...] = ()  # files of the user's own references
    environments: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()  # variables to set, by the backend's text
