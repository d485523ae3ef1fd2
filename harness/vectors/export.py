"""A folder of golden vectors: a safetensors file for every case, and the manifest that says how to read them.

safetensors files are the same to the byte every time: tensors lie in one order, and there is one word of metadata.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import numpy as np
from safetensors.numpy import save

from opproof.core.arrays import Array
from opproof.core.errors import UsageError
from opproof.harness import __version__
from opproof.harness.judge.array_statistics import CONSTANTS
from opproof.harness.reference.chunks.memory_budget import TooLarge
from opproof.harness.reference.roundoff import ignore_fp_warnings
from opproof.harness.run.cache.questions import Questions
from opproof.harness.run.hosts import answer_files
from opproof.harness.run.hosts.answer_files import LeftOut, Manifest, Vector
from opproof.harness.run.task import Task
from opproof.harness.vectors.vector import NotExportable, make_vector


def export(folder: Path, tasks: Sequence[Task], largest: int, total: int) -> Manifest:
    """Write files of `tasks`, those of one case together, and their manifest. What was there before stays.

    One file has at most `largest` bytes, all of them have `total`.
    Raises UsageError where `folder` holds anything else than an earlier export, or cannot be written.
    """
    _check_folder(folder)
    records: list[Vector] = []
    left: list[LeftOut] = []
    written = 0
    for case, group in groupby(tasks, key=lambda t: t.case):
        tensors: dict[str, Array] = {}
        made = _make_vectors(list(group), tensors, largest, left)
        if not made:
            continue
        blob = save({name: np.array(a, order="C") for name, a in tensors.items()}, metadata={"case": case})
        if len(blob) > largest or written + len(blob) > total:
            what = f"its file would be larger than {largest} bytes"
            if len(blob) <= largest:
                what = f"all files together would be larger than {total} bytes"
            left += [LeftOut(r.case, r.mode, what) for r in made]
            continue
        written += len(blob)
        path = folder / made[0].file
        try:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(blob)
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}; give another folder.") from None
        records += made
    whole = Manifest(__version__, CONSTANTS, tasks[0].ops if tasks else (), tuple(records), tuple(left))
    answer_files.write(folder, whole)
    return whole


def _make_vectors(tasks: Sequence[Task], tensors: dict[str, Array], largest: int, left: list[LeftOut]) -> list[Vector]:
    drawn = Questions()
    made = []
    for task in tasks:
        try:
            with ignore_fp_warnings():
                made.append(make_vector(task, drawn, tensors, largest))
        except (NotExportable, TooLarge) as reason:
            left.append(LeftOut(task.case, task.mode, str(reason)))
    return made


def _check_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = [path.name for path in folder.iterdir()]
    except OSError as error:
        raise UsageError(f"{folder} is no folder to write to: {error.strerror}; give another.") from None
    if there and answer_files.FILE not in there:
        raise UsageError(f"{folder} holds something else than an export: {min(there)}; give a new folder.")
