"""To whom the fork server listens: its socket is a file, and it would fork for whoever finds that, a backend too."""

from __future__ import annotations

import errno
import os
import socket
import struct
import sys
from typing import Any

_ACCEPT = socket.socket.accept
_CREDENTIALS = struct.Struct("3i")  # <sys/socket.h>: process, user, group


def listen_to(process: int) -> None:
    """Have every socket of this process accept connections of that one alone. Linux tells of whom one is.

    Another one's is closed, and looks to multiprocessing's loop as if it had been given up while it waited.
    """
    if sys.platform != "linux":
        return

    def accept(listener: socket.socket) -> tuple[socket.socket, Any]:
        connection, address = _ACCEPT(listener)
        told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        if _CREDENTIALS.unpack(told)[0] != process:
            connection.close()
            raise OSError(errno.ECONNABORTED, os.strerror(errno.ECONNABORTED))
        return connection, address

    socket.socket.accept = accept  # type: ignore[method-assign]
