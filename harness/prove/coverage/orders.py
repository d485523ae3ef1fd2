"""Rules of the order in which axes lie in memory, and of batches that repeat one matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opproof.cases import Case
from opproof.cases._derived import has_one, is_beside_one, is_plain, lies_otherwise, of_cotangents
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


def _of_one(case: Case, op: Op) -> list[str]:
    """What is done to the strides of tensors with an axis of 1, by tensor."""
    del op
    lies = layouts_of(case)
    return [f"{n} {by}" for n, by in lies.items() if by in ("gapped", "transposed") and has_one(case.shapes[n])]


def _of_one_parts(op: Op, cases: Sequence[Case]) -> list[str]:
    found = _named(op, [n for case in _contiguous(cases) for n, shape in case.shapes.items() if has_one(shape)])
    return [f"{n} {by}" for n in found for by in ("gapped", "transposed")]


def _beside(case: Case, op: Op) -> list[str]:
    del op
    return [n for n, by in layouts_of(case).items() if by == "gapped" and is_beside_one(case, n)]


def _beside_parts(op: Op, cases: Sequence[Case]) -> list[str]:
    return _named(op, [n for case in _contiguous(cases) for n in case.shapes if is_beside_one(case, n)])


def _contiguous(cases: Sequence[Case]) -> list[Case]:
    return [case for case in cases if is_plain(case) and case.layout == "contiguous"]


def _named(op: Op, names: list[str]) -> list[str]:
    """The names once each; of several alike the first two."""
    found = sorted(set(names))
    return found[:2] if op.variadic else found


def _cotangents(case: Case, op: Op) -> list[str]:
    del op
    return [""] if of_cotangents(case) else []


def _cotangents_parts(op: Op, cases: Sequence[Case]) -> list[str]:
    del op
    return [""] if any(map(is_plain, cases)) else []


COTANGENTS = (_cotangents, _cotangents_parts)
AXIS_OF_ONE = (_of_one, _of_one_parts)
BESIDE_ONE = (_beside, _beside_parts)
