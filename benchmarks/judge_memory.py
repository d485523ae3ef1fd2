"""The judge's own memory: the most that each of the hungriest operators makes it take, beside its --judge-memory.

    python benchmarks/judge_memory.py [--json benchmarks/judge_memory.json] [NAME ...]

Every case is judged by a judge of its own, a process as a run has it, and looked at from outside every few
milliseconds: the most memory that is the judge's alone (RssAnon of /proc/PID/status), less what it holds after a small
case of the same operator; beside it what lies in memory that is shared, the tensors of the case. Some are judged in
slices, some whole, just below what fits; those that are too large say so. A case is in order where the judge's own
memory is at most 1.2 times its --judge-memory, or where it is told beforehand what it needs. Linux alone tells.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from opproof.cases import Case
from opproof.core.system import keep_what_is_freed
from opproof.harness.run.scheduler import limit_threads
from opproof.harness.run.session.worker import Session
from opproof.harness.run.task import HostLimits, Task

#: Name: the case, and MiB for --judge-memory.
CASES: dict[str, tuple[str, int]] = {
    "softmax": ("softmax[x=33554433x2;dim=-1;f32]", 1024),
    "add": ("add[a=8192x8192;b=8192x8192;f32]", 1024),
    "relu": ("relu[x=67108864,;f32]", 1024),
    "layer_norm": ("layer_norm[x=16384x1024;weight=1024,;bias=1024,;normalized_shape=(1024);f32]", 256),
    "matmul": ("matmul[a=8192x512;b=512x8192;f16]", 512),
    "attention": ("scaled_dot_product_attention[query=8x8x512x64;key=8x8x512x64;value=8x8x512x64;f32]", 256),
    "sort": ("sort[x=7000x1024;f32]", 1024),
    "argsort": ("argsort[x=7000x1024;f32]", 1024),
    "cumsum": ("cumsum[x=7000x1024;dim=-1;f32]", 1024),
    "cross_entropy": ("cross_entropy[x=7000x1024;target=7000,;f32]", 1024),
    "embedding": ("embedding[weight=1024x1024;indices=7000,;f32]", 1024),
    "group_norm": ("group_norm[x=7x64x128x128;weight=64,;bias=64,;num_groups=8;f32]", 1024),
    "conv2d": ("conv2d[x=4x16x128x128;weight=16x16x3x3;padding=1;f32]", 1024),
    "where": ("where[condition=1500x1500;a=1500x1500;b=1500x1500;f32]", 1024),
    "outer product": ("matmul[a=4096x2;b=2x4096;f32]", 512),
    "softmax of 2^29 elements": ("softmax[x=268435457x2;dim=-1;f32]", 1024),
    "sort, too large": ("sort[x=65536x1024;f32]", 1024),
    "cross_entropy, too large": ("cross_entropy[x=65536x1024;target=65536,;f32]", 1024),
    "embedding, too large": ("embedding[weight=1024x1024;indices=65536,;f32]", 1024),
}
MODES = ("forward", "gradient")
#: By how much the judge may exceed its limit.
TOLERANCE = 1.2
#: Seconds between two looks, and of one call of the backend.
_EVERY, _TIMEOUT = 0.005, 900.0
#: Bytes that the backend may use: --memory 14000, which 2^29 elements need.
_HOST = 14000 * 2**20
MIB = 2**20


@dataclass(frozen=True)
class Row:
    """What one case took; memory in MiB."""

    name: str
    case: str
    mode: str
    judge_memory: int
    own: int  # the most that was the judge's alone
    shared: int  # the most that it had mapped of memory that is shared
    seconds: float  # of all of it,
    in_backend: float  # and of these in the backend
    verdict: str
    message: str

    @property
    def right(self) -> bool:
        """Whether the judge kept its limit, or said before it started what it needs."""
        told = self.verdict == "HARNESS_ERROR" and self.in_backend == 0 and "give --judge-memory" in self.message
        return self.own <= TOLERANCE * self.judge_memory and (told or self.verdict in ("PASS", "UNSUPPORTED"))


def small(text: str) -> str:
    """The case with axes of 16 at most: the same operator and parameters."""
    sizes = {n: "x".join(str(min(k, 16)) for k in s) + "," * (len(s) == 1) for n, s in Case.parse(text).shapes.items()}
    name, _, rest = text.rstrip("]").partition("[")
    parts = []
    for part in rest.split(";"):
        key = part.partition("=")[0]
        parts.append(f"{key}={sizes[key]}" if key in sizes else part.replace("(1024)", "(16)"))
    return f"{name}[{';'.join(parts)}]"


def _judge(backend: str, text: str, mode: str, memory: int, line: Connection) -> None:
    """What a judge's process does: a small case, then, when told to, the large one."""
    keep_what_is_freed()
    desk = Session(HostLimits(1, _TIMEOUT, _HOST))
    desk.results([Task(backend, small(text), mode)])
    line.send(None)
    line.recv()
    begun = time.monotonic()
    record = desk.results([Task(backend, text, mode, memory=_HOST, judge_memory=memory * MIB)])[-1]
    line.send((time.monotonic() - begun, record.seconds, str(record.verdict), record.message))
    desk.close()


def status_of(pid: int) -> dict[str, int]:
    """RssAnon, RssShmem and their like of a process, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {k: int(v.split()[0]) * 1024 for k, _, v in (s.partition(":") for s in lines) if k.startswith("Rss")}


def measured(backend: str, name: str, mode: str) -> Row:
    """Judge one case, and look on."""
    text, memory = CASES[name]
    here, there = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_judge, args=(backend, text, mode, memory, there))
    process.start()
    there.close()
    here.recv()
    assert process.pid is not None
    before, own, shared = status_of(process.pid)["RssAnon"], 0, 0
    here.send(None)
    while not here.poll(_EVERY):
        now = status_of(process.pid)
        if "RssAnon" not in now:
            return Row(name, text, mode, memory, own // MIB, shared // MIB, 0.0, 0.0, "KILLED", "the judge was killed")
        own, shared = max(own, now["RssAnon"] - before), max(shared, now["RssShmem"])
    seconds, in_backend, verdict, message = here.recv()
    process.join()
    return Row(name, text, mode, memory, own // MIB, shared // MIB, round(seconds, 1), in_backend, verdict, message)


def write_summary(path: Path, rows: Sequence[Row]) -> None:
    """Write `rows` as JSON, in place of those of the same case and mode; what others were measured stays."""
    found = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.is_file() else []
    by_key = {(r["name"], r["mode"]): r for r in [*found, *map(asdict, rows)]}
    order = [*CASES]
    kept = sorted(by_key.values(), key=lambda r: (order.index(r["name"]), r["mode"]))
    machine = {"machine": platform.machine(), "cores": os.cpu_count(), "tolerance": TOLERANCE}
    path.write_text(json.dumps({**machine, "rows": kept}, indent=1) + "\n", encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *CASES], default=[], metavar="NAME")
    parser.add_argument("--mode", choices=MODES, action="append")
    parser.add_argument("--backend", default="torch")
    parser.add_argument("--json", type=Path, help="where the summary goes")
    given = parser.parse_args(arguments)
    limit_threads()
    rows = []
    for name in given.names or CASES:
        for mode in given.mode or MODES:
            row = measured(given.backend, name, mode)
            rows.append(row)
            said = "" if row.right else "  TOO MUCH"
            print(
                f"{name} {mode}: {row.verdict}, {row.own} MiB of its own of {row.judge_memory}, {row.shared} shared, "
                f"{row.seconds} s{said}. {row.message}",
                flush=True,
            )
            if given.json:
                write_summary(given.json, rows)
    return 0 if all(r.right for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
