"""What a host is asked in one call, and the first look at what came back: how many, of what shape and dtype."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from opproof.backends.worker.protocol import name_of
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.judge.outputs import EarlyVerdict
from opproof.harness.reference.question import Question, name_outputs

#: Tensors of a call, inputs or results; None for one that is not there, or not asked for.
Tensors: TypeAlias = Sequence[Array | None]
#: The parameters of a call, and the shapes of its tensors.
Params: TypeAlias = Mapping[str, Any]
Shapes: TypeAlias = Sequence[Sequence[int] | None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A result as it must come back."""

    name: str  # "output y", "gradient of x"
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    of_any_width: bool = False  # integers, which count by their values
    on_request: bool = False  # None will do


@dataclass(frozen=True, slots=True)
class Returned:
    """A result as it came back. `array` is None where its shape or dtype is not the one wanted, so nobody took it."""

    shape: tuple[int, ...]
    dtype: str  # NumPy's name, "big-endian " before it where it is
    array: Array | None


@dataclass(frozen=True)
class Request:
    """A posed case, the results wanted (None: a gradient not asked for), and how its buffers lie."""

    posed: Question
    wanted: tuple[Wanted | None, ...]
    at_end: bool = True  # buffers end at a guard; else they begin at one
    readable_guards: bool = False  # guards can be read and written, and are looked at afterwards
    threads: int = 0  # that the backend is to compute with; 0: as many as it likes
    wrong: bool = False  # a call that is to be refused, and nothing written before it is
    as_left: bool = False  # results lie in memory that holds what the call before left there, as a program's do

    def with_soft_guards(self) -> Request:
        """The same with soft guards."""
        return replace(self, readable_guards=True)


def wanted_of(posed: Question, templates: Sequence[Array]) -> tuple[Wanted | None, ...]:
    """What must come back, where outputs have the shapes and dtypes of `templates`."""
    if posed.mode is Mode.FORWARD:
        dtype = DTYPES[posed.case.dtype]

        def output(name: str, y: Array) -> Wanted:
            kind = (dtype.numpy, dtype.whole) if y.dtype.kind == "f" else (y.dtype, y.dtype.kind == "i")
            return Wanted(f"output {name}", y.shape, *kind, on_request=name in posed.op.on_request)

        named = zip(name_outputs(posed.op, len(templates)), templates, strict=True)
        return tuple(output(name, y) for name, y in named)
    return tuple(
        Wanted(f"gradient of {n}", v.shape, DTYPES[posed.dtype_of(i)].numpy) if need and v is not None else None
        for i, (n, v, need) in enumerate(zip(posed.names, posed.inputs, posed.needs, strict=True))
    )


def check_returned(returned: Sequence[Returned | None], question: Request) -> list[Array | None]:
    """The results, of the number, shapes and dtypes wanted. Raises Settled."""
    wanted = question.wanted
    if len(returned) != len(wanted):
        raise EarlyVerdict(Verdict.WRONG_SHAPE, f"{len(returned)} arrays came back, expected {len(wanted)}")
    return [None if want is None else _check_result(got, want) for got, want in zip(returned, wanted, strict=True)]


def _check_result(got: Returned | None, want: Wanted) -> Array | None:
    if got is None and want.on_request:
        return None
    if got is None:
        raise EarlyVerdict(Verdict.WRONG_SHAPE, f"{want.name} is None, expected shape {want.shape}")
    if got.shape != want.shape:
        raise EarlyVerdict(Verdict.WRONG_SHAPE, f"{want.name} has shape {got.shape}, expected {want.shape}")
    as_good = want.of_any_width and got.dtype.startswith(("int", "uint"))
    if got.dtype != name_of(want.dtype) and not as_good:
        raise EarlyVerdict(Verdict.WRONG_DTYPE, f"{want.name} has dtype {got.dtype}, expected {want.dtype.name}")
    if got.array is None:
        raise EarlyVerdict(
            Verdict.WRONG_DTYPE, f"{want.name} of dtype {got.dtype} did not come, expected {want.dtype.name}"
        )
    return got.array
