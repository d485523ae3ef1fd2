"""manifest.json of exported cases: all that reading their files needs, for programs that know nothing of opproof."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from opproof.core.errors import UsageError

FILE = "manifest.json"
#: The ids of the cases, as `opproof run --cases` reads them.
CASES = "cases.toml"
SCHEMA = 1


class Tensor(msgspec.Struct, frozen=True, omit_defaults=True):
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


class Wanted(msgspec.Struct, frozen=True, omit_defaults=True):
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
    inputs: tuple[Tensor | None, ...]
    cotangents: tuple[Tensor | None, ...]
    results: tuple[Wanted | None, ...]  # None: a gradient that is not asked for
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
