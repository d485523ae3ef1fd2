"""answers:DIR:ANSWERS: a backend that ran elsewhere, and whose answers came back as files; and their manifest.

DIR is what `opproof export` wrote: its manifest.json says all that reading the files needs. ANSWERS holds a safetensors
file for every case and mode. A file answers the judged question, and no other: nothing is guarded or asked twice.
"""

from __future__ import annotations

import functools
import hashlib
import os
import stat
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from opproof.backends.worker.protocol import LONGEST, FrameError, decode
from opproof.core.arrays import Array
from opproof.core.dtypes import DECLARED, Declaration
from opproof.core.errors import BackendError, UsageError
from opproof.core.text import make_plain
from opproof.core.verdicts import Verdict
from opproof.harness.judge.outputs import EarlyVerdict
from opproof.harness.reference.data import to_dtype
from opproof.harness.reference.question import Question
from opproof.harness.run.hosts.host import About, Host, Support
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.request import Params, Request, Returned, Shapes, check_returned

KIND = "answers"
ABOUT = "about.json"


class Identity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """about.json beside the answers, where there is one: who gave them, and in which lower precision by operator."""

    name: str = KIND
    version: str = ""
    device: str = ""
    compute: dict[str, str] = {}
    rounding: dict[str, str] = {}


class AnswerFiles(Host):
    def __init__(self, exported: Manifest, answers: Path, identity: Identity) -> None:
        self._answers, self._identity = answers, identity
        self._records = {(r.case, r.mode): r for r in exported.records}
        self._left = {(r.case, r.mode): r.reason for r in exported.left_out}
        name, version, device = map(make_plain, (identity.name, identity.version, identity.device))
        self.about = About(name, version, device, dtypes=frozenset(DECLARED), mixed=True, once=True)

    def support(self, op: str, dtype: str, mode: str, params: Params, shapes: Shapes) -> Support:
        """See Host."""
        del dtype, mode, params, shapes
        return Support("", Declaration(self._identity.compute.get(op), self._identity.rounding.get(op)))

    def call(self, question: Request, timeout: float) -> list[Array | None]:
        """See Host. No file is what nobody wrote: NOT_WRITTEN; one that says nothing is an ERROR."""
        del timeout
        record = self._record(question)
        path = self._answers / record.answer
        try:
            metadata, tensors = decode(bytes(8) + _read_whole(path))
        except FileNotFoundError:
            raise EarlyVerdict(Verdict.NOT_WRITTEN, f"there is no answer: no file {record.answer}") from None
        except (FrameError, OSError) as error:
            raise EarlyVerdict(Verdict.ERROR, f"{record.answer} cannot be read: {make_plain(str(error))}") from None
        said = make_plain(metadata.get("reason", "")), make_plain(metadata.get("message", ""))
        if metadata.get("kind") == "unsupported":
            raise EarlyVerdict(Verdict.UNSUPPORTED, said[0] or "it declined, and gave no reason")
        if metadata.get("kind") == "failed":
            raise EarlyVerdict(Verdict.ERROR, said[1] or "it failed, and gave no message")
        for name in [r.answer for r in record.results if r is not None]:
            if name not in tensors:
                there = ", ".join(sorted(tensors)[:4]) or "none"
                raise EarlyVerdict(Verdict.ERROR, f"{record.answer} has no tensor {name}; it has: {make_plain(there)}")
        arrays = [None if r is None else tensors[r.answer] for r in record.results]
        return check_returned([None if a is None else Returned(a.shape, a.dtype.name, a) for a in arrays], question)

    def _record(self, question: Request) -> Vector:
        posed = question.posed
        key = (str(posed.case), str(posed.mode))
        if key in self._left:
            raise EarlyVerdict(Verdict.UNSUPPORTED, f"it was not exported: {self._left[key]}")
        if key not in self._records:
            raise EarlyVerdict(Verdict.UNSUPPORTED, "it was not exported")
        if self._records[key].question != digest_of_question(posed):
            said = "the inputs in the files are not those that this opproof draws: export the cases anew"
            raise EarlyVerdict(Verdict.HARNESS_ERROR, said)
        return self._records[key]

    def fault(self) -> HostFault:
        """See Host. It does not die."""
        return HostFault(Verdict.CRASH, "the files are gone")


def start(rest: str) -> AnswerFiles:
    """The answers that `rest`, DIR:ANSWERS, names. Raises BackendError."""
    exported, colon, given = rest.partition(os.pathsep)
    if not colon or not exported or not given:
        raise BackendError(f"{KIND}:{rest} names no answers: expected {KIND}:DIR{os.pathsep}ANSWERS.")
    answers = Path(given)
    if not answers.is_dir():
        raise BackendError(f"there is no folder {answers}: give --answers the folder that holds the answers.")
    try:
        whole = _read_once(Path(exported).resolve())
    except UsageError as error:
        raise BackendError(str(error)) from None
    return AnswerFiles(whole, answers, _read_identity(answers))


def _read_identity(answers: Path) -> Identity:
    path = answers / ABOUT
    try:
        return msgspec.json.decode(_read(path), type=Identity)
    except FileNotFoundError:
        return Identity()
    except (OSError, FrameError, msgspec.DecodeError) as error:
        raise BackendError(f"{path} is not as expected: {error}; give name, version, device, compute.") from None


def _read_whole(path: Path) -> bytes:
    """The bytes of a file that begins as safetensors does. Raises FrameError."""
    blob = _read(path)
    if len(blob) < 8 or int.from_bytes(blob[:8], "little") > len(blob) - 8:
        raise FrameError(f"expected safetensors, got {len(blob)} bytes that end before their header does")
    return blob


def _read(path: Path) -> bytes:
    """All of a file: no pipe, which may never end nor begin, and no device. Raises FrameError and OSError."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:  # noqa: PTH123 - with flags
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise FrameError("it is no ordinary file")
        if status.st_size > LONGEST:
            raise FrameError(f"it has {status.st_size} bytes; no answer has more than {LONGEST}")
        return file.read(status.st_size)


FILE = "manifest.json"
#: The ids of the cases, as `opproof run --cases` reads them.
CASES = "cases.toml"
SCHEMA = 1


class VectorTensor(msgspec.Struct, frozen=True, omit_defaults=True):
    """An input or a cotangent. Strides and offset count elements of the tensor in the file.

    Where they are those of a row-major array, the tensor in the file has the shape given here; else it has one axis,
    and what lies between the elements is not to be read: NaN.
    """

    name: str
    tensor: str  # in the case's file
    dtype: str  # NumPy's name, or bfloat16
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0


class VectorResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """An output or a gradient: how it is to come back, and the tensors in the case's file that say what is right.

    An element is right where low - bound <= it <= high + bound, and where it equals `expected` rounded to `dtype`. Low
    and high are tensors of their own at kinks alone, where several derivatives are right; else both are `expected`.
    """

    name: str
    answer: str  # of the tensor, in the file of the answer
    dtype: str
    shape: tuple[int, ...]
    expected: str  # float64, int64 or bool
    bound: str  # float64; zero where the bits are to be met
    low: str = ""
    high: str = ""


class Vector(msgspec.Struct, frozen=True):
    """One case in one mode."""

    case: str
    mode: str
    op: str
    dtype: str
    params: dict[str, Any]  # infinities are the strings Infinity, -Infinity and NaN
    file: str  # relative to the manifest
    answer: str  # where the answer is to be, relative to the folder of answers
    inputs: tuple[VectorTensor | None, ...]
    cotangents: tuple[VectorTensor | None, ...]
    results: tuple[VectorResult | None, ...]  # None: a gradient that is not asked for
    question: str  # SHA-256 of the inputs and cotangents
    note: str = ""  # what else is right, which `opproof judge` knows and no bound says


class LeftOut(msgspec.Struct, frozen=True):
    """A case in a mode that is not in the files."""

    case: str
    mode: str
    reason: str


class Manifest(msgspec.Struct, frozen=True):
    """What was exported, and by which opproof."""

    opproof: str
    constants: dict[str, float]  # of the bound
    folders: tuple[str, ...]  # of operators from outside opproof
    records: tuple[Vector, ...]
    left_out: tuple[LeftOut, ...]
    schema: int = SCHEMA


def write(folder: Path, manifest: Manifest) -> None:
    """Write manifest.json, a record a line, and the list of cases."""
    head = msgspec.structs.replace(manifest, records=(), left_out=())
    start = msgspec.json.encode(head).decode().partition('"records":')[0]
    records, left = (
        ",\n".join(msgspec.json.encode(r).decode() for r in rows) for rows in (manifest.records, manifest.left_out)
    )
    text = f'{start}\n"records":[\n{records}\n],\n"left_out":[\n{left}\n],\n"schema":{SCHEMA}}}\n'
    (folder / FILE).write_text(text, encoding="utf-8")
    ids = dict.fromkeys(r.case for r in manifest.records)
    rows = (f"[[case]]\nid = {msgspec.json.encode(case).decode()}\n" for case in ids)
    (folder / CASES).write_text("\n".join(rows), encoding="utf-8")


def read(folder: Path) -> Manifest:
    """The manifest in `folder`. Raises UsageError where there is none, or one of another opproof."""
    path = folder / FILE
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except OSError:
        raise UsageError(f"no {FILE} in {folder}: give the folder that opproof export wrote.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no manifest of opproof export ({error}); export the cases anew.") from None
    if manifest.schema != SCHEMA:
        raise UsageError(f"{path} has schema {manifest.schema}, expected {SCHEMA}; export the cases anew.")
    return manifest


_read_once = functools.lru_cache(1)(read)


def digest_of_question(posed: Question) -> str:
    """SHA-256 of what is asked: inputs and cotangents in their dtypes, row by row."""
    known = hashlib.sha256()
    named = (*zip(posed.names, posed.inputs, strict=True), *((None, g) for g in posed.cotangents))
    for name, values in named:
        stored = None if values is None else np.ascontiguousarray(to_dtype(values, posed.case.dtype_of(name)))
        known.update(b"-" if stored is None else stored.tobytes())
    return known.hexdigest()
