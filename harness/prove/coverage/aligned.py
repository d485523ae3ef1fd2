"""Rules of extents that are whole tiles: what a kernel for tiles, vectors or blocks can run at all."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from opproof.cases import Case, cases_of
from opproof.cases._layouts import layouts_of
from opproof.harness.prove.coverage import ops as on
from opproof.harness.prove.coverage.case import Rule
from opproof.reference_ops import Op, Trait

#: Classes of layouts, by layout.
_CLASSES = {
    "contiguous": "contiguous",
    "transposed": "transposed",
    "permuted": "transposed",
    "exchanged": "transposed",
    "channels": "transposed",
    "sliced": "strided",
    "gapped": "strided",
    "cropped": "strided",
    "offset": "offset",
    "broadcast": "broadcast",
}
#: Tensors of whole numbers, of bytes, or of one number a head.
_COUNTED = frozenset(
    "index indices ids target positions cu_seqlens_q cu_seqlens_k block_tables context_lens data sinks "
    "freq_factors".split()
)
#: Of operators of a quantised type, tensors of codes, and what many of them share.
_CODED = frozenset({"b", "weight", "scale", "zero_point"})


def channels(op: Op) -> bool:
    """Whether it is a convolution: its tiles are of channels."""
    return {"x", "weight"} <= set(op.tensors) and ("stride" in op.params or Trait.CHANNELS in op.traits)


def _heads(op: Op) -> bool:
    """Whether only last axes, heads or rows, are tiles: recurrences, rope, what takes rows by their numbers."""
    return "state" in op.tensors or not (on.masked(op) or _COUNTED.isdisjoint(op.tensors))


def _coded(op: Op, case: Case) -> frozenset[str]:
    """Of an operator of a quantised type, tensors of blocks beside floats; else of codes and what they share."""
    if "type" not in op.params:
        return frozenset()
    drawn = op.domain(case.shapes, **case.kwargs) if op.domain else {}
    blocks = frozenset(name for name, constraint in drawn.items() if callable(constraint))
    floats = {t for t in op.tensors if t not in blocks | _COUNTED and "scale" not in t and "zero_point" not in t}
    return blocks | {"scale", "zero_point"} if floats else _CODED


def extents(case: Case, op: Op) -> list[int]:
    """The extents that tiles cover: channels, heads, or the last two axes; those of 1 are none."""
    shapes = case.shapes
    if channels(op):
        return [shapes["x"][1], shapes["weight"][0]]
    axes = 1 if _heads(op) else 2
    bytes_of = _coded(op, case)
    least = 4 if "state" in op.tensors else 1  # of recurrences, steps and decays have no channels
    floats = [shape for name, shape in shapes.items() if name not in _COUNTED | bytes_of and len(shape) >= least]
    return [n for shape in floats for n in shape[-axes:] if n != 1]


@functools.cache
def judged_in(name: str) -> frozenset[str]:
    """The dtypes in which tiles count: f16, or f32 where no case is in f16."""
    return frozenset({"f16"} if any(c.dtype == "f16" for c in cases_of(name)) else {"f32"})


def _whole(unit: int, case: Case, op: Op) -> bool:
    found = extents(case, op)
    return (
        case.dtype in judged_in(op.name) and (bool(found) or not _tiles(op)) and all(n and n % unit == 0 for n in found)
    )


def _tiles(op: Op) -> bool:
    """Whether some tensor of floats has tiles."""
    return not set(op.tensors) <= _COUNTED | _coded(op, cases_of(op.name)[0])


def classes(case: Case, op: Op) -> Iterable[str]:
    """The classes of layouts in which a case of whole tiles lies."""
    return {_CLASSES[layout] for layout in layouts_of(case).values()} if _whole(16, case, op) else ()


def _class_parts(op: Op, cases: Sequence[Case]) -> set[str]:
    """All classes, where some tensor has two axes."""
    del op
    flat = all(len(shape) < 2 for case in cases for shape in case.shapes.values())
    return set(_CLASSES.values()) - ({"transposed", "broadcast"} if flat else set())


def masks(case: Case, op: Op) -> Iterable[str]:
    return {"mask", "attn_mask", "keep"} & set(case.shapes) if _whole(16, case, op) else ()


def tiled(op: Op) -> bool:
    """Whether it contracts, slides windows, or takes rows or heads."""
    rows = on.being(Trait.ROWWISE, Trait.ORDERED, Trait.RESIZE, Trait.INDEXED)
    contracts = Trait.LONG_SUM in op.traits and on.several(op)
    parameters = {"kernel_size", "swapped", "type"} & set(op.params)
    return bool(parameters) or ((rows(op) or contracts) and Trait.POINTWISE not in op.traits)


ALIGNED = (
    Rule("aligned", "whole tiles of 16, in every class of layouts", 0, tiled, classes, _class_parts),
    Rule(
        *("aligned, often", "whole tiles of 16, six times", 0),
        tiled,
        lambda case, op: ("",) if _whole(16, case, op) else (),
        least=6,
    ),
    Rule(
        *("tiles of 64", "whole tiles of 64, four times", 0),
        on.being(Trait.MULTIPLIES),
        lambda case, op: ("",) if _whole(64, case, op) else (),
        least=4,
    ),
    Rule(
        *("aligned, masked", "whole tiles of 16 under each mask", 0),
        on.masked,
        masks,
        lambda op, cases: {"mask", "attn_mask", "keep"} & set(op.tensors),  # noqa: ARG005
    ),
)
