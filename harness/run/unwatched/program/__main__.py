"""Answer what lies in a folder, and leave the answers beside it: python -m NAME MODULE FOLDER SECONDS."""

from __future__ import annotations

import importlib
import json
import os
import pickle
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

from .job import Job, Told
from .steps import at_once, attempted, beside_torch, has_torch, in_other_ways, once

#: Calls that a program makes at least, before what it asks comes a second time.
AT_LEAST = 32
#: Seconds that the equal calls of a job may take.
SECONDS = 0.3
#: Jobs from which on it is worth its seconds to import PyTorch.
MANY = 8


def main(module: str, there: str, seconds: str) -> None:
    """Answer what lies there, for so many seconds, and leave the answers beside it.

    All once, then in other ways; by two threads last of all, which who is not made for them may not survive.
    """
    sys.path.insert(0, str(Path.cwd()))
    loaded = importlib.import_module(module)
    own = getattr(loaded, "backend", None)
    backend = own if callable(getattr(own, "forward", None)) else loaded
    jobs = list[tuple[Path, Job]]()
    for path in sorted(Path(there).glob("*.pickle"), key=lambda p: int(p.stem)):
        of = pickle.loads(path.read_bytes())  # noqa: S301 - of who started it
        jobs.append((path.with_suffix(".json"), Job(backend, of, f"{there}/{path.stem}")))
    until = time.monotonic() + float(seconds)
    told = dict[Path, Told]()
    few = partial(in_other_ways, seconds=min(SECONDS, float(seconds) / 4 / len(jobs)))
    with np.errstate(all="ignore"):
        for step in (partial(once, before=-(-AT_LEAST // len(jobs))), few, beside_torch, at_once):
            if step is beside_torch and not (len(jobs) >= MANY and has_torch()):
                continue
            for path, job in jobs:
                if told and time.monotonic() > until:
                    break
                if job.once and path in told:
                    continue
                told[path] = attempted(job, told.get(path, {}), step)
                path.write_text(json.dumps(told[path]), encoding="utf-8")
    os._exit(0)  # a thread that waits for ever ends with it


if __name__ == "__main__":
    main(*sys.argv[1:])
