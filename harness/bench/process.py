"""The process that times a backend, and the judge's own clock beside it."""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opproof.backends.worker.serve import from_metadata
from opproof.backends.worker.timing import Block, TimedCalls, main
from opproof.harness.bench.output_check import SpotCheckAnswers, Unseen

#: By how much the two clocks may differ, blocks being long: sending and refilling buffers are taken off before.
_APART = 1.5
#: Seconds of a block below which the pipe's own time says more than the calls'.
_MIN_BLOCK_SECONDS = 0.005


class Fault(Exception):
    """The backend cannot be timed; the text says why."""


class Worker:
    """A process that has loaded one backend."""

    def __init__(self, spec: str, timeout: float) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._timeout = timeout
        self._process = context.Process(target=main, args=(theirs, spec), daemon=True)
        self._process.start()
        theirs.close()
        self.ask(None)

    def ask(self, request: TimedCalls | Block | None) -> dict[str, Any]:
        """The answer to a request; None only waits for one. Raises Fault, after which the process is gone."""
        try:
            if request is not None:
                self._pipe.send(request)
            late = not self._pipe.poll(self._timeout)
            answer: dict[str, Any] = {} if late else json.loads(self._pipe.recv_bytes())
        except (EOFError, OSError, ValueError):
            self.close()
            raise Fault("its process died") from None
        if late or "error" in answer:
            self.close()
            raise Fault(str(answer.get("error", f"no answer within {self._timeout:g} s")))
        return answer

    def run_spot_check(self, block: Block, size: int) -> tuple[dict[str, Any], bytes]:
        """The answer to a block with a look, and the `size` bytes of the results. Raises Fault, as `ask` does."""
        told = self.ask(block)
        try:
            if self._pipe.poll(self._timeout):
                results = self._pipe.recv_bytes(size)
                if len(results) == size:
                    return told, results
        except (EOFError, OSError):
            pass
        self.close()
        raise Fault("its process did not tell what a timed call answered")

    @property
    def pid(self) -> str:
        return str(self._process.pid)

    @property
    def alive(self) -> bool:
        """Whether it can be asked again."""
        return not self._pipe.closed

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._pipe.close()


@dataclass(frozen=True)
class Clocks:
    """A block by two clocks, in seconds. Without what it waited for a core a block takes `least` by ours."""

    told: float  # by the clock in its process
    least: float
    most: float


@dataclass
class Blocks:
    """A timer of blocks in a worker, that looks at the judge's clock as well, and at answers where it is asked to."""

    worker: Worker
    cold: bool
    unseen: Unseen | None = None
    answers: SpotCheckAnswers = field(default_factory=SpotCheckAnswers)
    overhead: float = 0.0
    seen: list[Clocks] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.overhead = min(self._asked(0).most for _ in range(3))

    def __call__(self, calls: int) -> float:
        """See Timer."""
        clocks = self._asked(calls)
        self.seen.append(clocks)
        return clocks.told

    def look(self, calls: int) -> None:
        """A block, of two calls at least, whose last one's answer comes back. Its time counts nowhere."""
        if self.unseen is None:
            return
        look = self.unseen.looks[self.answers.looks % 2]
        told, results = self.worker.run_spot_check(Block(max(2, calls), self.cold, look), self.unseen.size)
        try:
            answer = from_metadata(told["answer"])
        except (LookupError, TypeError, ValueError, AttributeError):
            self.worker.close()
            raise Fault("its process did not tell what a timed call answered") from None
        self.answers.add(answer, results)

    @property
    def objection(self) -> str:
        """Why its clock is not to be believed; empty where it is. Evictions are in ours alone, so cold ones are not."""
        return "" if self.cold else find_disagreement(self.seen)

    def _asked(self, calls: int) -> Clocks:
        pids = ("self", self.worker.pid)
        before, started = sum(map(measure_waiting, pids)), time.perf_counter()
        told = self._seconds(self.worker.ask(Block(calls, self.cold)))
        spent = time.perf_counter() - started
        return Clocks(told, max(spent - (sum(map(measure_waiting, pids)) - before) - self.overhead, 0.0), spent)

    def _seconds(self, answer: dict[str, Any]) -> float:
        """What its process says that a block took. Raises Fault for what is no number, after which it is gone."""
        ns = answer.get("ns")
        if isinstance(ns, bool) or not isinstance(ns, int) or ns < 0:
            self.worker.close()
            raise Fault(f"its process answers {str(answer)[:100]!r}: expected the nanoseconds of a block")
        return ns / 1e9


def measure_waiting(pid: str) -> float:
    """Seconds for which a process was ready and had no core, by the kernel; 0 where it does not say."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def find_disagreement(blocks: Sequence[Clocks]) -> str:
    """What is wrong with the clock of some blocks; empty where it agrees with ours in a quarter of them.

    Other processes delay some answers. A clock that tells another median is wrong in most blocks.
    """
    long = [b for b in blocks if max(b.told, b.least) > _MIN_BLOCK_SECONDS]
    wrong = [b for b in long if b.least > _APART * b.told or b.told > _APART * b.most]
    if len(long) < 2 or 4 * len(wrong) < 3 * len(long):
        return ""
    one = wrong[len(wrong) // 2]
    return f"the clock in its process says {one.told:.3g} s of a block that took {one.least:.3g} s by the judge's"
