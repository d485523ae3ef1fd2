"""Which vector capabilities a library can be told to use on this processor, for the member `capabilities` of adapters.

Names are the same for all adapters, so that one --isa speaks of several. A level is stated only where the processor
has it: a library that is told of more than there is believes that, and dies of an illegal instruction.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

#: Capability -> the features that a processor needs, as NumPy calls them. An architecture that lacks them has none.
LEVELS: dict[str, tuple[str, ...]] = {
    "sse4": ("SSE41", "SSE42"),
    "avx": ("AVX",),
    "avx2": ("AVX2", "FMA3"),
    "avx512": ("AVX512F", "AVX512CD", "AVX512BW", "AVX512DQ", "AVX512VL"),
    "avx512_vnni": ("AVX512F", "AVX512BW", "AVX512DQ", "AVX512VL", "AVX512VNNI"),
    "avx512_bf16": ("AVX512F", "AVX512BW", "AVX512DQ", "AVX512VL", "AVX512VNNI", "AVX512BF16"),
}


def find_features() -> frozenset[str]:
    """The vector features of this processor, as NumPy calls them; none where this NumPy does not tell."""
    umath = getattr(getattr(np, "_core", None), "_multiarray_umath", None)
    told: Mapping[str, bool] = getattr(umath, "__cpu_features__", {})
    return frozenset(name for name, has in told.items() if has)


def select_possible(variables: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """Of the capabilities, each with its variables, those that this processor has."""
    has = find_features()
    return {name: dict(some) for name, some in variables.items() if has.issuperset(LEVELS[name])}
