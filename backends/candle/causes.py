"""What candle computes where it is known to fail: see known.toml."""

from __future__ import annotations

from typing import Any

import numpy as np


def keep_what_is_larger(x: Any) -> Any:
    """Compare with 0, which NaN is not larger than: it becomes 0."""
    return np.where(x > 0, x, 0)


def divide_by_one_plus_exp(x: Any) -> Any:
    """Divide x by 1 + exp(-x), which overflows."""
    return x / (1 + np.exp(-x))
