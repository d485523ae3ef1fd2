"""A process of Python with no sign of a judge: no module of this package, no word of it on its command line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from opproof.harness.run.reach import end


def run(script: str, folder: Path, arguments: Sequence[str], seconds: float) -> int | None:
    """The exit status of a script in a process with no sign of a judge; None where it had not ended by then.

    It runs in `folder`, which no word of its command line names.
    """
    own = {name: value for name, value in os.environ.items() if "OPPROOF" not in name}
    process = subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        env=own, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        end(process.pid)
