"""The references are not for backends: a process below a host's supervisor cannot import them.

A backend can start Python anew, without the audit hook of its host (backends/worker/sandbox/import_guard.py); it cannot
leave its family, whose orphans the supervisor adopts. A supervisor of a backend that is made of the references has
another name.
"""

from __future__ import annotations

import os

SUPERVISOR = "opproof-keeper"


def refuse_backends() -> None:
    """Raises ImportError below a process that is called SUPERVISOR. Where there is no /proc nobody can tell."""
    process = os.getpid()
    while process > 1:
        try:
            with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - pathlib is half of a start
                name, _, fields = file.read().partition("(")[2].rpartition(")")
        except OSError:
            return
        if name == SUPERVISOR:
            raise ImportError("a backend cannot import the references: what is expected belongs to the judge")
        process = int(fields.split()[1])
