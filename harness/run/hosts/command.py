"""A command of the exec protocol as one asks it by hand: started when first asked, and anew after each fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from opproof.backends.protocol import BackendFailed
from opproof.core.arrays import Array
from opproof.core.errors import BackendError
from opproof.harness.run.hosts import foreign
from opproof.harness.run.hosts.foreign import Foreign
from opproof.harness.run.hosts.process import HostFault

_Answer = TypeVar("_Answer")


class Command:
    """`text` is that of exec:TEXT; calls raise Unsupported, and BackendFailed for every fault. No limit of memory."""

    def __init__(self, text: str, timeout: float) -> None:
        foreign.command_of(text)
        self.text, self.timeout = text, timeout
        self._host: Foreign | None = None

    @property
    def name(self) -> str:
        """As the hello says; so are the next two."""
        return self._started().about.name

    @property
    def version(self) -> str:
        """See name."""
        return self._started().about.version

    @property
    def device(self) -> str:
        """See name."""
        return self._started().about.device

    def declines(self, op: str, dtype: str) -> str:
        """Why the hello excludes an operator; empty where it does not."""
        return self._started().support(op, dtype, "forward", {}, []).reason

    def forward(self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> list[Array]:
        """The outputs."""
        return self._asked(lambda host: host.forward(op, inputs, params, self.timeout))

    def vjp(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
        cotangents: Sequence[Array | None], needs: Sequence[bool],
    ) -> list[Array | None]:  # fmt: skip
        """The gradients."""
        return self._asked(lambda host: host.vjp(op, inputs, params, cotangents, needs, self.timeout))

    def last_line(self) -> str:
        """The last line on stderr, as the end of a sentence."""
        return "" if self._host is None else self._host.last_line()

    def stop(self, grace: float = 0.0) -> bool:
        """End the command, if it runs; True where it ended by itself within `grace` seconds."""
        host, self._host = self._host, None
        return host is None or host.close(grace)

    def _asked(self, question: Callable[[Foreign], _Answer]) -> _Answer:
        try:
            return question(self._started())
        except BackendError as error:
            raise BackendFailed(str(error)) from None
        except HostFault as fault:
            self.stop()
            raise BackendFailed(f"{fault.message}.") from None

    def _started(self) -> Foreign:
        if self._host is not None and not self._host.alive:
            fault = self._host.fault()
            self.stop()
            raise BackendFailed(f"{fault.message}.")
        if self._host is None:
            host = foreign.start(self.text, 0, self.timeout)
            if not isinstance(host, Foreign):
                host.close()
                raise BackendError(f"exec:{self.text} is opproof's own host, which `opproof run` speaks to; run it.")
            self._host = host
        return self._host
