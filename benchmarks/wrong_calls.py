"""Which calls must be refused: of what may be wrong with an operator's call, what PyTorch and the reference refuse.

python benchmarks/wrong_calls.py            # writes cases/wrong_calls.txt
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from opproof.cases._wrong_calls import STORED
from opproof.harness.reference.data import to_dtype
from opproof.harness.reference.question import Question
from opproof.harness.reference.wrong_call import find_wrong_calls, is_refused_by_reference
from opproof.reference_ops import Op, load, names

#: Calls that the references refuse by how they are written, and libraries take by what they document.
TAKEN = {
    "n_dims:0": "a rotation of no numbers is a copy, as ggml_rope_ext has it",
    "roi_align index:f32": "torchvision.ops.roi_align has the numbers of images among the floats of its boxes",
}


def is_refused_by_both(asked: Question) -> bool:
    """Whether the reference and PyTorch raise; of an operator that PyTorch has not, the reference alone."""
    wrong = asked.case.wrong
    if not is_refused_by_reference(asked) or not TAKEN.keys().isdisjoint((wrong, f"{asked.op.name} {wrong}")):
        return False
    if asked.op.torch is None:
        return True
    given = [None if x is None else torch.from_numpy(np.array(to_dtype(x, asked.case.dtype))) for x in asked.inputs]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is tried nothing is said
            asked.op.torch(torch, *given, **asked.params)
    except Exception:  # of whatever kind
        return True
    return False


def format_stored(ops: Sequence[Op]) -> str:
    """The lines of these operators."""
    every = (find_wrong_calls(op, is_refused_by_both) for op in ops)
    return "".join(f"{replace(some[0], wrong='')} {' '.join(c.wrong for c in some)}\n" for some in every if some)


if __name__ == "__main__":
    STORED.write_text(format_stored([load(name) for name in names()]), encoding="utf-8")
