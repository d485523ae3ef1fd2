"""--isa: from the backends of a call to those of its run, each under one of its library's vector capabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opproof.core.capabilities import add_capability, capability_of
from opproof.core.errors import UsageError
from opproof.harness.run.hardening import with_hardened_process
from opproof.harness.run.hosts.start import capabilities_of, environment_of, variables_of
from opproof.harness.run.results.resume import Settings
from opproof.harness.run.task import HostLimits

#: Every capability that the library of a backend can be told.
ALL = "all"


def apply_capabilities(settings: Settings, limits: HostLimits) -> tuple[Settings, HostLimits]:
    """The settings with a backend for each capability, and the limits with the variables that are to be set.

    Without --isa, and without backends that name a capability, both are as they were. Raises UsageError and
    BackendError.
    """
    named = [spec for spec in settings.backends if capability_of(spec)]
    if not (settings.isa or settings.isa_variables or named):
        return settings, limits
    if limits.in_process:
        raise UsageError(
            "--isa sets variables for a process of the backend, which --in-process has not; leave one out."
        )
    if named and (settings.isa or settings.isa_variables):
        raise UsageError(f"{named[0]} names its capability already; leave --isa and --isa-variable out.")
    with with_hardened_process():
        specs = [
            spec for backend in dict.fromkeys(settings.backends) for spec in _make_specs(backend, settings, limits)
        ]
        found = {spec: environment_of(spec, limits) for spec in specs if capability_of(spec)}
    settings = replace(settings, backends=tuple(specs), isa=(), isa_variables=())
    environments = tuple((spec, tuple(variables.items())) for spec, variables in found.items())
    return settings, replace(limits, environments=environments)


def _make_specs(backend: str, settings: Settings, limits: HostLimits) -> list[str]:
    """A backend under each capability that is asked for; its variables alone where no name is given beside them."""
    if capability_of(backend):
        return [backend]
    own = list(settings.isa_variables)
    if not settings.isa:
        return [add_capability(backend, assignment) for assignment in own]
    if own:
        return [add_capability(backend, name) for name in _select_values(own, settings.isa)]
    stated = capabilities_of(backend, limits)
    names = [n for name in settings.isa for n in (stated or [ALL] if name == ALL else [name])]
    for name in names:
        variables_of(backend, name, stated)
    return [add_capability(backend, name) for name in dict.fromkeys(names)]


def _select_values(assignments: Sequence[str], names: Sequence[str]) -> list[str]:
    """Those of the values of --isa-variable that --isa names, by the value or the whole. Raises UsageError."""
    found: list[str] = []
    for name in names:
        some = [a for a in assignments if name in (ALL, a, a.partition("=")[2])]
        if not some:
            raise UsageError(
                f"no --isa-variable has the value {name!r}; there are {', '.join(assignments)}, and {ALL}."
            )
        found += some
    return list(dict.fromkeys(found))
