"""The one program that asks a backend's file or a candidate: jobs as files, no sign of a judge, answers as files.

No module of this package is imported there, and no word of its command line says this package's name.
"""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np

from opproof.backends.worker.protocol import dtype_of
from opproof.backends.worker.sandbox.import_guard import REFERENCES, find_own_caches
from opproof.core.arrays import Array
from opproof.harness.run.hosts.process import make_env_prefix, make_supervisor_command

#: The folder of the program, which is copied beside its jobs.
PROGRAM = Path(__file__).with_name("program")
#: Run the module of that name, which lies in that folder.
_START = "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); runpy.run_module(sys.argv.pop(1), None, '__main__')"


class _Told(msgspec.Struct, forbid_unknown_fields=True):
    """What the program says of a job: by the way of calling dtype, shape and kind of each array, or what went wrong."""

    made: dict[str, list[tuple[str, tuple[int, ...], str] | None]] = {}
    raised: str = ""
    declined: bool = False


@dataclass(frozen=True)
class JobAnswer:
    """What became of a job."""

    ways: Mapping[str, Sequence[Array | None]]  # by the names that the program gives them
    raised: str = ""
    kinds: Mapping[str, Sequence[str]] = field(default_factory=dict)  # of tensors the dtypes that arrays stand for


@dataclass(frozen=True)
class Program:
    """How a program ended, see `run`, and what became of each job; None of what it did not come to."""

    status: int | None
    answers: Sequence[JobAnswer | None]


def ask_program(
    file: Path,
    jobs: Sequence[Mapping[str, object]],
    seconds: float,
    *,
    limit: float,
    place: Path | None = None,
    variables: Mapping[str, str] | None = None,
) -> Program:
    """Let a program do `jobs` with the module in `file`, for at most `limit` seconds, in the folder `place` or its own.

    It begins nothing new after `seconds`. A job with "tensors" is one of PyTorch, any other is one of a backend;
    program/ says what is in either. `variables` are in its environment.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        there = Path(folder)
        for k, job in enumerate(jobs):
            _write_job(there / str(k), job)
        name = f"program_{there.name}"
        shutil.copytree(PROGRAM, there / name)
        where = file.resolve().parent
        arguments = [folder, name, file.stem, folder, str(seconds), *([] if place is None else [str(where)])]
        status = run(_START, place or where, arguments, limit, variables)
        return Program(status, [_read_answer(there, k) for k in range(len(jobs))])


def _write_job(path: Path, job: Mapping[str, object]) -> None:
    if "tensors" in job:
        import torch

        torch.save(job, path.with_suffix(".pt"))
    else:
        path.with_suffix(".pickle").write_bytes(pickle.dumps(job))


def _read_answer(there: Path, k: int) -> JobAnswer | None:
    try:
        told = msgspec.json.decode((there / f"{k}.json").read_bytes(), type=_Told)
        ways = {
            way: [_read_array(there / f"{k}{way}{i}", r) for i, r in enumerate(some)] for way, some in told.made.items()
        }
    except (OSError, ValueError, TypeError, msgspec.DecodeError):  # nothing that it could have written
        return None
    return JobAnswer(ways, told.raised, {way: [r[2] if r else "" for r in some] for way, some in told.made.items()})


def _read_array(path: Path, told: tuple[str, tuple[int, ...], str] | None) -> Array | None:
    """Raises OSError, ValueError and TypeError."""
    if told is None:
        return None
    name, shape, _ = told
    dtype = dtype_of(name)
    if dtype.hasobject:
        raise TypeError(name)
    return np.frombuffer(path.read_bytes(), dtype).reshape(shape)


#: What `ps` calls its supervisor: as others are called.
_NAME = "python3"


def run(
    script: str, folder: Path, arguments: Sequence[str], seconds: float, variables: Mapping[str, str] | None = None
) -> int | None:
    """The exit status of a script in a process with no sign of a judge; None where it had not ended by then.

    It runs in `folder`, which no word of its command line names, with `variables` in its environment. What lies there
    is not imported unless it says so.
    What it has started ends with it: a supervisor adopts it, as it does for hosts. No Python there looks at what it
    opens: the references and the cache, with the user's key, are hidden where the system lets them be so.
    """
    own = {name: value for name, value in os.environ.items() if "OPPROOF" not in name}
    heard, control = os.pipe()  # at whose end the supervisor ends all
    status, told = os.pipe()
    supervisor = make_supervisor_command(
        heard, told, 0, _NAME, is_builtin=True, hidden=[REFERENCES, *find_own_caches()]
    )
    process = subprocess.Popen(
        [*supervisor, *make_env_prefix(variables), sys.executable, "-P", "-c", script, *arguments],
        env=own, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        pass_fds=(heard, told), start_new_session=True,
    )  # fmt: skip
    os.close(heard)
    os.close(told)
    try:
        process.wait(seconds)
        word, _, number = os.read(status, 64).partition(b" ")  # exit STATUS; nothing where the supervisor was killed
        return int(number) if word == b"exit" else None
    except subprocess.TimeoutExpired:
        return None
    finally:
        os.close(control)
        process.wait()
        os.close(status)
