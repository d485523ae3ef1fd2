"""Which versions of ggml the adapter knows, and which of the functions that it calls took other arguments before.

Compared declaration by declaration in ggml.h, ggml-backend.h, ggml-cpu.h and ggml-alloc.h: all tags of ggml-org/ggml
from 0.9.4 to 0.21.0, and 0.25.3 as it stands in llama-cpp-python 0.3.36. A C library does not say what its functions
take: a call by the wrong declaration aborts, or computes something else, and ggml would be blamed for it.
"""

from __future__ import annotations

import re

from opproof.backends.protocol import Unsupported

Release = tuple[int, int]

OLDEST: Release = (0, 9)  # releases from this one on are known, with all their patches
NEWEST: Release = (0, 25)  # the last one known

#: The release from which a function takes the arguments that it takes in the newest.
CHANGED: dict[str, Release] = {
    "ggml_gated_delta_net": (0, 15),  # the state has four axes, and K, the number of snapshots, is an argument
    "ggml_ssm_scan": (0, 20),  # K is an argument
}

#: The release from which a function takes rows whose elements do not follow one another, as far as was tried.
STRIDED: dict[str, Release] = {
    "ggml_pad_ext": (0, 13),
    "ggml_pad_ext_circular": (0, 13),
    "ggml_norm": (0, 25),
    "ggml_l2_norm": (0, 25),
}


def release_of(version: str) -> Release | None:
    """What ggml_version says, as numbers; None where it says nothing of the kind."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return None if found is None else (int(found[1]), int(found[2]))


def is_known(version: str) -> bool:
    """Whether the adapter knows what the functions of this version take."""
    release = release_of(version)
    return release is not None and OLDEST <= release <= NEWEST


def is_since(version: str, release: Release) -> bool:
    """Whether the version is `release` or newer; one that does not say what it is is the oldest."""
    return (release_of(version) or OLDEST) >= release


def takes_strides(version: str, function: str) -> bool:
    """Whether `function` takes rows whose elements do not follow one another in this version, as far as is known."""
    return function in STRIDED and is_since(version, STRIDED[function])


def has_changed(version: str, function: str) -> bool:
    """Whether `function` takes its newest arguments in this version. Raises Unsupported where that is not known."""
    if not is_known(version):
        raise Unsupported(f"{describe_unknown(version)}, and {function} has taken other arguments before")
    return is_since(version, CHANGED[function])


def describe_unknown(version: str) -> str:
    """The beginning of a sentence about a version that the adapter does not know."""
    known = f"{render_release(OLDEST)} to {render_release(NEWEST)}"
    return f"ggml {version} is not among the versions that opproof's adapter knows ({known})"


def render_release(release: Release) -> str:
    return ".".join(map(str, release))
