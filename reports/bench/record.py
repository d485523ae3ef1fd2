"""bench.json: what every rendering and comparison of times is made of."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import msgspec

from opproof.core.errors import ResultsError
from opproof.reports.bench import FILE

SCHEMA = 1


class Caches(StrEnum):
    """What the caches hold when a call begins."""

    WARM = "warm"  # what the call before left there
    COLD = "cold"  # nothing of the call's


class Interval(msgspec.Struct, frozen=True):
    """Seconds of one call: the median over blocks, and where it lies with 95 %."""

    median: float
    low: float
    high: float
    blocks: int

    @property
    def half_width(self) -> float:
        """The larger distance from the median to an end, as a share of it."""
        return max(self.high - self.median, self.median - self.low) / self.median if self.median > 0 else 0.0


class Roofline(msgspec.Struct, frozen=True):
    """What this machine can, by NumPy's copy and product of matrices, in one thread or as many as NumPy takes."""

    bytes_per_second: float  # read and written, of arrays larger than the caches
    cached_bytes_per_second: float  # of arrays that stay in the caches
    flops_per_second: float  # of an f32 product


class Time(msgspec.Struct, frozen=True, omit_defaults=True):
    """One case in one mode on one backend; without an interval it was not measured, and `why` says why."""

    case: str
    op: str
    dtype: str
    mode: str
    backend: str
    caches: Caches
    bytes: int = 0
    flops: int = 0
    interval: Interval | None = None
    in_c: bool = False  # the calls are made and timed in C
    looks: int = 0  # at answers of timed calls
    wrong: bool = False  # an answer of a timed call is
    why: str = ""
    units: float | None = None  # the largest error of the answers that were judged before it was timed
    rms: float | None = None  # of the units of a whole array, the largest such; None of few elements


class Bench(msgspec.Struct, frozen=True):
    """A bench."""

    opproof: str
    started: str
    host: dict[str, str]
    roofline: Roofline
    times: tuple[Time, ...]
    schema: int = SCHEMA


def calculate_attainable(time: Time, roofline: Roofline) -> float:
    """Seconds below which this machine cannot be, by its bytes and its operations."""
    speed = roofline.bytes_per_second if time.caches is Caches.COLD else roofline.cached_bytes_per_second
    return max(time.bytes / speed, time.flops / roofline.flops_per_second)


def read(path: Path) -> Bench:
    """A bench.json, or the one in a folder. Raises ResultsError."""
    file = path / FILE if path.is_dir() else path
    try:
        bench = msgspec.json.decode(file.read_bytes(), type=Bench)
    except OSError as error:
        raise ResultsError(f"{file} cannot be read: {error.strerror}; give what opproof bench wrote.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ResultsError(f"{file} is no bench ({error}); give what opproof bench wrote.") from None
    if bench.schema != SCHEMA:
        raise ResultsError(f"{file} has schema {bench.schema}, expected {SCHEMA}; measure anew.")
    return bench
