"""Whether a call in place left alone what it was not to write, of a host that shares no memory with its judge."""

from __future__ import annotations

import numpy as np

from opproof.backends.protocol import BackendFailed
from opproof.core.arrays import Array, bytes_of
from opproof.core.verdicts import Verdict
from opproof.harness.run.question import Settled


def check_kept(called: str, name: str, sent: Array, answer: dict[str, Array]) -> None:
    """Take tensor `name`, which messages call otherwise, out of an answer, and compare it to what was sent.

    Raises BackendFailed where it did not come back, Settled where it came back changed.
    """
    back = answer.pop(name, None)
    if back is None:
        raise BackendFailed(f"the answer to a call in place has no tensor {name}, to show that it is as it was sent")
    if (back.dtype, back.shape) != (sent.dtype, sent.shape):
        raise BackendFailed(f"the answer has {name} in another dtype or shape than it was sent")
    changed = int(np.count_nonzero(bytes_of(back) != bytes_of(sent)))
    if changed:
        what = f"{called}: {changed} of {sent.nbytes} bytes changed during the call"
        raise Settled(Verdict.INPUT_CHANGED, what)
