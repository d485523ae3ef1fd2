"""The dtypes of cases by their short names: the NumPy type and the arithmetic's characteristics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # `opproof list` needs the names only, and starts faster without NumPy
    import numpy as np


@dataclass(frozen=True)
class Dtype:
    """A float format. `digits` counts the hidden bit; `u` is the unit roundoff 2^-digits."""

    name: str
    digits: int
    min_exponent: int  # of the smallest normal number, 2^min_exponent
    max_exponent: int  # the largest finite number is (2 - 2^(1-digits)) 2^max_exponent

    @property
    def u(self) -> float:
        return 2.0**-self.digits

    @property
    def tiny(self) -> float:
        """Smallest normal number."""
        return 2.0**self.min_exponent

    @property
    def subnormal(self) -> float:
        """Smallest positive number."""
        return 2.0 ** (self.min_exponent - self.digits + 1)

    @property
    def max(self) -> float:
        """Largest finite number."""
        return (2.0 - 2.0 ** (1 - self.digits)) * 2.0**self.max_exponent

    @cached_property
    def numpy(self) -> np.dtype[Any]:
        import numpy as np

        if self.name == "bf16":
            import ml_dtypes

            return np.dtype(ml_dtypes.bfloat16)  # type: ignore[no-any-return]
        return np.dtype(f"float{self.name[1:]}")


DTYPES: dict[str, Dtype] = {
    "f64": Dtype("f64", 53, -1022, 1023),
    "f32": Dtype("f32", 24, -126, 127),
    "f16": Dtype("f16", 11, -14, 15),
    "bf16": Dtype("bf16", 8, -126, 127),
}


def round_to(values: Any, dtype: Dtype) -> Any:
    """float64 `values` rounded to `dtype` (ties to even, overflow to inf), returned as float64."""
    import numpy as np

    if dtype.name == "f64":
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(values).astype(dtype.numpy).astype(np.float64)
