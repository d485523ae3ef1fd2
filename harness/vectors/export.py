"""A folder of golden vectors: a safetensors file for every case, and the manifest that says how to read them.

safetensors files are the same to the byte every time: tensors lie in one order, and there is one word of metadata.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import numpy as np
from safetensors.numpy import save

from opproof.backends.worker.protocol import name_of, params_to_json
from opproof.cases import Case
from opproof.cases._layouts import cotangent_layout, layouts_of, row_major, storage_of
from opproof.core.arrays import Array, has_same_bits
from opproof.core.dtypes import DTYPES
from opproof.core.errors import UsageError
from opproof.core.verdicts import Mode
from opproof.harness import __version__
from opproof.harness.judge import gradient
from opproof.harness.judge.array_statistics import CONSTANTS
from opproof.harness.judge.bound import bound_of
from opproof.harness.reference.chunks.memory_budget import TooLarge
from opproof.harness.reference.chunks.question import Posing, count_elements
from opproof.harness.reference.data import to_dtype
from opproof.harness.reference.expected import expected_of
from opproof.harness.reference.question import Expected, Question, name_outputs
from opproof.harness.reference.roundoff import ignore_fp_warnings
from opproof.harness.reference.valid_case import op_of
from opproof.harness.run import request
from opproof.harness.run.cache.questions import Questions
from opproof.harness.run.hosts import answer_files
from opproof.harness.run.hosts.answer_files import (
    LeftOut,
    Manifest,
    Vector,
    VectorResult,
    VectorTensor,
    digest_of_question,
)
from opproof.harness.run.memory import poison
from opproof.harness.run.task import Task

_ELEMENT = 8  # bytes, of expected values


class NotExportable(Exception):
    """A case that no file is made of; the text says why."""


@dataclass
class _Tensors:
    """Tensors of one file by name; one that is there already is not written twice."""

    arrays: dict[str, Array] = field(default_factory=dict)

    def add(self, wish: str, array: Array) -> str:
        """The name under which the file holds `array`: `wish`, or that with "gradient." before it."""
        for name in (wish, f"gradient.{wish}"):
            kept = self.arrays.setdefault(name, array)
            if kept is array or (
                kept.shape == array.shape and kept.dtype == array.dtype and has_same_bits(kept, array)
            ):
                return name
        raise AssertionError(wish)


def make_vector(task: Task, posing: Posing, tensors: dict[str, Array], largest: int) -> Vector:
    """What the manifest says of `task`; its tensors are added to `tensors`, those of the case's other mode.

    Raises Unfit where more than `largest` bytes would be written, or where files cannot say what is right.
    """
    case, mode = Case.parse(task.case), Mode(task.mode)
    op = op_of(case.op, task.ops)
    if case.destinations:
        raise NotExportable("the result is to be written to memory of the caller's, which a file is not")
    if case.wrong:
        raise NotExportable("a wrong call has no answer")
    if mode is Mode.GRADIENT and op.vjp is None:
        raise NotExportable("its gradient is judged by finite differences, which have no bound beforehand")
    if count_elements(case) * DTYPES[case.dtype].numpy.itemsize > largest:
        raise NotExportable(f"its inputs alone are larger than {largest} bytes")
    pair = posing(case, op, mode, task.judge_memory)
    posed = pair.case_data
    if pair.room is not None:
        raise NotExportable("it is so large that it is judged in slices")
    if mode is Mode.GRADIENT and not any(posed.needs):
        raise NotExportable("no input of it has a gradient")
    wanted = request.wanted_of(posed, pair.outputs)
    if sum(int(np.prod(w.shape)) for w in wanted if w is not None) * 2 * _ELEMENT > largest:
        raise NotExportable(f"what is expected of it is larger than {largest} bytes")
    file = _Tensors(dict(tensors))
    stem = f"{case.op}/{hashlib.sha256(task.case.encode()).hexdigest()[:12]}"
    made = Vector(
        case=task.case,
        mode=str(mode),
        op=case.op,
        dtype=case.dtype,
        params=json.loads(params_to_json(posed.params)),
        file=f"{stem}.safetensors",
        answer=f"{stem}-{mode}.safetensors",
        inputs=tuple(_store_inputs(posed, file)),
        cotangents=tuple(_store_cotangents(posed, file)),
        results=tuple(_store_results(posed, wanted, file)),
        question=digest_of_question(posed),
        note=_note(posed),
    )
    tensors.update(file.arrays)
    return made


def _store_inputs(posed: Question, file: _Tensors) -> Iterator[VectorTensor | None]:
    layouts = layouts_of(posed.case)
    for name, values in zip(posed.names, posed.inputs, strict=True):
        if name is None or values is None:
            yield None
        else:
            same = next(j for j, other in enumerate(posed.inputs) if other is values)
            yield _store_laid_out(
                f"input.{same}", name, to_dtype(values, posed.case.dtype_of(name)), layouts[name], file
            )


def _store_cotangents(posed: Question, file: _Tensors) -> Iterator[VectorTensor | None]:
    layout = cotangent_layout(posed.case)
    names = name_outputs(posed.op, len(posed.cotangents))
    for i, (g, name) in enumerate(zip(posed.cotangents, names, strict=True)):
        yield (
            None if g is None else _store_laid_out(f"cotangent.{i}", name, to_dtype(g, posed.case.dtype), layout, file)
        )


def _store_laid_out(wish: str, name: str, values: Array, layout: str, file: _Tensors) -> VectorTensor:
    storage = storage_of(values.shape, layout)
    stored = values
    if (storage.offset, storage.strides) != (0, row_major(values.shape)) or storage.size != values.size:
        room = np.empty(storage.size * values.dtype.itemsize, np.uint8)
        poison(room, values.dtype)
        strides = tuple(s * values.dtype.itemsize for s in storage.strides)
        np.ndarray(values.shape, values.dtype, room.data, storage.offset * values.dtype.itemsize, strides)[...] = values
        stored = room.view(values.dtype)
    kind = name_of(values.dtype)
    return VectorTensor(name, file.add(wish, stored), kind, values.shape, storage.strides, storage.offset)


def _store_results(
    posed: Question, wanted: Sequence[request.Wanted | None], file: _Tensors
) -> Iterator[VectorResult | None]:
    word = "output" if posed.mode is Mode.FORWARD else "gradient"
    expected = expected_of(posed)
    ends = _find_slope_ends(posed, expected)
    for i, (want, right) in enumerate(zip(wanted, expected, strict=True)):
        if want is None or right is None:
            yield None
            continue
        name = f"{word}.{i}"
        bound = _bound(right, posed.dtype_of(i))
        low = high = ""
        if i in ends:
            low, high = file.add(f"{name}.low", ends[i][0]), file.add(f"{name}.high", ends[i][1])
            bound = ends[i][2]
        values = file.add(f"{name}.expected", right.values)
        limit = file.add(f"{name}.bound", bound)
        yield VectorResult(want.name, name, name_of(want.dtype), want.shape, values, limit, low, high)


def _bound(expected: Expected, dtype: str) -> Array:
    if expected.values.dtype.kind != "f":
        return np.zeros(expected.values.shape)
    with np.errstate(all="ignore"):
        return bound_of(expected, DTYPES[dtype])


def _find_slope_ends(posed: Question, expected: Sequence[Expected | None]) -> dict[int, tuple[Array, Array, Array]]:
    """By argument with elements at kinks: the least and the largest that is right, and the bound beyond them."""
    if posed.mode is Mode.FORWARD or posed.op.ties is not None:
        return {}
    shapes = [None if e is None else e.values.shape for e in expected]
    found = {}
    for i, kinked in gradient.find_kinked(posed, shapes).items():
        right = expected[i]
        assert right is not None
        bound = _bound(right, posed.dtype_of(i))
        low, high = (np.where(kinked.mask, end, right.values) for end in (kinked.low, kinked.high))
        slack = np.where(kinked.mask, gradient.slack_of(bound, kinked, posed.dtype_of(i)), bound)
        found[i] = (low, high, slack)
    return found


def _note(posed: Question) -> str:
    if posed.mode is Mode.GRADIENT and posed.op.ties is not None:
        return "gradients of equal elements may come in any order"
    return "several answers are right" if posed.op.settled is not None or posed.op.drawn_from else ""


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
