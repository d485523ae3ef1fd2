"""The dtypes of cases by their short names, their arithmetic, and what a backend declares of its results."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


class Kind(StrEnum):
    """Kinds of numbers. Every backend is asked for floats, for the others the one that declares them."""

    FLOAT = "floats"
    FLOAT8 = "float8"  # what is stored, and widened to compute
    SIGNED = "signed"  # integers, in two's complement
    UNSIGNED = "unsigned"


@dataclass(frozen=True)
class Dtype:
    """A format of numbers. `digits` counts a float's hidden bit, and no sign; `u` is the unit roundoff 2^-digits.

    Integers round nothing: their u is 0, and exponents do not apply.
    """

    name: str
    digits: int
    min_exponent: int = 0  # of the smallest normal number, 2^min_exponent
    max_exponent: int = 0  # of the largest finite number
    kind: Kind = Kind.FLOAT
    has_infinity: bool = True

    @cached_property
    def whole(self) -> bool:
        """Whether its numbers are whole ones."""
        return self.kind in (Kind.SIGNED, Kind.UNSIGNED)

    @cached_property
    def narrow(self) -> bool:
        """Whether it is a float of fewer digits than float32."""
        return not self.whole and self.digits < 24

    @cached_property
    def u(self) -> float:
        return 0.0 if self.whole else 2.0**-self.digits

    @cached_property
    def tiny(self) -> float:
        """Smallest normal number."""
        return 2.0**self.min_exponent

    @cached_property
    def subnormal(self) -> float:
        """Smallest positive number."""
        return 1.0 if self.whole else 2.0 ** (self.min_exponent - self.digits + 1)

    @cached_property
    def max(self) -> float:
        """Largest finite number. Where there is no infinity, the next one's pattern is NaN."""
        if self.whole:
            return 2.0**self.digits - 1
        last = 1 if self.has_infinity else 2
        return (2.0 - last * 2.0 ** (1 - self.digits)) * 2.0**self.max_exponent

    @cached_property
    def min(self) -> float:
        """Least finite number."""
        if self.whole:
            return -(2.0**self.digits) if self.kind is Kind.SIGNED else 0.0
        return -self.max

    @cached_property
    def numpy(self) -> np.dtype[Any]:
        import numpy as np

        if self.name in _ML_DTYPES:
            import ml_dtypes

            own: np.dtype[Any] = np.dtype(getattr(ml_dtypes, _ML_DTYPES[self.name]))
            return own
        word = {Kind.SIGNED: "int", Kind.UNSIGNED: "uint"}.get(self.kind, "float")
        return np.dtype(f"{word}{self.name[1:]}")


#: What NumPy has not.
_ML_DTYPES = {"bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2"}

#: Every dtype of cases; floats first.
DTYPES: dict[str, Dtype] = {
    "f64": Dtype("f64", 53, -1022, 1023),
    "f32": Dtype("f32", 24, -126, 127),
    "f16": Dtype("f16", 11, -14, 15),
    "bf16": Dtype("bf16", 8, -126, 127),
    "f8e4m3": Dtype("f8e4m3", 4, -6, 8, Kind.FLOAT8, has_infinity=False),
    "f8e5m2": Dtype("f8e5m2", 3, -14, 15, Kind.FLOAT8),
    "i8": Dtype("i8", 7, kind=Kind.SIGNED),
    "i16": Dtype("i16", 15, kind=Kind.SIGNED),
    "i32": Dtype("i32", 31, kind=Kind.SIGNED),
    "u8": Dtype("u8", 8, kind=Kind.UNSIGNED),
}

#: Those that every backend is asked for: gradients are asked for in them alone.
FLOATS = tuple(name for name, dtype in DTYPES.items() if dtype.kind is Kind.FLOAT)
#: Those that a backend must declare.
DECLARED = tuple(name for name in DTYPES if name not in FLOATS)


def round_to(values: Any, dtype: Dtype) -> Any:
    """float64 `values` rounded to `dtype`, ties to even, returned as float64.

    Overflow is infinite, or NaN where there is no infinity; integers end at the largest and the least.
    """
    import numpy as np

    if dtype.name == "f64":
        return values
    if dtype.whole:
        return np.clip(np.rint(values), dtype.min, dtype.max)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(values).astype(dtype.numpy).astype(np.float64)


def spacing_of(values: Any, dtype: Dtype) -> Any:
    """The distance of neighbouring numbers of a float `dtype` at the size of each value."""
    import numpy as np

    _, exponent = np.frexp(values)
    return np.ldexp(1.0, np.maximum(exponent, dtype.min_exponent + 1) - dtype.digits)


#: Of bits: the same call may give others, and each of its answers has to be right.
VARY = "vary"
#: Of rounding: towards zero.
TRUNCATE = "truncate"


@dataclass(frozen=True)
class Declaration:
    """Of an operator, a dtype and a mode; None where it says nothing."""

    compute: str | None = None  # the lower precision in which it computes
    rounding: str | None = None  # how it stores results, where not to nearest
    bits: str | None = None  # that the same call may give others

    @classmethod
    def of(cls, words: str) -> Declaration:
        """The declaration whose text this is."""
        said = set(words.split(" and ")) - {""}
        bits = {VARY} & said
        rounding = {TRUNCATE} & said
        compute = said - bits - rounding
        return cls(*(next(iter(some), None) for some in (compute, rounding, bits)))

    def __bool__(self) -> bool:
        return any(word is not None for word in astuple(self))

    def __str__(self) -> str:
        return " and ".join(word for word in astuple(self) if word is not None)
