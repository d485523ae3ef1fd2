"""A process of Python with no sign of a judge: no module of this package, no word of it on its command line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from opproof.backends.worker.sandbox.import_guard import REFERENCES, own_caches
from opproof.harness.run.hosts.process import keeper_of, setting

#: What `ps` calls its keeper: as others are called.
_NAME = "python3"


def run(
    script: str, folder: Path, arguments: Sequence[str], seconds: float, variables: Mapping[str, str] | None = None
) -> int | None:
    """The exit status of a script in a process with no sign of a judge; None where it had not ended by then.

    It runs in `folder`, which no word of its command line names, with `variables` in its environment. What lies there
    is not imported unless it says so.
    What it has started ends with it: a keeper adopts it, as it does for hosts. No Python there looks at what it opens:
    the references and the cache, with the user's key, are hidden where the system lets them be so.
    """
    own = {name: value for name, value in os.environ.items() if "OPPROOF" not in name}
    heard, control = os.pipe()  # at whose end the keeper ends all
    status, told = os.pipe()
    keeper = keeper_of(heard, told, 0, _NAME, own=True, hidden=[REFERENCES, *own_caches()])
    process = subprocess.Popen(
        [*keeper, *setting(variables), sys.executable, "-P", "-c", script, *arguments],
        env=own, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        pass_fds=(heard, told), start_new_session=True,
    )  # fmt: skip
    os.close(heard)
    os.close(told)
    try:
        process.wait(seconds)
        return _status(os.read(status, 64))
    except subprocess.TimeoutExpired:
        return None
    finally:
        os.close(control)
        process.wait()
        os.close(status)


def _status(line: bytes) -> int | None:
    """What a keeper says, as `exit STATUS`; None where it said nothing, for it was killed."""
    word, _, number = line.partition(b" ")
    return int(number) if word == b"exit" else None
