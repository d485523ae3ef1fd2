"""Between a judge and its host: starts the host, watches its memory, and ends it with all its descendants.

    python -I -S supervisor.py CONTROL STATUS MEMORY NAME OWN COUNT PATH... COUNT PATH... COMMAND...

CONTROL is a pipe that the judge holds open: at its end, also when the judge is killed, everything that the host
started is killed, whatever it did to hide (sessions, groups, orphans: this process adopts them). On STATUS goes one
line when the host ends: `exit STATUS`, as subprocess counts, or `memory`. MEMORY is in bytes, of the whole family; 0
is no limit. NAME is what this process is called by `ps`, and by reference_ops/_kept.py, which is not to be imported
below one that is called opproof-keeper. OWN is 1 where COMMAND is opproof's own. The first PATH... are COUNT files and
folders that are to be empty for it, the others not to be written (mount_namespace.py). Stands alone
and imports nothing of opproof: its start is every host's.

Where the kernel has Landlock, what the host starts, in whatever language, opens no memory and no descriptors of a
process outside of its family, another backend's host among them; and from Linux 6.12 on it signals none.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import select
import signal
import struct
import sys
import time

_INTERVAL = 0.05  # seconds between two looks
_PATIENCE = 5.0  # seconds in which killed processes may die

# <sys/prctl.h> and <linux/capability.h>
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NAME = 15
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_CAP_DAC_READ_SEARCH = 2
_CAP_MKNOD = 27
_CAP_SYS_PTRACE = 19
_CAP_SYS_ADMIN = 21
_CAP_SYS_NICE = 23
_CAP_SYS_RESOURCE = 24
_CAP_PERFMON = 38
_NO_NEW_PRIVS = 38

# <linux/landlock.h>: system calls, rights, and the versions that have them
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_ADD_RULE = 445
_LANDLOCK_RESTRICT_SELF = 446
_ACCESS_FS_MAKE_BLOCK = 1 << 11
_ACCESS_FS_REFER = 1 << 13
_SCOPE_SIGNAL = 1 << 1
_MIN_REFER_ABI = 2
_MIN_SIGNAL_ABI = 6

# <linux/seccomp.h> and <linux/filter.h>: by machine its number in <linux/audit.h>, and those of seccomp and prlimit64
_MACHINES = {"x86_64": (0xC000003E, 317, 302), "aarch64": (0xC00000B7, 277, 261)}
_SET_MODE_FILTER = 1
_FILTER_FLAG_SPEC_ALLOW = 1 << 2
#: A word at a place of the call; whether it is a number; what becomes of it.
_BPF_LOAD_WORD = 0x20
_BPF_JUMP_EQUAL = 0x15
_BPF_RETURN = 0x06
_NUMBER_OFFSET = 0
_ARCH_OFFSET = 4
_FIRST_ARG_OFFSET = 16
_FIRST_ARG_HIGH_OFFSET = 20
_RET_ERRNO_EPERM, _RET_ALLOW = 0x00050000 | errno.EPERM, 0x7FFF0000

_PAGE = os.sysconf("SC_PAGESIZE")


def main() -> None:
    """Keep one host."""
    control, status, memory, name, own, count, *rest = sys.argv[1:]
    hidden, (count, *rest) = rest[: int(count)], rest[int(count) :]
    sealed, command = rest[: int(count)], rest[int(count) :]
    _call_prctl(_PR_SET_NAME, name.encode())
    _call_prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _call_prctl(_PR_SET_DUMPABLE, 0)  # its own memory is not the host's to write
    deaths, wakeup = os.pipe()
    os.set_blocking(wakeup, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakeup)
    host = _start_host(command, hidden, sealed, int(control), int(status), is_builtin=own == "1")
    line = _watch_host(host, int(control), deaths, int(memory))
    _kill_all(host)
    os.write(int(status), f"{line}\n".encode())


def _start_host(
    command: list[str], hidden: list[str], sealed: list[str], control: int, status: int, *, is_builtin: bool
) -> int:
    host = os.fork()
    if host:
        os.close(0)  # the pipes end with the host, not with this process
        os.close(1)
        return host
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    covered = bool(hidden) and not _needs_a_program_of_roots() and _cover_paths(hidden, sealed)
    os.close(control)
    os.close(status)
    confine(is_builtin=is_builtin, covered=covered)
    try:
        os.execvp(command[0], command)  # noqa: S606 - the command is the user's own
    except OSError as error:
        os.write(2, f"{command[0]} could not be started: {error.strerror}\n".encode())
        os._exit(127)


def confine(*, is_builtin: bool, covered: bool = False) -> None:
    """Let this process, and what takes its place, end with its parent, and reach no process outside of its family.

    Who is not root gives up for the latter that programs with the set-user-ID bit gain anything. So there is none of it
    for a command of the user's then, which may be sudo, nor where such a program is needed.
    """
    _call_prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # after what gives other rights, which takes it back
    # As root: the memory of other processes is not to be read, nor their environment, which newer kernels show to the
    # last two whatever Landlock says; nor are the priority, the timers and the limits of other processes to be set. A
    # command of the user's may be one that needs to mount something.
    every = (_CAP_SYS_PTRACE, _CAP_PERFMON, _CAP_SYS_NICE, _CAP_SYS_RESOURCE)
    ways_round = (_CAP_DAC_READ_SEARCH, _CAP_MKNOD) if covered else ()  # a file by its number, a disk as a whole
    for capability in (*every, *ways_round, *([_CAP_SYS_ADMIN] if is_builtin else [])):
        _call_prctl(_PR_CAPBSET_DROP, capability)
    if os.geteuid() and (not is_builtin or _needs_a_program_of_roots()):
        return
    with contextlib.suppress(OSError, AttributeError):  # no Linux, or one without
        _set_apart(is_builtin=is_builtin, covered=covered)
    with contextlib.suppress(OSError, AttributeError):
        _leave_limits()


def _cover_paths(hidden: list[str], sealed: list[str]) -> bool:
    """Whether the paths are empty now, as far as they are there, and others not to be written."""
    from importlib import import_module

    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - as in _there
    try:
        return bool(import_module("mount_namespace").cover(hidden, sealed))
    except (OSError, AttributeError):  # no Linux
        return False


def _needs_a_program_of_roots() -> bool:
    """Whether NVIDIA's driver has yet to make its devices, by a program with the set-user-ID bit."""
    return _has_path("/proc/driver/nvidia") and not _has_path("/dev/nvidia-uvm")


def _set_apart(*, is_builtin: bool, covered: bool) -> None:
    """Make a Landlock domain of this process and all that it starts. Files stay as open to it as they were.

    What is `covered` stays so: in a domain that is about files nothing is mounted. Raises OSError where the kernel has
    no Landlock.
    """
    version = _call(_LANDLOCK_CREATE_RULESET, None, 0, 1)
    if version < _MIN_REFER_ABI or (version < _MIN_SIGNAL_ABI and not is_builtin):
        return
    scope = (0, _SCOPE_SIGNAL) if version >= _MIN_SIGNAL_ABI else ()
    if scope and not covered:
        rules = _make_ruleset(0, *scope)
    else:  # a domain has to be about something; to move files is refused unless allowed, and mounts are always
        rules, root = _make_ruleset(_ACCESS_FS_MAKE_BLOCK | _ACCESS_FS_REFER, *scope), os.open("/", os.O_PATH)
        _call(_LANDLOCK_ADD_RULE, rules, 1, struct.pack("=Qi", _ACCESS_FS_MAKE_BLOCK | _ACCESS_FS_REFER, root), 0)
        os.close(root)
    _drop_rights(_LANDLOCK_RESTRICT_SELF, rules, 0)
    os.close(rules)


def _leave_limits() -> None:
    """Let nothing that this process starts set limits of others: of files of 0 bytes, say, which ends a run's records.

    Raises OSError where the kernel filters no calls.
    """
    if os.uname().machine not in _MACHINES:
        return
    audited, seccomp, prlimit = _MACHINES[os.uname().machine]
    steps = (
        # The calls of another machine have other numbers.
        (_BPF_LOAD_WORD, 0, 0, _ARCH_OFFSET), (_BPF_JUMP_EQUAL, 0, 7, audited),
        (_BPF_LOAD_WORD, 0, 0, _NUMBER_OFFSET), (_BPF_JUMP_EQUAL, 0, 5, prlimit),
        (_BPF_LOAD_WORD, 0, 0, _FIRST_ARG_OFFSET), (_BPF_JUMP_EQUAL, 0, 2, 0),  # 0 is the process itself
        (_BPF_LOAD_WORD, 0, 0, _FIRST_ARG_HIGH_OFFSET), (_BPF_JUMP_EQUAL, 1, 0, 0),
        (_BPF_RETURN, 0, 0, _RET_ERRNO_EPERM), (_BPF_RETURN, 0, 0, _RET_ALLOW),
    )  # fmt: skip
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    _drop_rights(
        seccomp, _SET_MODE_FILTER, _FILTER_FLAG_SPEC_ALLOW, struct.pack("@HP", len(steps), ctypes.addressof(code))
    )


def _drop_rights(number: int, *arguments: int | bytes) -> None:
    """A system call by which this process gives something up. Raises OSError."""
    try:
        _call(number, *arguments)
    except OSError:  # nobody but root may do so, and not the root of most containers
        _call_prctl(_NO_NEW_PRIVS, 1)
        _call(number, *arguments)


def _make_ruleset(*rights: int) -> int:
    """Its descriptor. `rights` to files, to ports, and out of its scope, as far as the kernel knows them."""
    told = struct.pack(f"={len(rights)}Q", *rights)
    return _call(_LANDLOCK_CREATE_RULESET, told, len(told), 0)


def _has_path(path: str) -> bool:
    return os.path.exists(path)  # noqa: PTH110 - pathlib is half of a start


def _call(number: int, *arguments: int | bytes | None) -> int:
    """A system call by its number. Raises OSError."""
    call = ctypes.CDLL(None, use_errno=True).syscall
    whole = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    answer = int(call(ctypes.c_long(number), *whole))
    if answer < 0:
        raise OSError(ctypes.get_errno(), f"system call {number}")
    return answer


def _watch_host(host: int, control: int, deaths: int, memory: int) -> str:
    """Why the host is no more, or is to be no more."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(deaths, select.POLLIN)
    while True:
        ready = [descriptor for descriptor, _ in poll.poll(_INTERVAL * 1000)]
        if control in ready:
            return "end"
        if deaths in ready:
            os.read(deaths, 64)
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return "end"
            if process == host:
                return f"exit {os.waitstatus_to_exitcode(status)}"
            if not process:
                break
        if memory and sum(map(_resident_bytes_of, find_descendants(os.getpid()))) > memory:
            return "memory"


def _kill_all(host: int) -> None:
    """Kill every descendant until none is left; one that forks meanwhile is seen in the next round."""
    with contextlib.suppress(OSError):
        os.killpg(host, signal.SIGKILL)  # all there is to do where no /proc tells of descendants
    ends = time.monotonic() + _PATIENCE
    while time.monotonic() < ends:
        for process in find_descendants(os.getpid()):
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def find_descendants(process: int) -> list[int]:
    """All processes below one; where it is a subreaper, those whose parents died have become its children."""
    family: list[int] = []
    parents = [process]
    while parents:
        below = list_children(parents.pop())
        family += below
        parents += below
    return family


def list_children(process: int) -> list[int]:
    """The processes below one; none where there is no /proc."""
    try:
        threads = os.listdir(f"/proc/{process}/task")  # noqa: PTH208 - pathlib is half of a start
    except OSError:
        return []
    numbers: list[int] = []
    for thread in threads:
        with contextlib.suppress(OSError):  # it has ended meanwhile, and another has its children
            numbers += map(int, _read(f"/proc/{process}/task/{thread}/children").split())
    return numbers


def parent_of(process: int) -> int:
    """The process that started another, or adopted it; 0 where nobody can tell."""
    try:
        return int(_read(f"/proc/{process}/stat").rpartition(b")")[2].split()[1])
    except (OSError, IndexError):
        return 0


def _resident_bytes_of(process: int) -> int:
    """Resident memory in bytes; 0 where the process has ended."""
    try:
        return int(_read(f"/proc/{process}/statm").split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 1 << 16)
    finally:
        os.close(descriptor)


def _call_prctl(option: int, value: int | bytes) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main()
