"""Large cases: seconds and memory of the judge, and whether one wrong element is found.

    python benchmarks/large.py [--plants 20] [NAME ...]

Of every case the judge's own seconds (without the backend's) and the most memory of its process, arena included; then
the same answer with one element moved, at a place drawn anew each time, must fail there. What is expected does not
depend on the answer: for the wrong ones it is worked out once more and kept. Each NAME is measured in a process of its
own; `small` ones take the same way through the judge in seconds.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from opproof.core.arrays import Array
from opproof.harness.judge import chunks
from opproof.harness.reference.chunks.expected import expect_in_block, in_turn
from opproof.harness.reference.valid_case import op_of
from opproof.harness.run.attempt import run_task
from opproof.harness.run.hosts.native import start
from opproof.harness.run.request import Request
from opproof.harness.run.task import Task

BACKEND = Path(__file__).parent / "large" / "backend.py"
_HEADS = "query=1x32x4096x128;key=1x8x4096x128;value=1x8x4096x128"
_FEW = "query=1x8x256x64;key=1x2x256x64;value=1x2x256x64"
_CAUSAL = "is_causal=true;enable_gqa=true;f16"

#: Name: the case, the mode, MiB for --judge-memory, and the bars: seconds, GB.
CASES: dict[str, tuple[str, str, int, float, float]] = {
    "matmul": ("matmul[a=4096x4096;b=4096x4096;f16]", "forward", 1024, 60, 2),
    "exp": ("exp[x=100000000,;f16]", "forward", 1024, 120, 4),
    "exp in f32": ("exp[x=100000000,;f32]", "forward", 512, 120, 4),
    "attention": (f"scaled_dot_product_attention[{_HEADS};{_CAUSAL}]", "forward", 3072, 120, 4),
    "attention's gradient": (f"scaled_dot_product_attention[{_HEADS};{_CAUSAL}]", "gradient", 3072, 120, 4),
    "small matmul": ("matmul[a=512x512;b=512x512;f16]", "forward", 32, 60, 2),
    "small exp": ("exp[x=1000000,;f32]", "forward", 32, 60, 2),
    "small attention": (f"scaled_dot_product_attention[{_FEW};{_CAUSAL}]", "forward", 32, 60, 2),
    "small attention's gradient": (f"scaled_dot_product_attention[{_FEW};{_CAUSAL}]", "gradient", 32, 60, 2),
}
TIMEOUT = 600.0


class Planted:
    """A host that is asked once for each question; one element of what it gave is moved, where `seed` says."""

    in_process = False
    shares_memory = False

    def __init__(self, spec: str) -> None:
        self.host = start(spec, 16 * 2**30)
        self.about, self.support, self.late = self.host.about, self.host.support, self.host.late
        self.given: dict[bool, list[Array | None]] = {}
        self.seed: int | None = None
        self.place: tuple[int, ...] = ()
        self.seconds = 0.0

    def call(self, question: Request, timeout: float) -> list[Array | None]:
        """See Host."""
        begun = time.perf_counter()
        if question.at_end not in self.given:
            self.given[question.at_end] = self.host.call(question, timeout)
        self.seconds += time.perf_counter() - begun
        arrays = self.given[question.at_end]
        return arrays if self.seed is None or not question.at_end else self._moved(arrays, self.seed)

    def _moved(self, arrays: Sequence[Array | None], seed: int) -> list[Array | None]:
        """One element is off by a sixty-fourth of its size and of that of all together."""
        rng = np.random.default_rng(seed)
        moved = list(arrays)
        which = int(rng.choice([i for i, a in enumerate(moved) if a is not None]))
        array = np.array(moved[which])
        self.place = tuple(int(rng.integers(n)) for n in array.shape)
        value, some = float(array[self.place]), array.ravel()[:4096].astype(np.float64)
        array[self.place] = value + (abs(value) + float(np.sqrt(np.mean(some**2)))) / 64
        moved[which] = array
        return moved


@contextmanager
def expected_once() -> Iterator[None]:
    """What the judge works out of a case without its answer is worked out once, and kept in memory."""
    kept: dict[Any, Any] = {}

    def once(key: Any, make: Callable[[], Any]) -> Any:
        if key not in kept:
            kept[key] = make()
        return kept[key]

    whole = mock.patch.object(chunks, "in_turn", lambda *given: once("whole", lambda: [*in_turn(*given)]))
    drawn = mock.patch.object(
        chunks,
        "expect_in_block",
        lambda posed, room, block, noise, needs, declared: once(
            (block, noise, tuple(needs)), lambda: expect_in_block(posed, room, block, noise, needs, declared)
        ),
    )
    with whole, drawn:
        yield


def measured(name: str, plants: int) -> bool:
    """Print what one case takes, and how many of the wrong elements are found; whether all bars are met."""
    text, mode, memory, seconds, gigabytes = CASES[name]
    task = Task(str(BACKEND), text, mode, judge_memory=memory * 2**20)
    op = op_of(text.partition("[")[0], ())
    planted = Planted(str(BACKEND))
    try:
        begun, cpu = time.perf_counter(), time.process_time()
        honest = run_task(planted, task, op, TIMEOUT)  # type: ignore[arg-type]
        took, cpu = time.perf_counter() - begun - planted.seconds, time.process_time() - cpu
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
        judgement = honest.judgement
        print(
            f"{name}: {judgement.verdict} {judgement.units} of {judgement.limit} units, {took:.1f} s ({cpu:.1f} s "
            f"of processor), {most:.2f} GB; at most {seconds:g} s, {gigabytes:g} GB. {judgement.message}",
            flush=True,
        )
        right = judgement.verdict == "PASS" and took <= seconds and most <= gigabytes
        found = 0
        with expected_once():
            for planted.seed in range(plants):
                seen = run_task(planted, task, op, TIMEOUT).judgement  # type: ignore[arg-type]
                there = seen.worst is not None and seen.worst.index == planted.place
                found += there and seen.verdict.startswith("WRONG")
        if plants:
            print(f"{name}: {found} of {plants} wrong elements found", flush=True)
    finally:
        planted.host.close()
    return right and found == plants


def main(arguments: Sequence[str]) -> int:
    """One process for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *CASES], default=[], metavar="NAME")
    parser.add_argument("--plants", type=int, default=20)
    given = parser.parse_args(arguments)
    if len(given.names) == 1:
        return 0 if measured(given.names[0], given.plants) else 1
    command = [sys.executable, __file__, f"--plants={given.plants}"]
    return max(subprocess.run([*command, name], check=False).returncode for name in given.names or CASES)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
