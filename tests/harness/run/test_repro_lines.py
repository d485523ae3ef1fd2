"""The line that repeats a record: every option that was in force is in it, and it does what it says."""

import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
import report_samples as samples

from opproof.harness.cli.run import run_command
from opproof.harness.run.task import _OPTIONS, Task, repro_command_of
from opproof.reports import html, junit, markdown, read_results, terminal

#: Parameters of `opproof run` that are part of the line in another way, or change nothing in what is asked or said.
ELSEWHERE = {
    "backends": "-b",
    "cases": "--case",
    "wrong_calls": "--case",
    "mode": "--mode",
    "out": "--out",
    "seed": "in the case's id",
    **dict.fromkeys(("isa", "isa_variables"), "with the backend's name, which holds the capability"),
    **dict.fromkeys(("names", "keyword", "level", "dtypes", "case_files", "shard", "seconds"), "which cases"),
    **dict.fromkeys(("jobs", "dask", "resources", "resume"), "who judges"),
    **dict.fromkeys(("ledger", "proposals"), "what is said of a failure afterwards"),
    **dict.fromkeys(("keep", "fail_fast"), "what becomes of what fails"),
    "require_impl": "in the line of what fails by it alone",
    **dict.fromkeys(("certify", "key"), "what is signed afterwards"),
    **dict.fromkeys(("no_cache", "cache_size", "quiet"), "how long it takes, what is shown"),
}
#: Wrong in all that it does; slow where it is asked for neg, hungry where it is asked for abs.
BACKEND = """
import time

import numpy as np


def forward(op, inputs, params):
    (x,) = inputs
    if op == "neg":
        time.sleep(1.5)
    if op == "abs":
        held = np.ones(400 * 2**20, np.uint8)
        time.sleep(0.2 * held[-1])
    return x
"""
DOUBLED = '''"""doubled: 2·x."""

rows = ["x=3x5"]


def forward(x):
    return 2 * x
'''


def test_every_option_of_run_is_in_the_line_or_need_not_be():
    said = {option for option, _, _ in _OPTIONS}
    for parameter in run_command.params:
        assert (parameter.opts[-1] in said) != (parameter.name in ELSEWHERE), parameter.name


def test_a_capability_is_said_with_the_backend():
    line = repro_command_of(Task("torch+isa=avx2", "neg[x=3;f32]", "forward"))
    assert line.startswith("opproof run -b torch --isa avx2 --mode forward")


def test_defaults_are_not_said_and_all_others_are():
    assert repro_command_of(Task("torch", "neg[x=3;f32]", "forward")) == (
        "opproof run -b torch --mode forward --case 'neg[x=3;f32]' --out opproof-repro"
    )
    line = repro_command_of(
        Task(
            *("torch", "neg[x=3;f32]", "forward"),
            strict_subnormals=True,
            convention="torch",
            grad_oracle="self",
            repeat=3,
            invariant=("batch", "order"),
            threads=(1, 8),
            ops=("/a b", "/c"),
            judge_memory=2**31,
            memory=14000 * 2**20,
            timeout=0.1,
            in_process=True,
        )
    )
    assert line == (
        "opproof run -b torch --mode forward --case 'neg[x=3;f32]' --ops '/a b' --ops /c --strict-subnormals "
        "--convention torch --grad-oracle self --memory 14000 --timeout 0.1 --judge-memory 2048 --repeat 3 "
        "--invariant batch,order --threads 1,8 --in-process --out opproof-repro"
    )
    assert "--timeout 1234567 " in repro_command_of(Task("torch", "neg[x=3;f32]", "forward", timeout=1234567.0))


def opproof(folder, *args):
    """Exit status and records of a run in `folder`, whose --out is the last argument."""
    call = [sys.executable, "-m", "opproof.harness", *map(str, args)]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, read_results(folder / args[-1])[1]


@pytest.mark.parametrize(
    ("asked", "verdict", "said"),
    [
        (("abs", "--memory", 300), "OUT_OF_MEMORY", "--memory 300"),
        (("neg", "--timeout", 1), "TIMEOUT", "--timeout 1"),
        (("relu", "--timeout", 60, "--seed", 7), "WRONG_VALUE", "seed=7]"),
        (("doubled", "--ops", "own"), "WRONG_VALUE", "--ops"),
        (("relu", "--convention", "torch", "--in-process"), "WRONG_VALUE", "--convention torch --in-process"),
    ],
)
def test_the_line_repeats_the_record(tmp_path, asked, verdict, said):
    (tmp_path / "mine.py").write_text(BACKEND, encoding="utf-8")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "doubled.py").write_text(DOUBLED, encoding="utf-8")
    op, *options = asked
    status, (first,) = opproof(
        tmp_path,
        *("run", "-b", "./mine.py", "--case", f"{op}[x=7x33;f32]", "--mode", "forward"),
        *options,
        "--out",
        "o",
    )
    assert (status, first.verdict) == (1, verdict)
    assert said in first.repro
    name, *words = shlex.split(first.repro)
    assert name == "opproof"
    _, (again,) = opproof(tmp_path, *words)
    alike = {"seconds": 0.0, "judging": 0.0}
    assert replace(again, **alike) == replace(first, **alike)


def test_without_its_option_a_record_would_be_another(tmp_path):
    (tmp_path / "mine.py").write_text(BACKEND, encoding="utf-8")
    line = "run -b ./mine.py --mode forward --case neg[x=7x33;f32] --case abs[x=7x33;f32] --out out"
    assert {r.verdict for r in opproof(tmp_path, *line.split())[1]} == {"WRONG_VALUE"}


def test_every_rendering_has_the_whole_line():
    case = f"cat[{';'.join(f'x{i}=7x33' for i in range(60))};dim=0;f32]"
    line = repro_command_of(Task("torch", case, "forward", memory=2**33, timeout=90.0))
    assert len(line) > 400  # which Markdown once cut
    failed = replace(samples.result(case, "forward", verdict="WRONG_VALUE"), repro=line)
    header = samples.header(1)
    assert line in terminal.format_summary(header, [failed])
    assert line in markdown.render(header, [failed])
    assert line in ET.fromstring(junit.render(header, [failed])).find(".//failure").text
    assert "--memory 8192 --timeout 90" in html.render(header, [failed])
    huge = replace(failed, repro=f"opproof {'x' * 3000}")
    assert "The command that repeats it is in `results.jsonl`." in markdown.render(header, [huge])
