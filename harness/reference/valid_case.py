"""Whether results can lie where a case has them: in the memory of an input, or strided."""

from __future__ import annotations

from opproof.cases import Case
from opproof.cases._layouts import LAYOUTS, layouts_of
from opproof.core.arrays import Array
from opproof.core.errors import CaseError
from opproof.reference_ops import Op

#: Elements of a result need memory of their own.
OUTSIDE = "broadcast"


def check(case: Case, op: Op, output: Array) -> None:
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
