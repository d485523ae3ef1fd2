"""What every host is to the judge, whatever it runs in, and the first look at what it answers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from opproof.backends.worker import serve
from opproof.backends.worker.protocol import BufferRef, dtype_of
from opproof.core.arrays import Array
from opproof.core.dtypes import Declaration
from opproof.core.text import make_plain
from opproof.core.verdicts import Destination, Verdict
from opproof.harness.judge.outputs import EarlyVerdict
from opproof.harness.run.hosts.process import HostFault, HostProcess
from opproof.harness.run.memory import Buffer, Bytes, Layout, find_changed, find_unwritten, is_row_major_at
from opproof.harness.run.request import Params, Request, Returned, Shapes, Tensors, check_returned


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
    def support(self, op: str, dtype: str, mode: str, params: Params, shapes: Shapes) -> Support:
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


#: Of results that are looked at.
_DTYPES = frozenset({
    *("float16", "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2", "bool"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
})  # fmt: skip

#: Elements that are looked at at once.
_PIECE = 2**22

_VERDICTS = {
    serve.CallOutcome.DECLINED: Verdict.UNSUPPORTED,
    serve.CallOutcome.FAILED: Verdict.ERROR,
    serve.CallOutcome.OUT_OF_BOUNDS: Verdict.OUT_OF_BOUNDS,
    serve.CallOutcome.INPUT_CHANGED: Verdict.INPUT_CHANGED,
    serve.CallOutcome.OUT_OF_MEMORY: Verdict.OUT_OF_MEMORY,
    serve.CallOutcome.NOT_MADE: Verdict.ERROR,
}


def check_outputs(
    question: Request, layout: Layout, now: Sequence[Bytes], given: serve.WireReply, *, writes: bool
) -> list[Array | None]:
    """The results of an answer, from what the buffers held when it came. Raises Settled for every fault."""
    done = given.outcome is serve.CallOutcome.DONE
    if not done and not question.wrong:
        raise EarlyVerdict(_VERDICTS[given.outcome], make_plain(given.message))
    suspicious = list(find_changed(layout.buffers, now))
    for buffer, data in suspicious:
        if written := buffer.describe_trespass(data):
            raise EarlyVerdict(Verdict.OUT_OF_BOUNDS, f"{buffer.name}: {written}")
    for buffer, data in suspicious:
        if changed := buffer.changed(data):
            raise EarlyVerdict(Verdict.INPUT_CHANGED, f"{buffer.name}: {changed}")
    results = {b.result: (b, data) for b, data in suspicious if b.result is not None}
    if not done:
        written = " and ".join(b.name for b, data in results.values() if not b.holds(data))
        outcome = Verdict.NOT_REFUSED if written else _VERDICTS[given.outcome]
        said = f"{written} was written before the call was refused: " * bool(written)
        raise EarlyVerdict(outcome, f"{said}{make_plain(given.message)}")
    returned = [
        _make_returned(r, layout.request.results[i], *results[i])
        if r is not None and i in results
        else (None if r is None else Returned(r.shape, make_plain(r.dtype), None))
        for i, r in enumerate(given.results)
    ]
    return results_of(returned, question, writes=writes or layout.request.into)


def results_of(returned: Sequence[Returned | None], question: Request, *, writes: bool) -> list[Array | None]:
    """The results, where they are of the form asked for, and written all over. Raises Settled."""
    arrays = check_returned(returned, question)
    _check_truth(arrays, question)
    if writes:
        for array, wanted in zip(arrays, question.wanted, strict=True):
            if array is None or wanted is None:
                continue
            flat = array.reshape(-1)
            parts = (flat[i : i + _PIECE] for i in range(0, max(flat.size, 1), _PIECE))
            if any(find_unwritten(part).any() for part in parts):
                missing = find_unwritten(array)
                index = tuple(int(i) for i in np.argwhere(missing)[0])
                count = f"{int(missing.sum())} of {array.size} elements were not written, the first at {index}"
                raise EarlyVerdict(Verdict.NOT_WRITTEN, f"{wanted.name}: {count}")
    return arrays


def _check_truth(arrays: Tensors, question: Request) -> None:
    """Raises Settled for truth values that are neither 0 nor 1: others compare bytes, or count them."""
    for array, wanted in zip(arrays, question.wanted, strict=True):
        if array is None or wanted is None or array.dtype != bool or not array.size:
            continue
        raw = array.view(np.uint8)
        if raw.max() > 1:
            index = tuple(int(i) for i in np.argwhere(raw > 1)[0])
            raise EarlyVerdict(
                Verdict.WRONG_VALUE, f"{wanted.name} at {list(index)} is the byte {raw[index]}: expected 0 or 1"
            )


def _make_returned(described: serve.WireResult, place: BufferRef | None, buffer: Buffer, data: Bytes) -> Returned:
    array = None
    if place is not None and described.shape == place.shape:
        own = data[place.offset - buffer.low : buffer.end - buffer.low]
        array = array_of(described, own) if is_row_major_at(place) else _read_strided(described, place, own)
    return Returned(described.shape, make_plain(described.dtype), array)


def array_of(described: serve.WireResult, data: Bytes) -> Array | None:
    """The array in `data`; None where its dtype is no dtype of results or larger than what was made room for."""
    if described.dtype not in _DTYPES:
        return None
    dtype = dtype_of(described.dtype)
    size = math.prod(described.shape) * dtype.itemsize
    if size > data.size:
        return None
    return data[:size].view(dtype).reshape(described.shape)


def _read_strided(described: serve.WireResult, place: BufferRef, data: Bytes) -> Array | None:
    """The elements that lie in `data` with strides, row by row; None where they have another dtype than asked for."""
    if described.dtype != place.dtype:
        return None
    return np.ndarray(place.shape, dtype_of(place.dtype), data.data, 0, place.strides).copy(order="C")
