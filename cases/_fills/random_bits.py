"""Raw words that depend on a key alone, on every machine, and the two simplest draws that are made of them.

Philox, a counter-based generator (Salmon et al., Parallel random numbers: as easy as 1, 2, 3,
2011), is keyed with a hash of the key. Its raw bits are mapped to dyadic rationals by integer
arithmetic of our own, since NumPy may change its own mappings (NEP 19).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray

from opproof.cases._case import Shape
from opproof.core.dtypes import Dtype

Floats = NDArray[np.float64]
#: So many raw 64-bit words.
Bits = Callable[[int], NDArray[np.uint64]]
#: Draws a tensor of a shape and a dtype, as float64.
Fill = Callable[[Bits, Shape, Dtype], Floats]

#: The lowest bits of a word, which a choice among few leaves out.
SKIPPED_BITS = np.uint64(11)

_FOUR = np.ones(4)


class _Key(ISeedSequence):
    """A key for a generator: given as `key=`, it would have NumPy ask the system for entropy as well, for nothing."""

    def __init__(self, words: NDArray[np.uint64]) -> None:
        self.words = words

    def generate_state(self, n_words: int, dtype: Any = np.uint64) -> NDArray[np.uint64]:
        """The key itself; Philox asks for two words of 64 bits."""
        return self.words[:n_words].astype(dtype)


def bits_of(key: str) -> Bits:
    """Return a source of raw 64-bit words that depends on `key` alone."""
    words = np.frombuffer(hashlib.blake2b(key.encode(), digest_size=16).digest(), "<u8")
    generator = np.random.Philox(_Key(words.astype(np.uint64)))  # type: ignore[arg-type]  # what NumPy takes, it hides
    return lambda n: np.asarray(generator.random_raw(n), dtype=np.uint64) if n else np.zeros(0, np.uint64)


def draw_below(bits: Bits, count: int, limit: int) -> NDArray[np.uint64]:
    """Draw `count` whole numbers from 0 to `limit` - 1."""
    return (bits(count) >> SKIPPED_BITS) % np.uint64(limit)


def choose(bits: Bits, shape: Shape, values: tuple[float, ...] | Floats) -> Floats:
    """Draw each element from these values."""
    places = draw_below(bits, math.prod(shape), len(values)).astype(np.int64)
    chosen: Floats = np.asarray(values)[places].reshape(shape)
    return chosen


def fill_normal(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Draw sums of four 16-bit uniforms, dyadic rationals close to normal: |x| < 4, deviation 1.15."""
    del dtype
    quarters = bits(math.prod(shape)).astype("<u8", copy=False).view("<u2").reshape(-1, 4)
    total: Floats = quarters @ _FOUR  # integers, which float64 adds without rounding
    return ((total - 131070) / 2**15).reshape(shape)
