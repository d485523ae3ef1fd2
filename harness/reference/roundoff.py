"""How much a dtype rounds, what a backend may declare instead, and how often noise of that size is drawn."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from opproof.core.dtypes import DTYPES, Dtype

#: Noisy runs per case, and the amplitude of the larger of the two roundings.
RUNS = 16
DELTA = 2.0**-30
#: The RMS of what one store loses, in roundoffs, where it alone is of its size: anything between none and 1.
ONE_STORE_RMS = 3.0**-0.5

#: The most that the RMS of an array's units may be where 16-bit intermediates are declared: noise of each store is as
#: large as the most that one loses. Of PyTorch code every store is known; a library may store more often than our
#: formula does: textbook kernels that store after every step came to 1.4, PyTorch's local_response_norm to 1.9.
MAX_TRACED_RMS_UNITS = 1.0
MAX_STORED_RMS_UNITS = 2.0

#: Roundoff of precisions in which a backend may declare to compute. q8: half a step is 1/254 of a block's largest.
COMPUTE_U = {"f64": 2.0**-53, "f32": 2.0**-24, "tf32": 2.0**-11, "f16": 2.0**-11, "bf16": 2.0**-8, "q8": 2.0**-8}


def compute_roundoff(dtype: Dtype, declared: str | None) -> float:
    """Unit roundoff of interior operations: float32 for 16-bit dtypes, else the dtype, unless declared.

    "storage": what passes between kernels is rounded to the dtype, sums are still accumulated in float32.
    "q8": inputs are rounded to blocks of 8 bits, sums of their products are accumulated in float32 or in integers.
    A dtype's name: all arithmetic, accumulation included, has that precision.
    """
    if declared == "storage":
        return dtype.u
    if declared is not None:
        return max(COMPUTE_U[declared], dtype.u if dtype.name in ("f64", "f32") else 0)
    return min(dtype.u, COMPUTE_U["f32"])


def least_normal_of(dtype: Dtype) -> float:
    """The least normal number of interior operations, which are float32's for all but float64."""
    return dtype.tiny if dtype.name == "f64" else DTYPES["f32"].tiny


@contextmanager
def ignore_fp_warnings() -> Iterator[None]:
    """A block in which neither NumPy nor a RuntimeWarning says so."""
    with np.errstate(all="ignore"):
        if _is_unheard():
            yield
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            yield


def _is_unheard() -> bool:
    """Whether warnings go unheard as it is: in a judge all do, and within `ignore_fp_warnings`. To change that takes
    its time.
    """
    action, message, category, module, line = warnings.filters[0] if warnings.filters else ("", None, Warning, None, 0)
    everywhere = message is None and module is None and line == 0
    return action == "ignore" and everywhere and issubclass(RuntimeWarning, category)
