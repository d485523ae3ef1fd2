"""Memory that a judge shares with the host on its machine."""

from __future__ import annotations

import mmap
import os
import tempfile

import numpy as np

from opproof.harness.run.arena.poison import Bytes


class SharedMemory:
    """A file without a name that judge and host have mapped; nobody can make it smaller, nor forbid its growth."""

    def __init__(self) -> None:
        if hasattr(os, "memfd_create"):
            import fcntl

            self.descriptor = os.memfd_create("opproof", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
        else:
            with tempfile.TemporaryFile() as file:
                self.descriptor = os.dup(file.fileno())
        self._memory: Bytes = np.empty(0, np.uint8)

    def grown(self, size: int) -> Bytes:
        """At least `size` bytes of it."""
        if self._memory.size < size:
            length = -(-max(size, 2 * self._memory.size, 1 << 20) // mmap.PAGESIZE) * mmap.PAGESIZE
            if os.fstat(self.descriptor).st_size < length:  # else a host has made it larger, which nobody can undo
                os.ftruncate(self.descriptor, length)
            self._memory = np.frombuffer(mmap.mmap(self.descriptor, length), np.uint8)
        return self._memory

    def close(self) -> None:
        """Give it back as far as nobody looks at it any more."""
        os.close(self.descriptor)
        self._memory = np.empty(0, np.uint8)
