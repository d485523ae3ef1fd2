"""NaN, infinity and empty means are answers here, not accidents."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def quiet() -> Iterator[None]:
    """A block in which neither NumPy nor a RuntimeWarning says so."""
    with np.errstate(all="ignore"):
        if _unheard():
            yield
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            yield


def _unheard() -> bool:
    """Whether warnings go unheard as it is: in a judge all do, and within `quiet`. To change that takes its time."""
    action, message, category, module, line = warnings.filters[0] if warnings.filters else ("", None, Warning, None, 0)
    everywhere = message is None and module is None and line == 0
    return action == "ignore" and everywhere and issubclass(RuntimeWarning, category)
