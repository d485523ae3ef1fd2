"""How long `opproof compare` takes on two runs: `python benchmarks/compare.py [RECORDS]`, 12,000 by default."""

from __future__ import annotations

import math
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from opproof.core.verdicts import MODES, Verdict
from opproof.reports import Header, Result, write_line

DTYPES = ("f32", "f16", "bf16")


def records(count: int, growth: float) -> list[Result]:
    """A made-up run of 60 operators; of every hundred records one fails where `growth` is not 1."""
    draw, found = random.Random(0), []  # noqa: S311 - not cryptography
    for i in range(count):
        op, dtype, mode = f"operator{i % 60}", DTYPES[i % 3], MODES[i % 2]
        case = f"{op}[x=3x{i}x33;dim=-1;{dtype};fill=wide;layout=transposed]"
        failed = growth != 1 and i % 100 == 7
        found.append(
            Result(
                case=case, op=op, dtype=dtype, backend="torch", mode=mode,
                verdict=Verdict.WRONG_VALUE if failed else Verdict.PASS,
                units=math.exp(draw.gauss(0, 0.5)) * growth, seconds=0.01,
                message="an element outside its bound" if failed else "",
                repro=f"opproof run -b torch --mode {mode} --case '{case}'",
            )
        )  # fmt: skip
    return found


def write(folder: Path, results: list[Result]) -> None:
    folder.mkdir()
    with (folder / "results.jsonl").open("wb") as file:
        write_line(file, Header(opproof="0.1.0", cases=len(results), constants={"C": 16.0}))
        for result in results:
            write_line(file, result)


def main() -> None:
    """Print the seconds of each command, processes and all."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 12_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "a", records(count, 1))
        write(folder / "b", records(count, 9))
        for call in (
            ["compare", "a", "b"],
            ["compare", "a", "b", "--markdown", "c.md", "--html", "c.html"],
            ["baseline", "save", "a", "base"],
            ["compare", "base", "b"],
            ["baseline", "update", "b", "base"],
        ):
            started = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-m", "opproof.harness", *call],
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
            )
            seconds = time.perf_counter() - started
            print(f"{seconds:5.2f} s  exit {done.returncode}  opproof {' '.join(call)}  {done.stderr.strip()}")
        size = sum(p.stat().st_size for p in (folder / "base").iterdir())
        print(f"baseline: {size:,} bytes, {size / count:.0f} a record")


if __name__ == "__main__":
    main()
