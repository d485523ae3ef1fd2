"""Changed references that lists of several libraries name: see harness/ledger/causes.py for what the functions take."""

from __future__ import annotations

from typing import Any

import numpy as np

from opproof.cases._layouts import Storage, layouts_of, storage_of
from opproof.harness.truth.noise.array import Noisy
from opproof.harness.truth.rounded import FORMATS, Rounded, unwrap, wrap
from opproof.vocabulary.dtypes import round_to


def stored(x: Any, name: str) -> Any:
    """`x` stored in the format `name` (f16, bf16, f32), its range included, in whatever arithmetic it is."""
    kind = FORMATS[name]
    if isinstance(x, Noisy):
        exact = np.asarray(round_to(x.exact, kind))
        return Noisy(exact, np.repeat(exact[None], x.source.runs, axis=0), x.source)
    if isinstance(x, Rounded):
        return wrap(round_to(unwrap(x), kind), x.arithmetic)
    return np.asarray(round_to(np.asarray(x), kind))


def exact(x: Any) -> Any:
    """The numbers of `x` as a plain array, in whatever arithmetic it is: what is decided by them is decided once."""
    if isinstance(x, Noisy):
        return np.asarray(x.exact)
    return unwrap(x)


def lies(question: Any, name: str) -> Storage:
    """Where the elements of the question's tensor of that name lie in memory."""
    return storage_of(question.inputs[question.names.index(name)].shape, layouts_of(question.case)[name])
