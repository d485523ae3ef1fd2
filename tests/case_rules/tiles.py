"""Rules of extents that are whole tiles: what a kernel for tiles, vectors or blocks can run at all.

The rule of sizes that models have: heads, rows and channels for which kernels are written, and no others.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence

from case_rules import operators as on
from case_rules.predicates import Rule
from opproof.cases import Case, cases_of
from opproof.cases._layouts import layouts_of
from opproof.reference_ops import Op, Trait

#: Classes of layouts, by layout.
_CLASSES = {
    "contiguous": "contiguous",
    "transposed": "transposed",
    "permuted": "transposed",
    "exchanged": "transposed",
    "channels": "transposed",
    "middle": "transposed",
    "loose": "contiguous",
    "sliced": "strided",
    "gapped": "strided",
    "cropped": "strided",
    "offset": "offset",
    "broadcast": "broadcast",
}
#: Tensors of integers, of bytes, or of one number a head.
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
    return "state" in op.tensors or not (on.has_keep_mask(op) or _COUNTED.isdisjoint(op.tensors))


def _find_coded_tensors(op: Op, case: Case) -> frozenset[str]:
    """Of an operator of a quantised type, tensors of blocks beside floats; else of codes and what they share."""
    if "type" not in op.params:
        return frozenset()
    drawn = op.domain(case.shapes, **case.kwargs) if op.domain else {}
    blocks = frozenset(name for name, constraint in drawn.items() if callable(constraint))
    floats = {t for t in op.tensors if t not in blocks | _COUNTED and "scale" not in t and "zero_point" not in t}
    return blocks | {"scale", "zero_point"} if floats else _CODED


def list_extents(case: Case, op: Op) -> list[int]:
    """The extents that tiles cover: channels, heads, or the last two axes; those of 1 are none."""
    shapes = case.shapes
    if channels(op):
        return [shapes["x"][1], shapes["weight"][0]]
    axes = 1 if _heads(op) else 2
    bytes_of = _find_coded_tensors(op, case)
    least = 4 if "state" in op.tensors else 1  # of recurrences, steps and decays have no channels
    floats = [shape for name, shape in shapes.items() if name not in _COUNTED | bytes_of and len(shape) >= least]
    return [n for shape in floats for n in shape[-axes:] if n != 1]


@functools.cache
def dtypes_of_tiles(name: str) -> frozenset[str]:
    """The dtypes in which tiles count: f16, or f32 where no case is in f16."""
    return frozenset({"f16"} if any(c.dtype == "f16" for c in cases_of(name)) else {"f32"})


def _is_whole(unit: int, case: Case, op: Op) -> bool:
    found = list_extents(case, op)
    return (
        case.dtype in dtypes_of_tiles(op.name)
        and (bool(found) or not _tiles(op))
        and all(n and n % unit == 0 for n in found)
    )


def _tiles(op: Op) -> bool:
    """Whether some tensor of floats has tiles."""
    return not set(op.tensors) <= _COUNTED | _find_coded_tensors(op, cases_of(op.name)[0])


def find_layout_classes(case: Case, op: Op) -> Iterable[str]:
    """The classes of layouts in which a case of whole tiles lies."""
    return {_CLASSES[layout] for layout in layouts_of(case).values()} if _is_whole(16, case, op) else ()


def _list_class_parts(op: Op, cases: Sequence[Case]) -> set[str]:
    """All classes, where some tensor has two axes."""
    del op
    flat = all(len(shape) < 2 for case in cases for shape in case.shapes.values())
    return set(_CLASSES.values()) - ({"transposed", "broadcast"} if flat else set())


def find_masks(case: Case, op: Op) -> Iterable[str]:
    return {"mask", "attn_mask", "keep"} & set(case.shapes) if _is_whole(16, case, op) else ()


def has_tiles(op: Op) -> bool:
    """Whether it contracts, slides windows, or takes rows or heads."""
    rows = on.has_trait(Trait.ROWWISE, Trait.ORDERED, Trait.RESIZE, Trait.INDEXED)
    contracts = Trait.LONG_SUM in op.traits and on.has_several_tensors(op)
    parameters = {"kernel_size", "swapped", "type"} & set(op.params)
    return bool(parameters) or ((rows(op) or contracts) and Trait.POINTWISE not in op.traits)


ALIGNED = (
    Rule(
        "aligned", "whole tiles of 16, in every class of layouts", 0, has_tiles, find_layout_classes, _list_class_parts
    ),
    Rule(
        *("aligned, often", "whole tiles of 16, six times", 0),
        has_tiles,
        lambda case, op: ("",) if _is_whole(16, case, op) else (),
        least=6,
    ),
    Rule(
        *("tiles of 64", "whole tiles of 64, four times", 0),
        on.has_trait(Trait.MULTIPLIES),
        lambda case, op: ("",) if _is_whole(64, case, op) else (),
        least=4,
    ),
    Rule(
        *("aligned, masked", "whole tiles of 16 under each mask", 0),
        on.has_keep_mask,
        find_masks,
        lambda op, cases: {"mask", "attn_mask", "keep"} & set(op.tensors),
    ),
)


_ROWS = (256, 1024, 4096)
_CHANNELS = (16, 32, 64)
_HEADS = (64, 128, 256)
_ROTATED = (64, 128)


def _attends(op: Op) -> bool:
    return "is_causal" in op.params


def _recurs(op: Op) -> bool:
    return "state" in op.tensors


def _rotates(op: Op) -> bool:
    return "positions" in op.tensors


def _rows(op: Op) -> bool:
    """Whether it takes a spread, a norm or a share of rows."""
    return on.has_trait(Trait.ROWWISE)(op) and on.has_trait(Trait.STATISTIC)(op)


def has_model_sizes(op: Op) -> bool:
    """Whether models give it sizes of their own."""
    return any(kind(op) for kind in (_attends, _recurs, _rotates, _rows, channels))


def list_model_sizes(op: Op, cases: Sequence[Case]) -> Iterable[str]:
    """The sizes that an operator owes."""
    del cases
    if _attends(op):
        special = ("8 heads : 1", "32 heads : 8", "128 keys", "causal over more keys", "causal over kept keys")
        return [*(f"heads of {n}" for n in _HEADS), *special]
    if _recurs(op):
        return ["heads of 64"]
    if _rotates(op):
        return [f"heads of {n}" for n in _ROTATED]
    return [f"channels of {n}" for n in _CHANNELS] if channels(op) else [f"rows of {n}" for n in _ROWS]


def find_sizes_met(case: Case, op: Op) -> Iterable[str]:
    """The sizes that a case has of those that its operator owes, in the dtype in which tiles count."""
    return set(_find_sizes(case, op)).intersection(list_model_sizes(op, ()))


def _find_sizes(case: Case, op: Op) -> Iterable[str]:
    if case.dtype not in dtypes_of_tiles(op.name):
        return
    shapes = case.shapes
    if _attends(op):
        query, key, causal = shapes["query"], shapes["key"], case.kwargs.get("is_causal") is True
        yield f"heads of {query[-1]}"
        yield f"{query[-3]} heads : {key[-3]}"
        yield f"{key[-2]} keys"
        if causal and key[-2] > query[-2]:
            yield "causal over more keys"
        if causal and "keep" in shapes:
            yield "causal over kept keys"
    elif _recurs(op) or _rotates(op):
        yield from (f"heads of {n}" for n in {n for shape in shapes.values() for n in shape[-1:]})
    elif channels(op):
        yield from (f"channels of {n}" for n in (shapes["x"][1], shapes["weight"][0]))
    else:
        first = max(shapes.values(), key=math.prod)
        images = [math.prod(first[2:])] if len(first) > 2 else []
        groups = [math.prod(first[1:]) // int(str(n))] if (n := case.kwargs.get("num_groups")) else []
        yield from (f"rows of {n}" for n in (*first[-1:], *images, *groups))


MODELS = (
    Rule(
        *("sizes of models", "heads of 64 to 256, 8 : 1 and 32 : 8; rows of 256 to 4096; channels of 16 to 64", 0),
        *(has_model_sizes, find_sizes_met, list_model_sizes),
    ),
)
