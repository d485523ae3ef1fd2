"""A process of Python with no sign of a judge: no module of this package, no word of it on its command line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from opproof.backends.host import keeper
from opproof.harness.run.reach import adopt, end

#: What takes its own place by Python with other words, once it reaches no process that it has not started.
_CONFINED = (
    "import os, runpy, sys; runpy.run_path(sys.argv[1])['confine'](own=True); "
    "os.execv(sys.executable, [sys.executable, *sys.argv[2:]])"
)


def run(script: str, folder: Path, arguments: Sequence[str], seconds: float) -> int | None:
    """The exit status of a script in a process with no sign of a judge; None where it had not ended by then.

    It runs in `folder`, which no word of its command line names. What lies there is not imported unless it says so.
    What it has started ends with it.
    """
    adopt()
    before = keeper.children(os.getpid())
    own = {name: value for name, value in os.environ.items() if "OPPROOF" not in name}
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _CONFINED, keeper.__file__, "-P", "-c", script, *arguments],
        env=own, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        end(process.pid)
        for orphan in set(keeper.children(os.getpid())).difference(before):
            end(orphan)
