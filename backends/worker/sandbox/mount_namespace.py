"""Covers files and folders by empty ones, and lets others not be written, for a process and all that it starts.

An audit hook sees what Python announces, and nothing of C, of other programs or of another Python. Here the paths are
covered in a mount namespace of the process's own. Linux lets root do so, and any user where no container and no rule
of the machine's forbids namespaces: that is tried in a copy of the process first. The supervisor alone imports it, from
its folder: nothing here is of opproof.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path

# <sched.h> and <sys/mount.h>
_CLONE_NEWNS = 0x20000
_CLONE_NEWUSER = 0x10000000
_MS_REMOUNT, _KEPT_MOUNT_FLAGS = 32, os.ST_NOSUID | os.ST_NODEV | os.ST_NOEXEC  # no user may take these back
_MS_RDONLY = 1
_MS_BIND = 4096
_MS_REC = 16384
_MS_PRIVATE = 1 << 18
_DUMPABLE = 4  # <sys/prctl.h>


def cover(paths: Sequence[str], sealed: Sequence[str] = ()) -> bool:
    """Cover those that there are, and let the `sealed` folders not be written; whether it could be done.

    Where not, nothing is changed.
    """
    child = os.fork()
    if not child:
        try:
            _cover(paths, sealed)
            os._exit(0)
        except BaseException:
            os._exit(1)
    if os.waitpid(child, 0)[1]:
        return False
    _cover(paths, sealed)
    return True


def _cover(paths: Sequence[str], sealed: Sequence[str]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    if libc.unshare(_CLONE_NEWNS):
        _check_status(libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNS))
        libc.prctl(_DUMPABLE, 1, 0, 0, 0)  # else its own entries under /proc are not its own
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            Path("/proc/self", name).write_text(text)
    _check_status(libc.mount(None, b"/", None, ctypes.c_ulong(_MS_REC | _MS_PRIVATE), None))
    for folder in sealed:
        _seal(libc, folder)
    for path in map(Path, paths):
        if path.is_dir():
            _check_status(libc.mount(b"none", bytes(path), b"tmpfs", ctypes.c_ulong(_MS_RDONLY), b"size=4k,mode=500"))
        elif path.exists():
            empty = Path(os.environ.get("TMPDIR", "/tmp"), f"opproof-{os.getpid()}")  # noqa: S108 - made by us, or fails
            empty.touch(mode=0, exist_ok=False)
            try:
                _check_status(libc.mount(bytes(empty), bytes(path), None, ctypes.c_ulong(_MS_BIND), None))
            finally:
                empty.unlink()


def _seal(libc: ctypes.CDLL, path: str) -> None:
    """Mount a folder onto itself, not to be written; what its file system forbids stays forbidden."""
    place = os.fsencode(path)
    _check_status(libc.mount(place, place, None, ctypes.c_ulong(_MS_BIND), None))
    kept = os.statvfs(path).f_flag & _KEPT_MOUNT_FLAGS
    _check_status(libc.mount(None, place, None, ctypes.c_ulong(_MS_REMOUNT | _MS_BIND | _MS_RDONLY | kept), None))


def _check_status(status: int) -> None:
    if status:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
