"""Values at which the reference does not say what is right: it overflows in float32 itself, or is NaN of numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from opproof.harness.check.sides.call import Answered
from opproof.harness.check.sides.facts import Facts
from opproof.harness.check.sides.reference import Reference
from opproof.harness.check.tensors import PARTS
from opproof.harness.truth.reference import Expected
from opproof.harness.truth.torch.evaluate import Truth
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.dtypes import DTYPES


def overflows(reference: Reference, asked: Facts, known: Truth) -> bool:
    """Whether the reference in float32 is not finite where the truth is: then such values are nobody's to compute.

    Nor are they where its steps overflow on the way to what does: it is NaN then, as inf - inf is, and not infinite.
    """
    wide = tuple(replace(t, dtype="float32") if t.kind in ("f16", "bf16") else t for t in asked.request.tensors)
    reply = reference.native(replace(asked.request, tensors=wide))
    pairs = zip((*reply.outputs, *reply.gradients), (*known.outputs, *known.gradients), strict=False)
    most = DTYPES["f32"].max / 2
    return any(
        y is not None
        and e is not None
        and y.values.shape == e.values.shape
        and bool(np.any(~np.isfinite(y.values) & ((np.abs(e.values) < most) | (y.dtype in PARTS) | _only(y, e))))
        for y, e in pairs
    )


def _only(y: Answered, e: Expected) -> Array:
    return np.isnan(y.values) & ~np.isnan(e.values)


def undefined(asked: Facts, known: Truth) -> bool:
    """Whether the truth has NaN where no input and no cotangent has: then nothing says what is right."""
    some = (*(t.values for t in asked.request.tensors), *(g for g in asked.request.cotangents if g is not None))
    floats = [x for x in some if x.dtype.kind == "f"]
    made = any(e is not None and bool(np.isnan(e.values).any()) for e in (*known.outputs, *known.gradients))
    return made and not any(np.isnan(x).any() for x in floats)
