"""Data that a file holds: fill=file:PATH#KEY is what `opproof capture --data` saw, in a safetensors file.

The file holds KEY.NAME for each tensor NAME of the case, floats in float32 or float64, integers in int64. Another
seed, or a second call with other data, has the same numbers in another order.
"""

from __future__ import annotations

import functools
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.cases._case import Case, Shape, format_shape
from opproof.core.errors import CaseError

_PREFIX = "file:"


def is_stored(fill: str) -> bool:
    """Whether the fill names a file."""
    return fill.startswith(_PREFIX)


def fill_of(path: str | Path, key: str) -> str:
    """Return the fill that names `key` of a file."""
    return f"{_PREFIX}{path}#{key}"


def relocate(case: Case, folder: Path) -> Case:
    """Return the case with its file, which it names as seen from `folder`, as seen from where we are."""
    if not is_stored(case.fill):
        return case
    path, key = _split_fill(case)
    return replace(case, fill=fill_of(Path(os.path.relpath(folder / path)).as_posix(), key))


def check_stored(case: Case) -> None:
    """Raises CaseError where the file has not the tensors of the case."""
    for name, shape in case.tensors:
        if not isinstance(shape, str):
            read_stored(case, name, shape, None)


def read_stored(case: Case, name: str, shape: Shape, order: NDArray[np.int64] | None) -> NDArray[Any]:
    """Read the values of one tensor, float64 or int64; in another order where one is given.

    Raises CaseError where the file, or the tensor in it, is not there, or has another shape.
    """
    path, key = _split_fill(case)
    changed = Path(path).stat().st_mtime_ns if Path(path).is_file() else 0
    values = _read(path, changed).get(f"{key}.{name}")
    if values is None:
        raise CaseError(f"{path} holds no {key}.{name}, which {case} names: capture the program again, with --data.")
    if values.shape != shape:
        raise CaseError(
            f"{path} holds {key}.{name} of {format_shape(values.shape)}; {case} says {format_shape(shape)}."
        )
    wide = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
    return wide if order is None else wide.reshape(-1)[order].reshape(shape)


def _split_fill(case: Case) -> tuple[str, str]:
    path, _, key = case.fill.removeprefix(_PREFIX).rpartition("#")
    if not path:
        raise CaseError(f"malformed fill {case.fill!r} in {case}: expected file:PATH#KEY.")
    return path, key


@functools.lru_cache(maxsize=2)
def _read(path: str, _changed: int) -> dict[str, NDArray[Any]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise CaseError(f"{path}, which a case takes its data from, cannot be read: {error}.") from None
