"""From the text after -b to a host that has loaded the backend."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping

from opproof.core.capabilities import assignment_of, backend_of, capability_of, variables_text
from opproof.core.errors import BackendError, meant
from opproof.core.text import plain
from opproof.harness.run.hosts import filed, foreign, inside, placed
from opproof.harness.run.hosts.host import Host
from opproof.harness.run.hosts.process import references_allowed
from opproof.harness.run.limits import Limits

#: How variables begin that are read by Python, the loader or opproof itself: no switch of a library.
_NOT_ITS_OWN = ("PYTHON", "LD_", "DYLD_", "OPPROOF")


def start(spec: str, limits: Limits) -> Host:
    """A host of `spec`, under its capability. Raises BackendError, also where loading it kills or hangs the process."""
    if capability_of(spec) and (limits.in_process or os.name != "posix"):
        raise BackendError(f"{spec} needs a process of its own on a POSIX system; leave --in-process or --isa out.")
    variables = environment_of(spec, limits)
    spec = backend_of(spec)
    kind, _, rest = spec.partition(":")
    if kind == filed.KIND:
        if variables:
            raise BackendError(f"{spec} is answers in files, which no variable changes; leave --isa out.")
        return filed.start(rest)
    if kind == "exec":
        if limits.in_process:
            raise BackendError(f"{spec} is a process of its own, which --in-process cannot be; leave that out.")
        return foreign.start(rest, limits.memory, limits.timeout, variables)
    if limits.in_process or os.name != "posix":
        return inside.start(spec)
    return placed.start(
        spec,
        limits.memory,
        references=references_allowed(),
        private=limits.private,
        patience=limits.timeout,
        variables=variables,
    )


def environment_of(spec: str, limits: Limits) -> Mapping[str, str]:
    """The variables that tell a library of its capability; none where it chooses for itself. Raises BackendError.

    Where `limits` do not have them, the backend is loaded once to be asked.
    """
    capability = capability_of(spec)
    if not capability:
        return {}
    if found := assignment_of(capability):
        return found
    known = dict(limits.environments)
    if spec in known:
        return dict(known[spec])
    return variables_of(backend_of(spec), capability, capabilities_of(backend_of(spec), limits))


@functools.cache
def capabilities_of(backend: str, limits: Limits) -> Mapping[str, Mapping[str, str]]:
    """The capabilities that a backend states, each with its variables. Raises BackendError."""
    host = start(backend, limits)
    stated = host.about.capabilities
    host.close()
    for variables in stated.values():
        for name in variables:
            if not name.isidentifier() or name.startswith(_NOT_ITS_OWN):
                raise BackendError(
                    f"{backend} states the variable {plain(name)!r} for a capability, which is none of its library's; "
                    "name the variable that the library reads, or use --isa-variable."
                )
    return stated


def variables_of(backend: str, capability: str, stated: Mapping[str, Mapping[str, str]]) -> Mapping[str, str]:
    """Those of one of the capabilities that a backend states. Raises BackendError where it is none of them."""
    if not stated:
        raise BackendError(
            f"{backend} states no vector capability that its library could be told on this processor: leave --isa out, "
            "or name the variable that the library reads, as --isa-variable NAME=VALUE,VALUE."
        )
    if capability not in stated:
        names = list(map(plain, stated))
        raise BackendError(
            f"{backend} has no capability {capability!r} on this processor; there are {', '.join(names)}, and all"
            f"{meant(capability, names)}"
        )
    return stated[capability]


def described(spec: str, host: Host, limits: Limits) -> dict[str, str]:
    """What the header of a run says of a backend, and of the capability that it runs under."""
    about = host.about
    said = {"spec": spec, "name": about.name, "version": about.version, "device": about.device}
    if capability_of(spec):
        said |= {"isa": capability_of(spec), "variables": variables_text(environment_of(spec, limits))}
    return said
