"""How soon a run fails whose backend has one defect: records before it, and seconds of processors.

    python benchmarks/first_failure.py [--every 10] [--defects]

Every so many of the shipped bugs (benchmarks/shipped.py), each in a backend that answers every operator, or with
--defects the planted defects of examples/c_library, each alone: `opproof run -x -j 2` until it stops.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from opproof.core.verdicts import FAILED
from opproof.reports import read_results

ROOT = Path(__file__).parent.parent
BACKEND = """
import sys
sys.path.insert(0, {folder!r})
from opproof.backends.loaded import resolve_members
from shipped import BUGS, Shipped

def create(variant):
    return Shipped(bug=BUGS[{number}])

_own = create("")
name, version, device = "shipped", "1", "cpu"
supports, forward, vjp = _own.supports, _own.forward, _own.vjp
"""


def measure(backend: str, folder: Path, **variables: str) -> tuple[int, float, bool]:
    """Records until the first that fails, seconds of processors, and whether one does."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "opproof.harness", "run", "-b", backend, "-x", "-j", "2", "--no-cache", "--quiet"]
    environment = {**os.environ, **variables}
    subprocess.run([*command, "--out", str(folder / "r")], env=environment, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    results = read_results(folder / "r")[1]
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return len(results), spent, any(r.verdict in FAILED for r in results)


def main() -> None:
    """Print a line a defect, and what half and nine in ten of them take."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--defects", default="", help="names of planted defects, by commas, for the library in build/")
    options = parser.parse_args()
    from shipped import BUGS

    found: list[tuple[int, float]] = []
    numbers = [] if options.defects else range(3, len(BUGS), options.every)
    for what in [*filter(None, options.defects.split(",")), *numbers]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if isinstance(what, int):
                (folder / "one.py").write_text(BACKEND.format(folder=str(ROOT / "benchmarks"), number=what), "utf-8")
                records, spent, failed = measure(str(folder / "one.py"), folder)
            else:
                library = str(ROOT / "build" / "libexample_broken.so")
                records, spent, failed = measure(library, folder, OPPROOF_DEFECT=what)
        label = what if isinstance(what, str) else f"{BUGS[what].op} {BUGS[what].link}"
        print(
            f"{label}: {records} records, {spent:.1f} s of processors{'' if failed else ', nothing fails'}", flush=True
        )
        found.append((records, spent))
    for k, said in enumerate(("records", "seconds")):
        values = sorted(one[k] for one in found)
        print(f"{said}: half {statistics.median(values):.1f}, nine in ten {values[int(0.9 * len(values))]:.1f}")


if __name__ == "__main__":
    main()
