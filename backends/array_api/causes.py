"""What array libraries compute where they are known to fail: see known.toml."""

from __future__ import annotations

from typing import Any

import numpy as np


def multiply_by_logarithms(x: Any, *, dim: int) -> Any:
    """Take products as exp of the sum of logarithms, which negative numbers have not."""
    return np.exp(np.cumsum(np.log(x), axis=dim))


def forget_invert(elements: Any, tests: Any, *, invert: bool) -> Any:
    """Tell what stands among the tests, whatever is asked."""
    del invert
    return np.isin(elements, tests)


def take_upper_factor(x: Any) -> Any:
    """Give the upper triangle where the lower one is asked for."""
    return np.swapaxes(np.linalg.cholesky(x), -1, -2)
