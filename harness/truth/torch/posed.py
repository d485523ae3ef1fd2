"""What is expected of a case whose operator is a PyTorch function alone: noise where PyTorch dispatches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from opproof.core.arrays import tuple_of
from opproof.harness.truth.torch.evaluate import Question, Truth, truth

if TYPE_CHECKING:  # a posed case evaluates its outputs by the file that asks here
    from opproof.harness.truth.posed import Posed


def question_of(posed: Posed, declared: str | None) -> Question:
    """The case as a question to its reference."""
    op, params, name = posed.op, dict(posed.params), posed.case.dtype
    assert op.reference is not None
    function = op.reference
    return Question(
        outputs=lambda *tensors: tuple_of(function(*tensors, **params)),
        inputs=posed.inputs,
        needs=posed.needs,
        dtypes=tuple(name if y.dtype.kind == "f" else "" for y in posed.outputs),
        kinds=tuple(name if x is not None and np.asarray(x).dtype.kind == "f" else "" for x in posed.inputs),
        cotangents=posed.cotangents,
        compute=declared,
    )


def expected(posed: Posed, declared: str | None) -> Truth:
    """Expected outputs and gradients. Raises OpError where an operation has no rule."""
    return truth(question_of(posed, declared), posed.runs)
