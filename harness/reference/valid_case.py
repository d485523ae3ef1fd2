"""Whether a case is one that its operator can compute, and results can lie where it has them."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from opproof.cases import Case
from opproof.cases._case import RESERVED
from opproof.cases._fills.stored import check_stored, is_stored
from opproof.cases._layouts import LAYOUTS, layouts_of
from opproof.core.arrays import Array
from opproof.core.errors import CaseError, UsageError, suggest
from opproof.core.verdicts import Mode
from opproof.harness.reference.axes import axes_of
from opproof.harness.reference.chunks.blocks import one_of
from opproof.harness.reference.chunks.memory_budget import (
    DEFAULT_MEMORY_BYTES,
    MAX_UNMEASURED_ELEMENTS,
    with_memory_limit,
)
from opproof.harness.reference.chunks.question import count_elements
from opproof.harness.reference.data import fill_parameters, inputs_of, order_arguments
from opproof.harness.reference.question import evaluate_forward, make_question
from opproof.harness.reference.wrong_call import make_wrong_call
from opproof.reference_ops import Op, load, load_folder


def load_own(path: Path) -> list[Op]:
    """The operators in a user's folder or file. Raises UsageError where there is none."""
    ops = load_folder(path) if path.exists() else []
    if not ops:
        raise UsageError(f"no operator in {path}: give --ops a folder of operators' files, or one of them.")
    return ops


#: Elements of a result need memory of their own.
OUTSIDE = "broadcast"


def check_destination(case: Case, op: Op, output: Array) -> None:
    """Raises CaseError where the first result, such as `output`, cannot lie where `case` says."""
    if case.into not in LAYOUTS or case.into == OUTSIDE:
        known = ", ".join(name for name in LAYOUTS if name != OUTSIDE)
        raise CaseError(f"{case}: no result can lie as into={case.into}; expected one of {known}.")
    if case.inplace:
        _check_in_place(case, op, output)


def _check_in_place(case: Case, op: Op, output: Array) -> None:
    name = case.inplace
    if case.into != "contiguous":
        raise CaseError(f"{case}: a result in place has the layout of its input; leave into={case.into} out.")
    if op.variadic or name not in op.in_place:
        can = ", ".join(op.in_place) or "no tensor"
        raise CaseError(f"{case}: {op.name} can be computed over {can}, not over {name!r}; its IN_PLACE says so.")
    shape = case.shapes.get(name)
    # An operator that says itself where its result may lie says so of results that are no floats too.
    if shape != output.shape or (output.dtype.kind != "f" and op.facts["IN_PLACE"] is None):
        raise CaseError(
            f"{case}: {name} of shape {shape} has no room for the result, {output.dtype.name} of shape {output.shape}; "
            f"give {name} the shape of the result."
        )
    if layouts_of(case)[name] == OUTSIDE:
        raise CaseError(f"{case}: elements of {name} share their memory, so no result can lie there.")


def op_of(name: str, folders: tuple[str, ...]) -> Op:
    """The operator, from the user's folders first."""
    for folder in folders:
        for op in load_folder(Path(folder)):
            if op.name == name:
                return op
    return load(name)


#: Elements of the largest case that is tried whole before it is judged.
_TRIED = 2**22


def check_case(case: Case, folders: Sequence[str] = (), memory: int | None = None) -> Case:
    """`case`, which its op can compute. Raises CaseError or OpError with the reason why not.

    `memory`: bytes that computing it may take; unless it is given, the judge tells where there are too few.
    """
    own = {op.name: op for folder in folders for op in load_own(Path(folder))}
    try_case(case, own.get(case.op) or load(case.op), memory)
    return case


def try_case(case: Case, op: Op, memory: int | None = None) -> tuple[Array, ...]:
    """The results of `case`, or of a slice of a large one; none of one that is not tried. Raises as `check_case`."""
    for name, _ in case.params:
        if name not in op.params:
            raise CaseError(f"{case}: {_explain_no_parameter(op, name, case.kwargs[name])}")
    for name, default in op.params.items():
        if default is inspect.Parameter.empty and name not in case.kwargs:
            raise CaseError(f"{case}: {op.name} needs its parameter {name!r}.")
    if not op.variadic:
        _check_tensors(case, op)
    if case.dtype not in op.dtypes:
        raise CaseError(f"{case}: {op.name} has no meaning in {case.dtype}: expected one of {', '.join(op.dtypes)}.")
    _check_mixed(case, op)
    drawn = replace(op, kinks=None)  # kinks that raise are a fault of the operator, which the judge names
    if is_stored(case.fill):
        check_stored(case)
    outputs: Sequence[Array] = ()
    try:
        tried = _shrink_case(replace(case, fill="normal") if is_stored(case.fill) else case, op)
        if tried is not None:
            with with_memory_limit(memory or DEFAULT_MEMORY_BYTES):  # few inputs may have many results
                outputs = evaluate_forward(
                    op, order_arguments(tried, op, inputs_of(tried, drawn)), fill_parameters(tried, op)
                )
            check_destination(tried, op, outputs[0])
        if case.wrong:
            make_wrong_call(make_question(replace(case, wrong=""), op, Mode.FORWARD).case_data, case.wrong)
    except CaseError:
        raise
    except (ImportError, MemoryError) as lack:  # what is lacking here is no fault of the case: the judge tells
        if memory is not None and isinstance(lack, MemoryError):
            raise CaseError(f"{case}: {op.name} takes more than {memory >> 20:,} MiB to compute it.") from None
    except Exception as error:  # whatever the reference raises is said of the case
        said = " ".join(str(error).split())
        raise CaseError(f"{case}: {op.name} cannot be computed so ({type(error).__name__}: {said}).") from None
    return tuple(outputs)


def _check_mixed(case: Case, op: Op) -> None:
    """Raises CaseError where a tensor with a dtype of its own holds no floats, or is what results are like."""
    drawn = dict(op.domain(case.shapes, **case.kwargs)) if op.domain and case.mixed else {}
    for name, _ in case.mixed:
        if name == op.like:
            raise CaseError(f"{case}: results have the dtype of {name}, {case.dtype}; give that, and mixed= of others.")
        if isinstance(drawn.get(name), range) or callable(drawn.get(name)):
            raise CaseError(f"{case}: {name} of {op.name} holds no floats; expected a tensor of data after mixed=.")


def _explain_no_parameter(op: Op, name: str, value: object) -> str:
    if name in op.tensors:
        return f"{name} is a tensor: expected its shape, such as {name}=4x33, or of one axis {name}={value}, (a comma)."
    expected = ", ".join(op.params) if op.params else "none"
    known = [*op.params, *op.tensors, *RESERVED]
    return f"{op.name} has no parameter {name!r}; its parameters are: {expected}{suggest(name, known)}"


def _shrink_case(case: Case, op: Op) -> Case | None:
    """`case`, or one slice of it where it is large; None where it is too large to be tried before it is judged."""
    if count_elements(case) < MAX_UNMEASURED_ELEMENTS:
        return case
    axes = axes_of(case, op)
    return one_of(case, axes) if axes else case if count_elements(case) < _TRIED else None


def _check_tensors(case: Case, op: Op) -> None:
    given = {name for name, _ in case.tensors}
    unknown = [n for n in given if n not in op.tensors]
    missing = [n for n in op.tensors if n not in given and n not in op.optional]
    if unknown or missing:
        wrong = f"no tensor {unknown[0]!r}" if unknown else f"a tensor {missing[0]!r}, which is missing"
        raise CaseError(f"{case}: {op.name} has {wrong}; its tensors are: {', '.join(op.tensors)}.")
    if case.needs is not None and not set(case.needs) <= given:
        raise CaseError(
            f"{case}: needs={','.join(case.needs)} names no tensor of the case; there are {', '.join(given)}."
        )
