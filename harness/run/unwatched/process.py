"""A process of Python with no sign of a judge: no module of this package, no word of it on its command line."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from opproof.backends.host import keeper
from opproof.backends.host.fence import REFERENCES, own_caches
from opproof.harness.run.hosts.process import closed

#: What a keeper is told of a program: any memory, a name as others have, a command of our own.
_KEPT = ("0", "python3", "1")
#: Milliseconds that poll() takes, at most.
_LONGEST = 2**31 - 1


def run(script: str, folder: Path, arguments: Sequence[str], seconds: float) -> int | None:
    """The exit status of a script in a process with no sign of a judge; None where it had not ended by then.

    It runs in `folder`, which no word of its command line names. What lies there is not imported unless it says so.
    What it has started ends with it: a keeper adopts it, as it does for hosts. No Python there looks at what it opens:
    the references and the cache, with the user's key, are hidden where the system lets them be so.
    """
    own = {name: value for name, value in os.environ.items() if "OPPROOF" not in name}
    heard, control = os.pipe()  # at whose end the keeper ends all
    status, told = os.pipe()
    process = subprocess.Popen(
        [
            *(sys.executable, "-I", "-S", keeper.__file__, str(heard), str(told), *_KEPT),
            *closed([REFERENCES, *own_caches()]),
            *(sys.executable, "-P", "-c", script, *arguments),
        ],
        env=own, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        pass_fds=(heard, told), start_new_session=True,
    )  # fmt: skip
    os.close(heard)
    os.close(told)
    try:
        poll = select.poll()
        poll.register(status, select.POLLIN)
        return _status(os.read(status, 64)) if poll.poll(min(1000 * seconds, _LONGEST)) else None
    finally:
        os.close(control)
        process.wait()
        os.close(status)


def _status(line: bytes) -> int | None:
    """What a keeper says, as `exit STATUS`; None where it said nothing, for it was killed."""
    word, _, number = line.partition(b" ")
    return int(number) if word == b"exit" else None
