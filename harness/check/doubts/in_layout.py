"""Whether a reference means something else where its inputs lie otherwise: as_strided, a view that strides forbid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from opproof.harness.check.sides.call import Answered, Reply
from opproof.harness.check.sides.facts import Facts
from opproof.vocabulary.arrays import Array

#: Of the largest element. Rounding that depends on where inputs lie is far below, in 16 bits too.
_OTHER = 0.05


def shared_alike(asked: Facts, laid: Reply) -> Facts:
    """The facts with the memory that outputs of the reference share, or hold twice, in the layout of its inputs."""
    if laid.error or len(laid.outputs) != len(asked.outputs):
        return asked
    pairs = zip(asked.outputs, laid.outputs, strict=True)
    return replace(asked, outputs=tuple(_either(y, z) for y, z in pairs))


def _either(y: Answered, z: Answered) -> Answered:
    return replace(y, shares=max(y.shares, z.shares), overlaps=y.overlaps or z.overlaps)


def means_otherwise(asked: Facts, laid: Reply, *, raised: bool) -> str:
    """Why a layout says nothing of a candidate, from the reference's own reply in it; empty where it does.

    Where the reference raises, nothing is said of a candidate that `raised` too; one that answers has to be right.
    """
    if laid.error or laid.failed:
        return (laid.error or laid.failed) if raised else ""
    plain = asked.reply
    pairs = zip((*plain.outputs, *plain.gradients), (*laid.outputs, *laid.gradients), strict=False)
    if all(_near(a, b) for a, b in pairs):
        return ""
    return "it gives other results where its inputs lie so: it depends on their strides"


def _near(a: Answered | None, b: Answered | None) -> bool:
    if a is None or b is None or a.values.shape != b.values.shape:
        return a is b
    if a.values.dtype.kind != "f":
        return bool(np.mean(a.values != b.values) <= _OTHER) if a.values.size else True
    with np.errstate(all="ignore"):
        off = np.abs(a.values - b.values) > _OTHER * _largest(a.values)
    return not bool(np.any(off & np.isfinite(a.values)))


def _largest(values: Array) -> float:
    return float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0))
