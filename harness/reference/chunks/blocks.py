"""Blocks of independent slices: how a case is cut into such, and the question that each block is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from opproof.cases import Case
from opproof.core.arrays import Array
from opproof.core.verdicts import Mode
from opproof.harness.reference.axes import Axis, Shape
from opproof.harness.reference.question import Question, name_outputs

#: Of every axis the first slice of a block and the one after its last.
Block = tuple[tuple[int, int], ...]


Region = tuple[slice, ...]


def make_whole_block(axes: Sequence[Axis]) -> Block:
    return tuple((0, axis.extent) for axis in axes)


def split_block(within: Block, sizes: Sequence[int]) -> Iterator[Block]:
    """`within` in blocks of `sizes`, the last ones smaller."""
    ranges = [
        [(start, min(start + size, stop)) for start in range(first, stop, size)]
        for (first, stop), size in zip(within, sizes, strict=True)
    ]
    yield from itertools.product(*ranges)


def region_of(axes: Sequence[Axis], block: Block, name: str, shape: Shape) -> Region:
    """Where a tensor of `shape` lies in the block."""
    slices = [slice(0, n) for n in shape]
    for axis, (start, stop) in zip(axes, block, strict=True):
        at = axis.within(name, shape)
        if at is not None:
            n = shape[at]
            slices[at] = slice(start * n // axis.extent, -(-stop * n // axis.extent))
    return tuple(slices)


def cover(axes: Sequence[Axis], block: Block, name: str, shape: Shape) -> Block:
    """The smallest block around `block` in which the tensor's gradient is summed up, and nothing of it is lacking."""
    ranges = []
    for axis, (start, stop) in zip(axes, block, strict=True):
        of = axis.count_sharing(name, shape)
        ranges.append((start // of * of, -(-stop // of) * of))
    return tuple(ranges)


def find_containing_block(axes: Sequence[Axis], name: str, shape: Shape, index: Sequence[int]) -> Block:
    """The block of one slice, of those that hold the element `index` of the tensor the first."""
    ranges = []
    for axis in axes:
        at = axis.within(name, shape)
        start = 0 if at is None else index[at] * axis.count_sharing(name, shape)
        ranges.append((start, start + 1))
    return tuple(ranges)


def count(blocks_of: Block) -> int:
    """How many slices a block holds."""
    return math.prod(stop - start for start, stop in blocks_of)


def take_block(posed: Question, axes: Sequence[Axis], block: Block, *, stored: bool = False) -> Question:
    """The question of one block, in float64: its inputs, its cotangents, noise of its own.

    `stored`: in the dtypes of the case instead, and not copied: for who computes nothing of them.
    """
    of = np.asarray if stored else _widen
    inputs = [
        None if v is None or name is None else of(v[region_of(axes, block, name, v.shape)])
        for name, v in zip(posed.names, posed.inputs, strict=True)
    ]
    given = zip(posed.names, inputs, strict=True)
    shapes = {name: v.shape for name, v in given if name is not None and v is not None}
    number = sum(start * 7919**k for k, (start, _) in enumerate(block))
    tensors = tuple((name, shapes[name]) for name, _ in posed.case.tensors)
    case = replace(posed.case, tensors=tensors, layout="contiguous", seed=posed.case.seed + 1 + number)
    cotangents = [
        None if g is None else of(g[region_of(axes, block, name, g.shape)])
        for name, g in zip(name_outputs(posed.op, len(posed.cotangents)), posed.cotangents, strict=True)
    ]
    return Question(case, posed.op, posed.mode, posed.names, tuple(inputs), tuple(cotangents), posed.needs)


def one_of(case: Case, axes: Sequence[Axis]) -> Case:
    """`case` of one slice along every axis: what it is can be tried quickly."""
    block: Block = tuple((0, 1) for _ in axes)
    shapes = {n: tuple(s.stop - s.start for s in region_of(axes, block, n, shape)) for n, shape in case.shapes.items()}
    return replace(case, tensors=tuple((name, shapes[name]) for name, _ in case.tensors))


def _widen(values: Array) -> Array:
    return np.array(values) if values.dtype.kind in "iub" else values.astype(np.float64)


def results_of(posed: Question, outputs: Sequence[Array]) -> Mapping[str, Shape]:
    """Shapes of the results by name: outputs, or gradients that are asked for."""
    if posed.mode is Mode.FORWARD:
        return {n: y.shape for n, y in zip(name_outputs(posed.op, len(outputs)), outputs, strict=True)}
    given = zip(posed.names, posed.inputs, posed.needs, strict=True)
    return {n: v.shape for n, v, need in given if n is not None and v is not None and need}
