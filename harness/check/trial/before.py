"""A wrong answer explained by the call before: one of its inputs was kept, by address or by shape, and read again."""

from __future__ import annotations

from dataclasses import replace

from opproof.harness.check.sides.alike import near
from opproof.harness.check.sides.facts import Facts
from opproof.harness.check.sides.reference import Reference

#: Inputs of which each is tried, and the part of the largest element that an explained answer is off by at most.
_INPUTS, _OFF = 6, 2.0**-6


def kept(reference: Reference, asked: Facts, other: Facts) -> str:
    """Which input of the call before a wrong answer is right for, in words; empty where it is right for none.

    `asked` holds the reply of the candidate; `other`: what was asked before.
    """
    request = replace(asked.request, cotangents=(), needs=())
    for i, t in enumerate(request.tensors[:_INPUTS]):
        before = other.request.tensors[i]
        if before.shape != t.shape or before.values is t.values:
            continue
        mixed = replace(request, tensors=tuple(before if i == j else one for j, one in enumerate(request.tensors)))
        outputs = reference.native(mixed).outputs
        if len(outputs) != len(asked.reply.outputs) or not outputs:
            continue
        if all(near(w, y, _OFF) for w, y in zip(outputs, asked.reply.outputs, strict=True)):
            return f"it is right for {t.name} of the call before, which it seems to have kept"
    return ""
