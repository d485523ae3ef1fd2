"""From the text after -b to a host that has loaded the backend: in a process, as files, or in the judge's own process.

In the judge's own a debugger works, and nothing keeps the backend from the judge. Records say so. With --isa a backend
is several, each under one of its library's vector capabilities.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from opproof.backends.load import load_backend
from opproof.backends.loaded import Loaded, resolve_members
from opproof.backends.worker import serve
from opproof.backends.worker.memory import Arena
from opproof.core.arrays import Array
from opproof.core.capabilities import add_capability, assignment_of, backend_of, capability_of, format_variables
from opproof.core.errors import BackendError, UsageError, suggest
from opproof.core.text import make_plain
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.judge.outputs import EarlyVerdict
from opproof.harness.run.hardening import with_hardened_process
from opproof.harness.run.hosts import answer_files, exec_protocol, native
from opproof.harness.run.hosts.host import About, Host, Support, check_outputs
from opproof.harness.run.hosts.process import HostFault, references_allowed
from opproof.harness.run.memory import TRAVEL_GUARD_PAGES, make_layout, take_snapshot, write
from opproof.harness.run.request import Params, Request, Shapes
from opproof.harness.run.results.resume import Settings
from opproof.harness.run.task import HostLimits

#: How variables begin that are read by Python, the loader or opproof itself: no switch of a library.
_NOT_ITS_OWN = ("PYTHON", "LD_", "DYLD_", "OPPROOF")


def start_host(spec: str, limits: HostLimits) -> Host:
    """A host of `spec`, under its capability. Raises BackendError, also where loading it kills or hangs the process."""
    if capability_of(spec) and limits.in_process:
        raise BackendError(f"{spec} needs a process of its own; leave --in-process or --isa out.")
    variables = environment_of(spec, limits)
    spec = backend_of(spec)
    kind, _, rest = spec.partition(":")
    if kind == answer_files.KIND:
        if variables:
            raise BackendError(f"{spec} is answers in files, which no variable changes; leave --isa out.")
        return answer_files.start(rest)
    if kind == "exec":
        if limits.in_process:
            raise BackendError(f"{spec} is a process of its own, which --in-process cannot be; leave that out.")
        return exec_protocol.start(rest, limits.memory, limits.timeout, variables)
    if limits.in_process:
        return InProcessHost(resolve_members(load_backend(spec), spec))
    return native.start(
        spec,
        limits.memory,
        references=references_allowed(),
        private=limits.private,
        patience=limits.timeout,
        variables=variables,
    )


def environment_of(spec: str, limits: HostLimits) -> Mapping[str, str]:
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
def capabilities_of(backend: str, limits: HostLimits) -> Mapping[str, Mapping[str, str]]:
    """The capabilities that a backend states, each with its variables. Raises BackendError."""
    host = start_host(backend, limits)
    stated = host.about.capabilities
    host.close()
    for variables in stated.values():
        for name in variables:
            if not name.isidentifier() or name.startswith(_NOT_ITS_OWN):
                raise BackendError(
                    f"{backend} states the variable {make_plain(name)!r} for a capability, which is none "
                    "of its library's; name the variable that the library reads, or use --isa-variable."
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
        names = list(map(make_plain, stated))
        raise BackendError(
            f"{backend} has no capability {capability!r} on this processor; there are {', '.join(names)}, and all"
            f"{suggest(capability, names)}"
        )
    return stated[capability]


def describe_host(spec: str, host: Host, limits: HostLimits) -> dict[str, str]:
    """What the header of a run says of a backend, and of the capability that it runs under."""
    about = host.about
    said = {"spec": spec, "name": about.name, "version": about.version, "device": about.device}
    if capability_of(spec):
        said |= {"isa": capability_of(spec), "variables": format_variables(environment_of(spec, limits))}
    return said


class InProcessHost(Host):
    """The same requests, layouts and checks as across processes; no limits, and guards that can be touched."""

    in_process = True

    def __init__(self, backend: Loaded) -> None:
        self._backend, self._arena = backend, Arena()
        name, version, device = make_plain(backend.name), make_plain(backend.version), make_plain(backend.device)
        told = backend.set_threads is not None
        self.about = About(
            name, version, device, backend.differentiates, backend.destinations, backend.dtypes, backend.mixed, told,
            backend.capabilities,
        )  # fmt: skip

    def support(self, op: str, dtype: str, mode: str, params: Params, shapes: Shapes) -> Support:
        """See Host."""
        try:
            reason = self._backend.declines(op, dtype.split("+"), params, shapes)
            declared = self._backend.declared(op, dtype, mode)
        except Exception as error:  # of whatever kind, it is the backend's
            raise EarlyVerdict(Verdict.ERROR, make_plain(serve.describe_error(error))) from None
        return Support(make_plain(reason), declared)

    def call(self, question: Request, timeout: float) -> list[Array | None]:
        """See Host. `timeout` is nobody's to enforce here."""
        del timeout
        question = question.with_soft_guards()  # a read out of bounds would end this process, a write is seen
        layout = make_layout(question, self._backend.alignment, TRAVEL_GUARD_PAGES)
        self._arena.grow(layout.request.size)
        write(layout, self._arena.memory)
        given = serve.serve_request(self._backend, layout.request, self._arena, interrupts=True)
        if given.outcome is serve.CallOutcome.DEVICE_LOST:
            raise EarlyVerdict(Verdict.CRASH, f"the device is lost: {make_plain(given.message)}")
        self.impls |= {make_plain(given.impl)}
        now = take_snapshot(layout, self._arena.memory)
        gradient = question.posed.mode is Mode.GRADIENT
        return check_outputs(question, layout, now, given, writes=self._backend.writes(gradient))

    def fault(self) -> HostFault:
        """See Host. Nothing can be said of a process from inside."""
        return HostFault(Verdict.CRASH, "the process died")


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
