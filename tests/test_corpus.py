"""examples/corpus/: the list is whole, and a verdict other than the adjudicated one ends in exit status 1.

The packages themselves are installed and judged by `tox -e corpus` alone.
"""

import importlib
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

FOLDER = Path(__file__).parents[1] / "examples" / "corpus"
SUBJECTS = ("activations", "attention", "losses", "norms", "sequences", "vision")
#: What `check` finds.
VERDICTS = {"right", "WRONG_VALUE", "WRONG_GRADIENT", "ERROR", "INPUT_CHANGED", "OUT_OF_BOUNDS", "NOT_REPEATABLE"}
VERDICTS |= {"UNPROVED"}  # nothing is wrong by its bound, and no bound is narrow enough


@pytest.fixture(scope="module")
def corpus():
    # Other tests import modules of these names from folders of their own.
    before, others = sys.path[:], {name: sys.modules.pop(name, None) for name in ("kernel", *SUBJECTS)}
    sys.path.insert(0, str(FOLDER))
    try:
        for subject in SUBJECTS:
            importlib.import_module(subject)
        yield importlib.import_module("kernel")
    finally:
        sys.path[:] = before
        for name in ("kernel", *SUBJECTS):
            sys.modules.pop(name, None)
        sys.modules.update({name: module for name, module in others.items() if module is not None})


def test_there_are_sixty_kernels_of_pinned_packages(corpus):
    assert len(corpus.KERNELS) >= 60
    packages = {entry.package for entry in corpus.KERNELS.values()}
    assert packages == set(corpus.read_pins())
    assert len(packages) >= 9


def test_every_kernel_has_a_path_a_verdict_and_a_reason(corpus):
    for title, entry in corpus.KERNELS.items():
        assert re.fullmatch(r"[a-z_0-9]+(\.\w+)*:\w+(\.\w+)*", entry.path), title
        assert set(entry.verdict.split()) <= VERDICTS, title
        assert len(entry.why) > 10, title
        assert not entry.link or entry.link.startswith("https://"), title


def test_what_is_wrong_is_shown_without_opproof(corpus):
    wrong = [entry for entry in corpus.KERNELS.values() if entry.verdict != corpus.RIGHT]
    assert len(wrong) >= 3
    assert [entry.title for entry in wrong if entry.shown is None or entry.why.startswith("its definition")] == []


def test_the_page_has_what_is_wrong(corpus):
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = [f"| `{t}` | {e.verdict} | {e.why} |" for t, e in corpus.KERNELS.items() if e.verdict != corpus.RIGHT]
    assert re.findall(r"^\| `.*\|$", page, re.MULTILINE) == rows


def test_every_reference_takes_its_inputs(corpus):
    for title, entry in corpus.KERNELS.items():
        g = torch.Generator().manual_seed(0)
        given = entry.inputs(0) if callable(entry.inputs) else [torch.randn(s, generator=g) for s in entry.inputs]
        ys = entry.like(*given)
        assert all(torch.is_tensor(y) and y.isfinite().all() for y in (ys if isinstance(ys, tuple) else (ys,))), title


def run(*entries):
    """Exit status and output of the corpus of these entries alone."""
    pytest.importorskip("triton")
    pytest.importorskip("scipy")
    program = f"""
        import os, sys
        sys.path.insert(0, {str(FOLDER)!r})
        import kernel, run
        import torch
        def die(x):
            os._exit(7)
        torch.die = die
        kernel.KERNELS.clear()
        {"; ".join(entries)}
        sys.argv = ["run.py", "--seconds", "0.2", "--jobs", "2"]
        run.main()
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONSAFEPATH"}
    call = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(call, capture_output=True, text=True, check=False, env=environment, timeout=240)
    return done.returncode, done.stdout + done.stderr


RIGHT = 'kernel.published("entmax", "torch:relu", [(3, 5)], "its definition")(torch.nn.functional.relu)'
WRONG = (
    'kernel.published("entmax", "torch:relu", [(3, 5)], "relu is not silu", name="no_silu", {0}'
    "shown=lambda f: (f(torch.ones(3)), torch.nn.functional.silu(torch.ones(3))))(torch.nn.functional.silu)"
)


def test_verdicts_as_adjudicated_end_in_status_0():
    status, said = run(RIGHT, WRONG.format('verdict="WRONG_GRADIENT WRONG_VALUE", '))
    assert status == 0, said
    assert re.search(r"entmax/relu +right +as adjudicated +[\d.]+ +\d+ +\d+/\d+ ", said), said
    assert "2 of 2 verdicts as adjudicated" in said


def test_another_verdict_ends_in_status_1():
    status, said = run(RIGHT, WRONG.format(""))
    assert status == 1, said
    assert "1 of 2 verdicts as adjudicated" in said
    assert "entmax/no_silu: expected right (relu is not silu)" in said
    assert "relu is not silu: " in said  # the report


def test_another_reason_ends_in_status_1():
    status, said = run(WRONG.format('verdict="WRONG_GRADIENT WRONG_VALUE", says="a carry is lost", '))
    assert status == 1, said


def test_a_kernel_that_ends_its_process_ends_in_status_1():
    status, said = run(RIGHT, 'kernel.published("entmax", "torch:die", [(3, 5)], "it ends")(torch.nn.functional.silu)')
    assert status == 1, said
    assert "the process ended with exit status 7" in said
    assert "1 of 2 verdicts as adjudicated" in said
