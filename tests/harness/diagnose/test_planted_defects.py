"""Every defect planted in the example C library is found, with its verdict, and costs no other case."""

import json
import os
import re
import subprocess
import sys

import pytest
from _c_build import EXAMPLE, example, needs_cc

from opproof.core.capabilities import add_capability
from opproof.harness.run.finish import status_of
from opproof.harness.run.scheduler import Pool
from opproof.harness.run.task import HostLimits, Task

pytestmark = needs_cc

FORWARD, GRADIENT = "forward", "gradient"

#: Each defect: the mode and the cases in which it shows.
CASES = {
    "tail": (FORWARD, ["add[a=5x31;b=5x31;f32]", "add[a=33,;b=33,;bf16]"]),
    "mul_no_reduce": (GRADIENT, ["mul[a=1x3;b=4x3;f32]", "mul[a=3x65;b=0d;f16]"]),
    "sigmoid_nan": (GRADIENT, ["sigmoid[x=15,;f32;fill=candle-2114]"]),
    "softmax_no_max": (FORWARD, ["softmax[x=4x127;dim=-1;f32;fill=extreme]"]),
    "ignore_cotangent": (GRADIENT, ["relu[x=7x33;f32]", "relu[x=7x33;bf16]"]),
    "gelu_tanh": (FORWARD, ["gelu[x=7x33;approximate=none;f32]"]),
    "wrong_stride": (FORWARD, ["matmul[a=5x128;b=128x3;f32;layout=a:transposed]"]),
    "wrong_axis": (FORWARD, ["softmax[x=3x32;dim=0;f32]"]),
    "no_dilation": (FORWARD, ["conv2d[x=2x3x9x11;weight=2x3x3x3;dilation=(1,2);f32]"]),
    "narrow_sum": (FORWARD, ["sum[x=3x768;dim=1;f16]", "sum[x=3x768;dim=1;bf16]"]),
    "unwritten": (FORWARD, ["relu[x=7x33;f32]", "sigmoid[x=1x1;f16]"]),
    "uncovered": (GRADIENT, ["conv2d[x=2x2x8x11;weight=3x2x2x3;stride=(3,4);f32]"]),
    "stale": (FORWARD, ["rms_norm[x=7x33;weight=33,;eps=0.1;f32]"]),
    "overrun_write": (FORWARD, ["relu[x=7x33;f32]", "relu[x=1,;bf16]"]),
    "underrun_write": (FORWARD, ["relu[x=7x33;f32]", "relu[x=1,;bf16]"]),
    "overread": (FORWARD, ["rms_norm[x=7x33;weight=33,;eps=0.1;f32]"]),
    "scribble": (FORWARD, ["conv2d[x=2x3x5x7;weight=4x3x1x1;f32]"]),
    "hang": (FORWARD, ["sum[x=7x33;dim=-1;keepdim=false;f32]"]),
    "grow": (FORWARD, ["sum[x=7x33;dim=-1;keepdim=false;f32]"]),
    "abort_call": (FORWARD, ["matmul[a=7x33;b=33x5;f32]"]),
    "exit_call": (FORWARD, ["gelu[x=7x33;approximate=none;f32]"]),
    "crash_null": (FORWARD, ["softmax[x=7x33;dim=-1;f32]"]),
    "fail_message": (FORWARD, ["matmul[a=7x33;b=33x5;f32]"]),
    "unknown_code": (FORWARD, ["add[a=7x33;b=7x33;f32]"]),
    "eat_stdout": (FORWARD, ["mul[a=7x33;b=7x33;f32]"]),
}

#: What must pass beside a defect of another operator.
OTHERS = [
    "add[a=7x33;b=33,;f32]",
    "mul[a=7x33;b=7x33;f32]",
    "relu[x=7x33;f32]",
    "softmax[x=7x33;dim=-1;f32]",
    "conv2d[x=2x3x5x7;weight=4x3x3x3;bias=4,;padding=1;f32]",
    "sum[x=7x33;dim=-1;keepdim=false;f32]",
]

ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \|.*\| ([A-Z_]+) \|$", re.MULTILINE)
TABLE = {name: (ops, verdict) for name, ops, verdict in ROW.findall((EXAMPLE / "README.md").read_text("utf-8"))}


@pytest.fixture(scope="session")
def broken(tmp_path_factory):
    return example(tmp_path_factory.mktemp("broken"), broken=True)


def run(library, cases, out, defect="", timeout=30):
    """Exit status, and the records by (case, mode)."""
    command = [sys.executable, "-m", "opproof.harness", "run", "-b", str(library), "--out", str(out), "-j", "2"]
    command += [f"--case={case}" for case in cases] + ["--timeout", str(timeout), "--memory", "600"]
    environment = {**os.environ, "OPPROOF_DEFECT": defect, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, cwd=out.parent, capture_output=True, text=True, check=False)
    assert (out / "results.jsonl").is_file(), done.stdout + done.stderr
    _header, *lines = (out / "results.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    assert len(records) == 2 * len(cases), done.stderr
    return done.returncode, {(r["case"], r["mode"]): r for r in records}


#: Seconds for a call, of defects that hang and of all others.
TIMEOUTS = {True: 2.0, False: 30.0}


@pytest.fixture(scope="module")
def judged(broken):
    """Records by defect: all are judged together, each host is told of one, and what starts judges is shared."""
    tasks = {True: [], False: []}
    for defect, (_, cases) in CASES.items():
        backend = add_capability(str(broken), f"OPPROOF_DEFECT={defect}")
        asked = [*cases, *others(defect)]
        tasks[TABLE[defect][1] == "TIMEOUT"] += [Task(backend, c, mode) for c in asked for mode in (FORWARD, GRADIENT)]
    found = {defect: [] for defect in CASES}
    for hangs, some in tasks.items():
        with Pool(HostLimits(2, TIMEOUTS[hangs], 600 * 2**20)) as pool:
            for record in pool.run(some):
                found[record.backend.rpartition("OPPROOF_DEFECT=")[2]].append(record)
    return found


def others(defect):
    """What must pass beside it."""
    operators = TABLE[defect][0].replace("other sums", "add, mul, sum").split(", ")
    return [c for c in OTHERS if c.partition("[")[0] not in operators and c not in CASES[defect][1]]


def test_the_readme_lists_every_defect():
    assert set(TABLE) == set(CASES)


def test_nothing_is_planted_unless_asked_for(broken, tmp_path):
    status, records = run(broken, OTHERS, tmp_path / "out")
    assert {r["verdict"] for r in records.values()} == {"PASS"}
    assert status == 0


@pytest.mark.parametrize("defect", CASES)
def test_defect(judged, defect):
    mode, cases = CASES[defect]
    verdict, beside = TABLE[defect][1], others(defect)
    records = {(r.case, r.mode): r.verdict for r in judged[defect]}
    assert len(records) == len(judged[defect]) == 2 * len({*cases, *beside})
    assert {c: records[c, mode] for c in cases} == dict.fromkeys(cases, verdict)
    passed = {key: v for key, v in records.items() if key[0] in beside}
    assert passed == dict.fromkeys(passed, "PASS")
    assert len(passed) >= 2 * 3
    assert status_of(judged[defect]) == (0 if verdict == "PASS" else 1)


def test_a_broken_library_loses_only_its_own_cases(broken, tmp_path):
    """a crash, an abort and a hang in one run; every other case is done."""
    cases = ["softmax[x=7x33;dim=-1;f32]", "matmul[a=7x33;b=33x5;f32]", "sum[x=7x33;dim=-1;keepdim=false;f32]"]
    beside = ["add[a=7x33;b=33,;f32]", "relu[x=7x33;f32]", "mul[a=7x33;b=7x33;f32]", "sigmoid[x=7x33;f32]"]
    _, records = run(broken, cases + beside, tmp_path / "out", "crash_null,abort_call,hang", timeout=2)
    assert [records[c, FORWARD]["verdict"] for c in cases] == ["CRASH", "CRASH", "TIMEOUT"]
    assert {records[c, mode]["verdict"] for c in beside for mode in (FORWARD, GRADIENT)} == {"PASS"}
    assert {records[c, GRADIENT]["verdict"] for c in cases} == {"PASS"}
