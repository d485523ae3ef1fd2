"""A request to a host's process, and the frames that answer it."""

from __future__ import annotations

from collections.abc import Mapping

from opproof.backends.worker.protocol import LONGEST, FrameError, decode, encode
from opproof.core.arrays import Array
from opproof.core.text import plain
from opproof.core.verdicts import Verdict
from opproof.harness.run.hosts.process import HostFault, HostProcess


def exchanged(
    process: HostProcess,
    number: str,
    metadata: Mapping[str, str],
    tensors: Mapping[str, Array],
    timeout: float,
    longest: int = LONGEST,
) -> tuple[dict[str, str], dict[str, Array]]:
    """Metadata and tensors of the answer, of at most `longest` bytes. Raises HostFault."""
    return exchanges(process, number, metadata, tensors, timeout, longest, 1)[0]


def exchanges(
    process: HostProcess,
    number: str,
    metadata: Mapping[str, str],
    tensors: Mapping[str, Array],
    timeout: float,
    longest: int,
    count: int,
) -> list[tuple[dict[str, str], dict[str, Array]]]:
    """As `exchanged`, of a request that `count` frames answer; each has `timeout` seconds after the one before."""
    frames = process.exchanges(encode({**metadata, "id": number}, tensors), timeout, longest, count)
    read = {frame: _read(process, frame, number) for frame in dict.fromkeys(frames)}  # most say the same
    return [read[frame] for frame in frames]


def _read(process: HostProcess, frame: bytes, number: str) -> tuple[dict[str, str], dict[str, Array]]:
    try:
        answer, arrays = decode(frame)
    except FrameError as error:
        raise HostFault(Verdict.ERROR, f"{plain(str(error))}{process.last_line()}") from None
    if answer.get("id") != number:
        got = plain(repr(answer.get("id")))
        raise HostFault(Verdict.ERROR, f"the answer has id {got}; expected {number!r}, that of the request")
    return answer, arrays
