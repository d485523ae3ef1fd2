"""Python's fork server, from which judges come, out of a backend's reach.

Its socket is a file of the user's. Whoever connects to that gets a process, and says what it does; whoever puts another
file in its place gets what the run sends to its next judge, with the pipes of its records. On Linux the server hears
the run alone, and the socket has a name that is no file's, which nobody else can take. Python 3.14 asks for a key as
well.
"""

from __future__ import annotations

import errno
import multiprocessing
import os
import secrets
import socket
import struct
import sys
from contextlib import suppress
from multiprocessing import connection, forkserver, util
from multiprocessing.context import BaseContext
from typing import Any

_ACCEPT = socket.socket.accept
_CREDENTIALS = struct.Struct("3i")  # <sys/socket.h>: process, user, group


def context(preloaded: str) -> BaseContext:
    """For processes that come from a server with this module imported, and so in milliseconds; spawned elsewhere."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload([preloaded])
    server = forkserver._forkserver  # noqa: SLF001 - Python has no other name for it
    if "ensure_running" not in vars(server):
        server.ensure_running = _started  # type: ignore[method-assign]
    return made


def begin(preloaded: str) -> None:
    """Have the server import this module already, while the run has other things to do; it ends with this process."""
    if context(preloaded).get_start_method() == "forkserver":
        with suppress(OSError, EOFError):  # whoever needs it tries again, and says so
            forkserver.ensure_running()


def _started() -> None:
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


def listen_to(process: int) -> None:
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
