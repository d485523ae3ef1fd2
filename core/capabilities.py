"""The vector capability under which a backend runs, as a part of the text that names the backend.

`torch+isa=avx2` is the backend torch whose library was told to use no more than AVX2. So records, comparisons and
entries of known failures tell one capability from another as they tell backends apart. `./libmine.so+isa=GGML_CPU=avx2`
names a variable and its value, where the backend itself states none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_MARK = "+isa="
#: Between the name of a variable and its value.
_EQUALS = "="


def add_capability(spec: str, capability: str) -> str:
    """The backend `spec` under a capability; `spec` itself where that is empty."""
    return f"{spec}{_MARK}{capability}" if capability else spec


def backend_of(spec: str) -> str:
    """The backend, whatever capability it runs under: torch of torch+isa=avx2."""
    return spec.rpartition(_MARK)[0] if _MARK in spec else spec


def capability_of(spec: str) -> str:
    """The capability: avx2 of torch+isa=avx2; empty where the library chooses for itself."""
    return spec.rpartition(_MARK)[2] if _MARK in spec else ""


def library_of(spec: str) -> str:
    """The name before a variant or a device: ggml of ggml:/path@Vulkan0."""
    return re.split("[:@]", backend_of(spec), maxsplit=1)[0]


def rename_backend(spec: str, names: Mapping[str, str]) -> str:
    """`spec` with another name for its backend, where `names` has one."""
    backend = backend_of(spec)
    return add_capability(names.get(backend, backend), capability_of(spec))


def assignment_of(capability: str) -> dict[str, str]:
    """The variable that a capability names itself: {"GGML_CPU": "avx2"} of GGML_CPU=avx2; nothing of avx2."""
    variable, equals, value = capability.partition(_EQUALS)
    return {variable: value} if equals else {}


def options_of(spec: str) -> list[str]:
    """The options of `opproof run` that a capability comes from."""
    capability = capability_of(spec)
    if not capability:
        return []
    return ["--isa-variable" if assignment_of(capability) else "--isa", capability]


def format_variables(variables: Mapping[str, str]) -> str:
    """As a shell takes them before a command: ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2"""
    return " ".join(f"{name}{_EQUALS}{value}" for name, value in variables.items())
