"""The fault drill: records of which some are of a call that goes wrong, in fifty ways; exactly these are named.

One of each kind among 1,050 records with two judges. In `deep` 5,000 with 250 faults; and with one judge and with
four some of every kind among fewer of the others, to the same verdicts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import pytest
from _drill_backend import KINDS, OF_VALUES, fault_of

from opproof.cases import Case
from opproof.core.dtypes import DTYPES, FLOATS
from opproof.core.verdicts import FAILED
from opproof.harness.reference.data import fill_parameters, inputs_of, order_arguments
from opproof.harness.run.plan import Selection, select_cases
from opproof.reference_ops import load

RUN = Path(__file__).parents[2].joinpath("_drill_run.py")
TIMEOUT, MEMORY = 3.0, 2**29
#: By the number of judges: records of each kind where not all take part.
FEWER = {1: 1, 4: 2}


class Drill(NamedTuple):
    """How large a drill is."""

    records: int
    faults: int
    costly: int  # records of a kind that costs seconds each, at most
    each: int  # every so many of the cases are looked at
    fewer: dict[int, int]


MARKER = "OPPROOF_DRILL"

#: Kinds whose harm comes after their call, and how many honest records follow each, in which it is to come: of four
#: judges each has a quarter of them.
QUIET = {"late segfault": 110, "late write": 110, "alarm": 330}
#: Honest records before the first of these. What a judge did not come to of a bundle is asked after the bundles that
#: wait, so a fault may come this much later than its place; one after which the host is left would end a timer too.
LATER = 256
#: Kinds that cost seconds a record: no more than so many of each.
COSTLY = {"SIGSTOP": 2, "hang": 2, "hang with the GIL": 2, "growing memory": 3, "alarm": 2}
COSTLY |= {"late segfault": 2, "late write": 2}

FEW = Drill(records=1050, faults=len(KINDS), costly=1, each=3, fewer={})
ALL = Drill(records=5000, faults=250, costly=3, each=1, fewer=FEWER)

OF_MEMORY = {"scribble", "overrun", "underrun", "early read", "far read", "late write"}


def planned(case: Case) -> str | None:
    """The fault that the backend will commit in `case`."""
    op = load(case.op)
    native = DTYPES[case.dtype].numpy
    inputs = [
        x if x is None or x.dtype.kind != "f" else x.astype(native)
        for x in order_arguments(case, op, inputs_of(case, op))
    ]
    return fault_of(case.op, inputs, fill_parameters(case, op))


def shows(kind: str, case: Case) -> bool:
    """Whether a fault of this kind can be told by its verdict in `case`."""
    if kind in OF_MEMORY:
        return case.layout == "contiguous"
    if kind == "big-endian" and case.dtype == "bf16":
        return False
    return kind not in OF_VALUES or case.fill == "normal"


def chosen(drill: Drill) -> tuple[list[str], dict[str, str]]:
    """Cases without a fault, and cases with the kind of theirs, all kinds in turn."""
    honest: list[str] = []
    faulty: dict[str, list[str]] = defaultdict(list)
    for case in list(select_cases(Selection(level="standard")))[:: drill.each]:
        if case.destinations or case.mixed or case.dtype not in FLOATS:  # which no backend of the drill declares
            continue
        if load(case.op).drawn_from:  # its calls differ in their keys, and a fault goes by the parameters of a call
            continue
        kind = planned(case)
        if kind is None:
            honest.append(str(case))
        elif shows(kind, case):
            faulty[kind].append(str(case))
    assert set(faulty) == set(KINDS), set(KINDS) - set(faulty)
    most = {kind: min(count, drill.costly) for kind, count in COSTLY.items()}
    rounds = chain.from_iterable(
        [(faulty[kind][i], kind) for kind in KINDS if i < min(len(faulty[kind]), most.get(kind, drill.faults))]
        for i in range(max(map(len, faulty.values())))
    )
    faults = dict(islice(rounds, drill.faults))
    room = drill.records - drill.faults
    return [honest[i * len(honest) // room] for i in range(room)], faults


def arranged(honest: list[str], faults: dict[str, str]) -> list[str]:
    """Faults evenly among the honest; at the end those that come late, each with its quiet time."""
    late = [(case, QUIET[kind]) for case, kind in faults.items() if kind in QUIET]
    early = [case for case, kind in faults.items() if kind not in QUIET]
    left = iter(honest)
    order: list[str] = []
    room = len(honest) - LATER - sum(count for _, count in late)
    for i, case in enumerate(early):
        order += [*islice(left, (i + 1) * room // len(early) - i * room // len(early)), case]
    order += islice(left, LATER)
    for case, count in late:
        order += [case, *islice(left, count)]
    return order


def records(folder: Path, order: list[str], jobs: int) -> dict[str, list[str]]:
    """Verdict and message of each case, by a run in a process of its own; no process is left of it."""
    marker = uuid.uuid4().hex
    asked, answered = folder / f"cases{jobs}.json", folder / f"verdicts{jobs}.json"
    asked.write_text(json.dumps(order))
    call = [sys.executable, str(RUN), str(jobs), str(TIMEOUT), str(MEMORY), str(asked), str(answered)]
    subprocess.run(call, env={**os.environ, MARKER: marker}, check=True, timeout=1200)
    assert not left_behind(f"{MARKER}={marker}".encode())
    return json.loads(answered.read_text())


def left_behind(marker: bytes) -> list[int]:
    """Processes with `marker` in their environment; one that is just ending has a few seconds."""
    ends = time.monotonic() + 5
    while (alive := [p for p in processes() if marker in environment(p)]) and time.monotonic() < ends:
        time.sleep(0.05)
    return alive


def processes() -> list[int]:
    return [int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit()]


def environment(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/environ").read_bytes()
    except OSError:
        return b""


def unlike(found: dict[str, list[str]], faults: dict[str, str]) -> dict[str, object]:
    """Records that are not what they must be: a fault's verdict is that of its kind, all others do not fail."""
    return {
        case: (faults.get(case), verdict, message)
        for case, (verdict, message) in found.items()
        if (verdict != KINDS[faults[case]] if case in faults else verdict in FAILED or verdict == "HARNESS_ERROR")
    }


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # data of an extreme fill in a narrow dtype
@pytest.mark.skipif(sys.platform != "linux", reason="its faults are those of Linux")
@pytest.mark.parametrize("drill", [FEW, pytest.param(ALL, marks=pytest.mark.deep)], ids=["few", "all"])
def test_exactly_the_faulty_cases_are_named(tmp_path: Path, drill: Drill):
    honest, faults = chosen(drill)
    order = arranged(honest, faults)
    assert len(set(order)) == len(order) == drill.records
    assert len(faults) == drill.faults
    assert set(faults.values()) == set(KINDS)
    runs = {2: order}
    for jobs, of_each in drill.fewer.items():
        runs[jobs] = arranged(honest[::3], dict(islice(faults.items(), of_each * len(KINDS))))
    with ThreadPoolExecutor() as at_once:  # for the most part they wait
        seen = dict(zip(runs, at_once.map(lambda jobs: records(tmp_path, runs[jobs], jobs), runs), strict=True))
    for jobs, order in runs.items():
        assert sorted(seen[jobs]) == sorted(order)
        assert not unlike(seen[jobs], faults), f"with {jobs} judges"
        assert {case: seen[jobs][case][0] for case in order} == {case: seen[2][case][0] for case in order}
