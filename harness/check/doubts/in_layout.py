"""Whether a reference means something else where its inputs lie otherwise: as_strided, a view that strides forbid."""

from __future__ import annotations

from dataclasses import replace

from opproof.harness.check.sides.alike import near
from opproof.harness.check.sides.exchange import Answered, Reply
from opproof.harness.check.sides.facts import Facts


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
    if all(near(a, b) for a, b in pairs):
        return ""
    return "it gives other results where its inputs lie so: it depends on their strides"
