"""One verdict on every processor: the built-in backends as if this machine were an older one.

    python benchmarks/processors.py [--only torch,jax] [--level smoke] [--operators softmax,gelu] [--json FILE] [--anew]

PyTorch runs under pairs of its variables: every level of one beside every level of each other once, in 12 runs. JAX,
oneDNN, OpenVINO and NumPy run under each of their capabilities (`--isa`), seeds by turns. Rows are kept in
benchmarks/processors.json as they end; those that ended as they are to, exit status 0 with no failure that is not
explained and no complaint, are not made again unless --anew says so. A run has a folder of its own below --folder.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tabulate import tabulate

from opproof.harness.run.hosts.start import capabilities_of
from opproof.harness.run.task import HostLimits
from opproof.reports import read_results
from opproof.reports._kinds import ResultKind, result_kind_of
from opproof.reports.remarks import read_remarks

SUMMARY = Path(__file__).with_suffix(".json")
#: Variables of PyTorch, each with its levels; an empty one is not set: the processor's own.
ATEN, ONEDNN, THREADS = "ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "OMP_NUM_THREADS"
LEVELS = {
    ATEN: ("default", "avx2", "avx512"),
    ONEDNN: ("SSE41", "AVX2", "AVX512_CORE", ""),
    THREADS: ("1", "2"),
}
SEEDS = (0, 1, 2)
#: Libraries beside PyTorch that can be told of their capability.
OTHERS = ("jax", "onednn", "openvino", "numpy")
#: The longest that one run may take, in seconds: hours, where somebody else has the machine.
LONGEST = 6 * 3600


@dataclass(frozen=True)
class Setting:
    """How one run is made: a backend, a capability or variables, a seed."""

    backend: str
    isa: str  # "" where variables say it
    variables: tuple[tuple[str, str], ...]
    seed: int
    level: str
    operators: tuple[str, ...]  # () for all

    @property
    def name(self) -> str:
        """Unlike that of all others, and fit for a folder."""
        said = [self.isa, *(f"{n}={v or 'own'}" for n, v in self.variables), f"seed={self.seed}", self.level]
        return " ".join(filter(None, [self.backend, *said, "+".join(self.operators)]))

    @property
    def command(self) -> list[str]:
        """The call, without where its report goes."""
        words = ["run", "-b", self.backend, "--level", self.level, "--seed", str(self.seed)]
        words += ["--isa", self.isa] if self.isa else []
        words += ["-o", ",".join(self.operators)] if self.operators else []
        # The adapter computes with one thread, whatever the variable says, until a run tells it another number.
        threads = dict(self.variables).get(THREADS, "1")
        return words + (["--threads", threads] if threads != "1" else [])


@dataclass(frozen=True)
class Row:
    """What became of a run."""

    name: str
    command: str
    exit: int
    records: int
    unexplained: int  # failures that no entry explains
    known: int
    complaints: int  # sentences about the run as a whole that fail it
    notes: int  # such that do not
    seconds: float

    @property
    def is_clean(self) -> bool:
        """Whether it ended as it is to."""
        return self.records > 0 and not (self.exit or self.unexplained or self.complaints)


def of_torch() -> list[tuple[dict[str, str], int]]:
    """Variables and a seed: of any two of the four every pair of levels is in one of the 12 runs.

    Each level of ATen meets each of oneDNN once. Seeds are a Latin square over these; threads alternate
    from level to level of ATen, and the other way round in the second half of oneDNN's, so that each seed has both.
    """
    rows = []
    pairs = itertools.product(enumerate(LEVELS[ATEN]), enumerate(LEVELS[ONEDNN]))
    for (a, aten), (o, onednn) in pairs:
        threads = LEVELS[THREADS][(a + o // 2) % 2]
        rows.append(({ATEN: aten, ONEDNN: onednn, THREADS: threads}, SEEDS[(a + o) % len(SEEDS)]))
    return rows


def settings(
    only: Sequence[str], level: str, operators: Sequence[str], stated: Callable[[str], Iterable[str]]
) -> list[Setting]:
    """The runs of these backends; `stated` has the capabilities of each but torch."""
    found = []
    for backend in only:
        if backend == "torch":
            some = [("", tuple(variables.items()), seed) for variables, seed in of_torch()]
        else:
            some = [(isa, (), SEEDS[i % len(SEEDS)]) for i, isa in enumerate(stated(backend))]
        found += [Setting(backend, isa, variables, seed, level, tuple(operators)) for isa, variables, seed in some]
    return found


def environment(setting: Setting) -> dict[str, str]:
    """That of this process, with the setting's variables and without those that it leaves to the library."""
    kept = {name: value for name, value in os.environ.items() if name not in dict(setting.variables)}
    return kept | {name: value for name, value in setting.variables if value}


def ran(setting: Setting, folder: Path, jobs: int) -> Row:
    """Make the run, and read what it left."""
    out = folder / setting.name.replace(" ", "_")
    words = [sys.executable, "-m", "opproof.harness", *setting.command, "-j", str(jobs), "--quiet", "--out", str(out)]
    begun = time.monotonic()
    done = subprocess.run(
        words, env=environment(setting), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=LONGEST, check=False
    )
    seconds = time.monotonic() - begun
    if not (out / "results.jsonl").is_file():
        sys.stderr.write(done.stderr.decode(errors="replace"))
        return Row(setting.name, said(setting), done.returncode, 0, 0, 0, 0, 0, round(seconds, 1))
    _, results = read_results(out)
    kinds, remarks = [result_kind_of(r) for r in results], read_remarks(out)
    return Row(
        name=setting.name,
        command=said(setting),
        exit=done.returncode,
        records=len(results),
        unexplained=kinds.count(ResultKind.FAILED) + kinds.count(ResultKind.HARNESS_ERROR),
        known=kinds.count(ResultKind.KNOWN),
        complaints=len(remarks.failing),
        notes=len(remarks.notes),
        seconds=round(seconds, 1),
    )


def said(setting: Setting) -> str:
    """The command as one types it."""
    variables = [f"{name}={value}" for name, value in setting.variables if value]
    return " ".join([*variables, "opproof", *map(shlex.quote, setting.command)])


def kept(path: Path) -> dict[str, Row]:
    """The rows of an earlier call, by name."""
    if not path.is_file():
        return {}
    return {row["name"]: Row(**row) for row in json.loads(path.read_text(encoding="utf-8"))["rows"]}


def keep(path: Path, rows: Mapping[str, Row], machine: Mapping[str, str]) -> None:
    """Write the rows, whole or not at all."""
    fresh = path.with_suffix(".part")
    told = {"machine": dict(machine), "rows": [asdict(row) for row in rows.values()]}
    fresh.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    fresh.replace(path)


def table(rows: Iterable[Row]) -> str:
    """The rows for reading."""
    heads = ["run", "exit", "records", "unexplained", "known", "complaints", "notes", "s"]
    lines = [[r.name, r.exit, r.records, r.unexplained, r.known, r.complaints, r.notes, r.seconds] for r in rows]
    return tabulate(lines, heads)


def main() -> int:
    """Make the runs that are not done, print the table; status 1 where one is not clean."""
    from opproof.core.system import describe_host

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(("torch", *OTHERS)), help="backends, separated by commas")
    parser.add_argument("--level", default="standard")
    parser.add_argument("--operators", default="", help="only these, separated by commas")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, default=SUMMARY)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "opproof-processors")
    parser.add_argument("--anew", action="store_true", help="make runs again that were clean")
    options = parser.parse_args()
    limits = HostLimits(1, 60.0, 2**33)
    operators = [name for name in options.operators.split(",") if name]
    some = settings(options.only.split(","), options.level, operators, lambda name: capabilities_of(name, limits))
    rows = kept(options.json)
    for setting in some:
        if not options.anew and setting.name in rows and rows[setting.name].is_clean:
            continue
        rows[setting.name] = ran(setting, options.folder, options.jobs)
        keep(options.json, rows, describe_host())
        print(table([rows[setting.name]]).splitlines()[-1], flush=True)
    every = [rows[setting.name] for setting in some]
    print(f"\n{table(every)}\n{sum(row.is_clean for row in every)} of {len(every)} runs are clean.")
    return int(not all(row.is_clean for row in every))


if __name__ == "__main__":
    sys.exit(main())
