"""What candle computes where it is known to fail: see known.toml."""

from __future__ import annotations

from typing import Any

import numpy as np


def divide_by_one_plus_exp(x: Any) -> Any:
    """Divide x by 1 + exp(-x), which overflows."""
    return x / (1 + np.exp(-x))
