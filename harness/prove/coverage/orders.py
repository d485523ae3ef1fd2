"""Rules of the order in which axes lie in memory, and of batches that repeat one matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opproof.cases import Case
from opproof.cases._derived import is_plain, lies_otherwise
from opproof.cases._layouts import layouts_of
from opproof.reference_ops import Op


def otherwise_parts(layout: str) -> Callable[[Op, Sequence[Case]], list[str]]:
    """Tensors that `layout` can give another order of axes in some plain case; of several alike the first two."""

    def parts(op: Op, cases: Sequence[Case]) -> list[str]:
        plain = [case.shapes for case in cases if is_plain(case)]
        found = sorted({n for shapes in plain for n, shape in shapes.items() if lies_otherwise(shape, layout)})
        return found[:2] if op.variadic else found

    return parts


def _repeated(case: Case, op: Op) -> list[str]:
    """The tensor of a batch that alone has a stride of 0 along it, of ordinary numbers."""
    del op
    lies = layouts_of(case)
    odd = [name for name, layout in lies.items() if layout != "contiguous"]
    return odd if [lies[name] for name in odd] == ["broadcast"] and _batch(case, odd[0]) else []


def _batch(case: Case, name: str) -> bool:
    shape = case.shapes[name]
    return len(shape) > 2 and shape[0] > 1


def _batches(op: Op, cases: Sequence[Case]) -> list[str]:
    """Tensors of a batch beside others in some plain case; of several alike the first two."""
    found = sorted(
        {n for case in cases if is_plain(case) and len(case.shapes) > 1 for n in case.shapes if _batch(case, n)}
    )
    return found[:2] if op.variadic else found


#: What a case meets of the rule, and what an operator owes.
REPEATED = (_repeated, _batches)
