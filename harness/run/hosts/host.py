"""What every host is to the judge, whatever it runs in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from opproof.core.arrays import Array
from opproof.core.dtypes import Declaration
from opproof.core.verdicts import Destination
from opproof.harness.run.hosts.process import HostFault, HostProcess
from opproof.harness.run.request import Request


@dataclass(frozen=True, slots=True)
class About:
    """What a backend says of itself when it is loaded."""

    name: str
    version: str
    device: str
    differentiates: bool = True  # it has a vjp, as far as it tells
    destinations: frozenset[Destination] = frozenset()  # where it can write results, beside memory of their own
    dtypes: frozenset[str] = frozenset()  # that it has, beside those that every backend is asked for
    mixed: bool = False  # it takes floats of several dtypes in one call
    threads: bool = False  # it lets itself be told how many to compute with
    capabilities: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # that its library can be told to use
    once: bool = False  # it answers the judged question alone, since the answer is there already


_NONE = Declaration()


@dataclass(frozen=True, slots=True)
class Support:
    """Whether a call is declined beforehand, and what the backend declares: by that it is judged."""

    reason: str = ""  # why it is declined; empty where it is not
    declared: Declaration = _NONE


class Host(ABC):
    """A loaded backend, in a process of its own or in this one; what is not overridden is so of most."""

    about: About
    in_process = False
    impls: frozenset[str] = frozenset()  # what computed the answers of a task, each by its name

    @property
    def shares_memory(self) -> bool:
        """Whether tensors lie in memory that it has mapped too; else they travel through this process's own."""
        return False

    @abstractmethod
    def support(
        self, op: str, dtype: str, mode: str, params: Mapping[str, Any], shapes: Sequence[Sequence[int] | None]
    ) -> Support:
        """Asked before anything is drawn; `dtype` is that of results, others after a "+". Raises Settled, HostFault."""

    @abstractmethod
    def call(self, question: Request, timeout: float) -> list[Array | None]:
        """One call: copies of the results, checked for number, shape and dtype. Raises Settled and HostFault."""

    def several(self, questions: Sequence[Request], timeout: float) -> Iterator[list[Array | None]]:
        """As many calls, one after the other, each as by `call`; made at once where that gives the same.

        Where calls are made at once, all of them together have `timeout` seconds.
        """
        return (self.call(question, timeout) for question in questions)

    @property
    def alive(self) -> bool:
        """Whether it can be asked again, and has done nothing unasked since its last answer."""
        return True

    def late(self) -> None:  # noqa: B027 - nothing is what most have to do
        """Raises Settled where it wrote to the memory of its last call after it had answered."""

    @abstractmethod
    def fault(self) -> HostFault:
        """Why it is not alive."""

    def close(self) -> object:  # noqa: B027 - see late
        """End it, and all that it started."""


class ProcessHost(Host):
    """A backend in a process of its own."""

    _process: HostProcess

    @property
    def alive(self) -> bool:
        """See Host."""
        return self._process.alive

    def fault(self) -> HostFault:
        """See Host."""
        return self._process.fault()
