"""What keeps a backend from the judge's processes: from their memory, the fork server, and keys of a cluster.

A process that is not "dumpable" can be neither traced nor opened under /proc by its user's other processes. The fork
server hears the run alone, on a socket whose name is no file's: whoever connects to it gets a process, and whoever
takes its place gets what the run sends to its judges. Schedulers carry out whatever they are sent: with TLS, by a key
alone.
"""

from __future__ import annotations

import ctypes
import errno
import multiprocessing
import os
import secrets
import signal
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import connection, forkserver, util
from multiprocessing.context import BaseContext
from typing import Any

from opproof.backends.worker.sandbox import supervisor

# <sys/prctl.h>
_PR_GET_DUMPABLE = 3
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36


def harden_process() -> None:
    """Put this process out of reach, and all that it forks."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def take_orphans() -> None:
    """Become the parent of orphans among this process's descendants."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end(process: int) -> None:
    """Kill a process with all its descendants; wait for it where it is a child."""
    for one in (process, *supervisor.find_descendants(process)):
        with suppress(OSError):
            os.kill(one, signal.SIGKILL)
    with suppress(OSError):
        os.waitpid(process, 0)


@contextmanager
def with_hardened_process() -> Iterator[None]:
    """Out of reach for a while: the records that a run holds are nobody else's to change."""
    if sys.platform != "linux":
        yield
        return
    libc = ctypes.CDLL(None)
    before = libc.prctl(_PR_GET_DUMPABLE, 0, 0, 0, 0)
    harden_process()
    try:
        yield
    finally:
        libc.prctl(_PR_SET_DUMPABLE, before, 0, 0, 0)


_ACCEPT = socket.socket.accept
_CREDENTIALS = struct.Struct("3i")  # <sys/socket.h>: process, user, group


def make_context() -> BaseContext:
    """For judges, which come from a server with their modules imported, and so in milliseconds."""
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["opproof.harness.run.preload"])
    server = forkserver._forkserver  # noqa: SLF001 - Python has no other name for it
    if "ensure_running" not in vars(server):
        server.ensure_running = _ensure_started  # type: ignore[method-assign]
    return made


def start_server() -> None:
    """Have the server import these already, while the run has other things to do; it ends with this process."""
    make_context()
    with suppress(OSError, EOFError):  # whoever needs it tries again, and says so
        forkserver.ensure_running()


def _ensure_started() -> None:
    """Start the server where none runs, out of reach of files: of its socket, and of modules in the current folder.

    A name that begins with a zero byte lives as long as its socket, on Linux. What a backend wrote into the current
    folder, a logging.py, would be imported by each judge.
    """
    named: Any = connection
    flagged, flags = vars(util), "_args_from_interpreter_flags"
    ordinary, usual = named.arbitrary_address, flagged[flags]
    if sys.platform == "linux":
        named.arbitrary_address = lambda _: f"\0opproof-{secrets.token_hex(16)}"
    flagged[flags] = lambda: ["-P", *usual()]
    try:
        forkserver.ForkServer.ensure_running(forkserver._forkserver)  # noqa: SLF001
    finally:
        named.arbitrary_address, flagged[flags] = ordinary, usual


def restrict_connections(process: int) -> None:
    """Have every socket of this process accept connections of that one alone. Linux tells of whom one is.

    Another one's is closed, and looks to multiprocessing's loop as if it had been given up while it waited.
    """
    if sys.platform != "linux":
        return

    def accept(listener: socket.socket) -> tuple[socket.socket, Any]:
        caller, address = _ACCEPT(listener)
        told = caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        if _CREDENTIALS.unpack(told)[0] != process:
            caller.close()
            raise OSError(errno.ECONNABORTED, os.strerror(errno.ECONNABORTED))
        return caller, address

    listening: Any = socket.socket
    listening.accept = accept


def warn_unguarded(address: str) -> list[str]:
    """What is to be said of a run whose scheduler asks nobody for a key."""
    if "://" not in address or address.startswith("tls://"):
        return []
    said = "asks nobody for a key: whoever reaches it, a backend on its workers too, can change what they judge"
    return [f"The scheduler at {address} {said}. One with TLS asks, at tls://; docs/how-to/cluster.md says how."]
