"""PyTorch's own error on the same inputs, in the same units: is the candidate better or worse than what it replaces?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from opproof.harness.check.comparison import compare
from opproof.harness.check.sides.call import perform
from opproof.harness.check.sides.exchange import Answered
from opproof.harness.check.sides.reference import Reference
from opproof.harness.check.sides.subject import as_call, in_dtype
from opproof.harness.check.tensors import kind_of
from opproof.harness.check.trial.outcome import Tried
from opproof.harness.reference.expected import Expected


def errors(reference: Reference, tried: Tried) -> dict[str, Any]:
    """The largest error of eager and of compiled PyTorch, values and gradients, in units; None where it fails."""
    if tried.facts is None or tried.truth is None:
        return {}
    found: dict[str, Any] = {}
    eager = tried.facts.reply
    found["eager forward"] = _largest(eager.outputs, tried.truth.outputs)
    if eager.gradients:
        found["eager gradient"] = _largest(eager.gradients, tried.truth.gradients)
    compiled = _compiled(reference, tried)
    if compiled is not None:
        found["compiled forward"] = _largest(compiled, tried.truth.outputs)
    return found


def _compiled(reference: Reference, tried: Tried) -> Sequence[Answered] | None:
    import torch

    assert tried.facts is not None
    request = tried.facts.request
    subject = in_dtype(reference.subject, request.tensors)
    try:
        call = as_call(torch.compile(subject), reference.form)
    except Exception:  # a compiler that does not even load: eager PyTorch is measured without it
        return None
    reply = perform(call, request)
    return None if reply.error else reply.outputs


def _largest(got: Sequence[Answered | None], expected: Sequence[Expected | None]) -> float | None:
    largest = 0.0
    for y, e in zip(got, expected, strict=True):
        if y is None or e is None or y.values.shape != e.values.shape or not y.values.size:
            continue
        largest = max(largest, float(np.max(compare(y.values, e, kind_of(y.dtype) or "f32").units)))
    return round(largest, 3)
