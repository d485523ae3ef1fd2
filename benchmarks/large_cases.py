"""What large cases cost: the backend's own time, and drawing, reference and judging, without periods and with them.

    python benchmarks/large_cases.py [--backend torch] [--runs 5] [WORD ...]

Each case of 2^19 elements and more is run so many times both ways, by turns in one process; the least of each is
printed, for others use the machine too, and its ratio to the backend's three calls. WORD: only cases that hold it.
`--vast` runs cases of 2^26 elements instead, once and with periods alone, and prints the memory that the judge took.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
from collections.abc import Sequence
from unittest import mock

from opproof.harness.reference import axes
from opproof.harness.reference.valid_case import op_of
from opproof.harness.run.attempt import Attempt, run_task
from opproof.harness.run.hosts.host import Host
from opproof.harness.run.hosts.native import start
from opproof.harness.run.task import Task

HEADS = "query=1x512x16x64;key=1x512x16x64;value=1x512x16x64"
CASES = (
    "rms_norm[x=131072x4;weight=4,;f32]",
    "argsort[x=512x1025;dim=-1;f32]",
    "add[a=512x1024;b=512x1024;f32]",
    "softmax[x=4096x128;dim=-1;f32]",
    "matmul[a=65536x16;b=16x16;f32]",
    "matmul[a=16x16;b=16x65536;f32]",
    "conv2d[x=1024x3x16x16;weight=4x3x3x3;f32]",
    f"scaled_dot_product_attention[{HEADS};f32]",
    "sort[x=4096x128;dim=-1;f32]",
    "cumsum[x=4096x128;dim=-1;f32]",
    "embedding[weight=64x8;indices=65536,;f32]",
)
VAST = (
    "add[a=8192x8192;b=8192x8192;f32]",
    "softmax[x=524288x128;dim=-1;f32]",
    "rms_norm[x=16777216x4;weight=4,;f32]",
    "matmul[a=4194304x16;b=16x16;f16]",
)
#: Seconds for a call, and bytes for the backend.
TIMEOUT = 600.0
MEMORY_BYTES = 16 * 2**30
#: Judging may take so many times the backend's own time.
MOST = 2.0


def attempt(host: Host, backend: str, text: str, mode: str, *, repeats: bool) -> Attempt:
    """One attempt at a case, its data repeating or not."""
    least = axes.MIN_REPEATED_ELEMENTS if repeats else sys.maxsize
    with mock.patch.object(axes, "MIN_REPEATED_ELEMENTS", least):
        made = run_task(host, Task(backend, text, mode), op_of(text.partition("[")[0], ()), TIMEOUT)
    if made.judgement.verdict != "PASS":
        print(f"{text} {mode}: {made.judgement.verdict} {made.judgement.message}")
    return made


def modes_of(text: str) -> tuple[str, ...]:
    """The modes that the operator has."""
    return ("forward",) if op_of(text.partition("[")[0], ()).vjp is None else ("forward", "gradient")


def measure(host: Host, backend: str, texts: Sequence[str], runs: int) -> list[float]:
    """Print a line for each case and mode; the ratios with periods."""
    print(f"| case | mode | {backend}, s | before, s | ratio | now, s | ratio |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    ratios = []
    for text in texts:
        for mode in modes_of(text):
            attempt(host, backend, text, mode, repeats=True)
            both = [[attempt(host, backend, text, mode, repeats=r) for _ in range(runs)] for r in (False, True)]
            own = min(made.seconds for made in both[1])
            before, now = (min(made.judging for made in some) for some in both)
            ratios.append(now / own)
            print(f"| {text} | {mode} | {own:.4f} | {before:.3f} | {before / own:.1f} | {now:.4f} | {now / own:.2f} |")
            sys.stdout.flush()
    return ratios


def measure_vast(host: Host, backend: str, texts: Sequence[str]) -> None:
    """Print a line for each case and mode."""
    for text in texts:
        for mode in modes_of(text):
            made = attempt(host, backend, text, mode, repeats=True)
            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            said = f"{made.judgement.verdict}, {backend} {made.seconds:.1f} s, judging {made.judging:.1f} s"
            print(f"{text} {mode}: {said}, at most {most:.2f} GiB so far, tensors too", flush=True)


def main(arguments: Sequence[str]) -> int:
    """0 where every case is within its ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--backend", default="torch")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--vast", action="store_true")
    given = parser.parse_args(arguments)
    texts = [t for t in (VAST if given.vast else CASES) if not given.words or any(w in t for w in given.words)]
    host = start(given.backend, MEMORY_BYTES)
    try:
        if given.vast:
            measure_vast(host, given.backend, texts)
            return 0
        ratios = measure(host, given.backend, texts, given.runs)
    finally:
        host.close()
    print(
        f"\n{sum(r <= MOST for r in ratios)} of {len(ratios)} within {MOST:g}, median {statistics.median(ratios):.2f}"
    )
    return 0 if max(ratios) <= MOST else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
