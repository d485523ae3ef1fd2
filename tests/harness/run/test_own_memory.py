"""What a judge takes for itself is held to --judge-memory, and what a case needs is said before it starts."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from _ask import judged

from opproof.backends.loaded import resolve_members
from opproof.backends.numpy import NumPy
from opproof.cases import Case
from opproof.core.arrays import allocate_tensor
from opproof.core.verdicts import Mode
from opproof.harness.judge import judgement
from opproof.harness.reference.chunks import question
from opproof.harness.reference.chunks.memory_budget import TooLarge, with_memory_limit
from opproof.harness.reference.chunks.question import make_fitting_question
from opproof.harness.run import memory_limits
from opproof.harness.run.attempt import run_task
from opproof.harness.run.calls import arrange_calls
from opproof.harness.run.hosts.start import InProcessHost
from opproof.harness.run.memory import Buffer, make_layout, take_snapshot, write
from opproof.harness.run.memory_limits import (
    INPUT_COPIES,
    RESULT_COPIES,
    check_free,
    explain_killed,
    explain_outgrown,
    free_bytes,
)
from opproof.harness.run.request import Request, wanted_of
from opproof.harness.run.task import Task
from opproof.reference_ops import load

MIB = 2**20
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone limits what is a process's own")


@pytest.fixture
def all_data_drawn(monkeypatch):
    """No data repeat: those of large cases are as different as those of small ones."""
    monkeypatch.setattr("opproof.harness.reference.axes.MIN_REPEATED_ELEMENTS", sys.maxsize)


LIMITED = """
import numpy as np
from opproof.harness.reference.chunks.memory_budget import reserve, with_memory_limit
MIB = 2**20
reserve()
with with_memory_limit(1024 * MIB):
    np.empty(1024 * MIB, np.uint8)
    try:
        np.empty(1500 * MIB, np.uint8)
        print("not refused")
    except MemoryError:
        print("refused")
print(np.empty(1500 * MIB, np.uint8).nbytes // MIB)
"""


@linux
def test_more_than_the_limit_and_its_tolerance_is_refused():
    """In a process of its own: what earlier tests freed is there to be taken in this one."""
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, check=False)
    assert (done.stdout.split("\n")[:2], done.stderr) == (["refused", "1500"], "")


@linux
def test_tensors_of_a_case_are_not_in_the_limit():
    with with_memory_limit(16 * MIB):
        assert allocate_tensor([512 * MIB], np.uint8).nbytes == 512 * MIB


def test_without_a_limit_nothing_is_refused():
    with with_memory_limit(sys.maxsize):
        np.empty(1024 * MIB, np.uint8)


def test_a_large_tensor_lies_apart_and_a_small_one_does_not():
    large, few = allocate_tensor((2**12, 2**12), np.float32), allocate_tensor((3, 4), np.float16)
    assert (large.shape, large.dtype, few.shape, few.dtype) == ((2**12, 2**12), np.float32, (3, 4), np.float16)
    assert not large.flags.owndata
    assert few.flags.owndata
    large[...] = 7
    assert large.sum() == 7 * 2.0**24


class Outside(InProcessHost):
    """A host whose judge is held to its limit, as those of processes are."""

    in_process = False
    shares_memory = True


def hold_freed_memory():
    """Arrays in all that this process has freed and keeps, out of which a judge would not outgrow anything."""

    def size():
        return next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmData"))

    before, held = size(), []
    while size() == before and len(held) < 4096:
        held.append(np.ones(2**18))
    return held


@pytest.mark.usefixtures("all_data_drawn")
@linux
def test_a_judge_that_outgrows_its_limit_says_which_option_to_raise(monkeypatch):
    """The estimate that would have told it beforehand is made to be wrong."""
    held = hold_freed_memory()
    assert held
    for estimate in ("count_runs_without_axes", "count_runs_by_peak"):
        monkeypatch.setattr(question, estimate, lambda *_: 16)
    text = "cumprod[x=2000x2000;dim=0;f32]"
    task = Task("made here", text, "forward", judge_memory=16 * MIB)
    host = Outside(resolve_members(NumPy(), "made here"))
    made = run_task(host, task, load("cumprod"), 60.0).judgement
    assert made.verdict == "HARNESS_ERROR"
    assert made.message.startswith(f"judging {text} takes more than --judge-memory 16 (MiB) in the judge's process")
    least = int(made.message.split("give --judge-memory ")[1].split()[0])
    assert least >= 32


@linux
def test_where_memory_does_not_suffice_fewer_runs_are_made_at_once():
    """Patches of an image take nine times its memory, sixteen times at once."""
    text = "conv2d[x=1x16x128x128;weight=16x16x3x3;padding=1;f32]"
    host = Outside(resolve_members(NumPy(), "made here"))
    at_once, fewer = (
        run_task(host, Task("made here", text, "forward", judge_memory=memory * MIB), load("conv2d"), 60.0).judgement
        for memory in (4096, 256)
    )
    assert at_once.verdict == fewer.verdict == "PASS"
    assert 0.5 < (fewer.units / fewer.limit) / (at_once.units / at_once.limit) < 2  # other noise of the same size


def test_the_array_that_found_no_room_is_in_what_to_give():
    error = SimpleNamespace(shape=(2**20, 512), dtype=np.dtype(np.float64))
    said = explain_outgrown("exp[x=4x5;f32]", 1024 * MIB, error)
    assert "it asked for has 4096 MiB" in said
    assert "give --judge-memory 9216 or more" in said


class Never(NumPy):
    """A backend that is not to be called."""

    def forward(self, *call):
        raise AssertionError(call)

    def vjp(self, *call):
        raise AssertionError(call)


@pytest.mark.usefixtures("all_data_drawn")
@pytest.mark.parametrize(
    ("text", "mode", "memory", "most"),
    [
        ("index_select[x=4x4096;index=500,;dim=0;f32]", "forward", 256, 512),
        ("conv2d[x=1x16x128x128;weight=16x16x3x3;padding=1;f32]", "forward", 48, 160),
        ("conv2d[x=1x16x128x128;weight=16x16x3x3;padding=1;f32]", "gradient", 48, 192),
        ("avg_pool2d[x=1x8x160x160;kernel_size=7;padding=3;stride=1;f32]", "forward", 48, 512),
    ],
)
def test_few_inputs_with_many_numbers_on_the_way_are_told_beforehand(text, mode, memory, most):
    """The backend is not called: what one evaluation of other data takes says what the judge will need."""
    judgement = judged(Never(), text, mode, judge_memory=memory * MIB)
    assert judgement.verdict == "HARNESS_ERROR"
    needed = int(judgement.message.split("give --judge-memory ")[1].split()[0])
    assert memory < needed < most
    assert judged(NumPy(), text, mode, judge_memory=needed * MIB).verdict == "PASS"


HALF = "softmax[x=268435457x2;dim=-1;f32]"  # of 2^29 elements, 2 GiB


def never_drawn(*call):
    raise AssertionError(call)


@linux
@pytest.mark.parametrize(
    ("text", "mode", "memory", "free", "verdict", "said"),
    [
        (HALF, "forward", 14000, 12000, "HARNESS_ERROR", "takes 16384 MiB of shared memory for its tensors"),
        (HALF, "gradient", 14000, 18000, "HARNESS_ERROR", "takes 20480 MiB of shared memory for its tensors"),
        (HALF, "forward", 4096, 12000, "UNSUPPORTED", "its tensors alone take 4097 MiB, more than --memory 4096"),
        ("add[a=1x100000000;b=100x1;f32]", "forward", 4096, 2**20, "HARNESS_ERROR", "in never_drawn"),  # no slices
    ],
)
def test_what_one_slice_says_of_a_large_case_is_told_before_anything_is_drawn(
    monkeypatch, text, mode, memory, free, verdict, said
):
    monkeypatch.setattr(memory_limits, "free_bytes", lambda: free * MIB)
    task = Task("made here", text, mode, memory=memory * MIB)
    host = Outside(resolve_members(NumPy(), "made here"))
    made = run_task(host, task, load(text.partition("[")[0]), 60.0, posing=never_drawn).judgement
    assert made.verdict == verdict
    assert said in made.message


def test_a_call_that_is_made_once_more_counts(monkeypatch):
    """Its answer is held beside the others."""
    copies = {}

    def count(case, memory, results=None, *, copies_of=copies, copies=0):
        copies_of[str(case)] = copies if results is not None else copies_of.get(str(case))

    monkeypatch.setattr("opproof.harness.run.attempt.check_free", count)
    texts = [f"abs[x={n},;f32]" for n in range(2, 40)]
    for text in texts:
        judged(NumPy(), text)
    plans = {text: arrange_calls(Task("", text, "forward")) for text in texts}
    assert copies == {text: RESULT_COPIES + plan.leads + plan.stays for text, plan in plans.items()}
    assert len(set(copies.values())) > 1


@pytest.mark.usefixtures("all_data_drawn")
def test_few_inputs_with_many_results_are_judged_in_slices_where_they_can_be():
    judgement = judged(NumPy(), "matmul[a=1200x1;b=1x1200;f32]", judge_memory=128 * MIB)
    assert judgement.verdict == "PASS"
    assert "judged in slices" in judgement.message


def test_what_does_not_fit_the_machine_is_told_beforehand(monkeypatch):
    monkeypatch.setattr(memory_limits, "free_bytes", lambda: 2048 * MIB)
    case = Case.parse("exp[x=100000000,;f32]")
    with pytest.raises(TooLarge, match=r"takes 1144 MiB of shared memory .* this machine has 2048 MiB free; .*--jobs"):
        check_free(case, 1024 * MIB)
    check_free(case, 512 * MIB)
    check_free(Case.parse("exp[x=1000,;f32]"), 4096 * MIB)  # small: the machine is not asked
    results = wanted_of(
        make_fitting_question(Case.parse("exp[x=4,;f32]"), load("exp"), Mode.FORWARD).case_data, [np.zeros(10**8)]
    )
    with pytest.raises(TooLarge, match="takes 1907 MiB"):
        check_free(case, 512 * MIB, results)


@linux
def test_what_is_free_is_less_than_there_is():
    lines = Path("/proc/meminfo").read_text().split()
    assert 0 < free_bytes() <= int(lines[lines.index("MemTotal:") + 1]) * 1024


def test_what_is_said_of_a_judge_that_was_killed():
    said = explain_killed("exp[x=100000000,;f32]", 1024 * MIB)
    plain = "the judge's process was killed while it was at this case, twice"
    assert said.startswith(plain)
    for words in ("not the backend's", f"{INPUT_COPIES} times, 1144 MiB", "--judge-memory 1024 MiB", "give --jobs 1"):
        assert words in said
    assert explain_killed("exp[x=1000,;f32]", 1024 * MIB) == plain  # it was not for memory


def laid_out(text, at_end=True):
    pair = make_fitting_question(Case.parse(text), load(text.partition("[")[0]), Mode.FORWARD)
    layout = make_layout(Request(pair.case_data, wanted_of(pair.case_data, pair.outputs), at_end=at_end), 64)
    memory = np.zeros(layout.request.size, np.uint8)
    write(layout, memory)
    return pair, layout, memory


@pytest.mark.parametrize("at_end", [True, False])
def test_a_large_tensor_is_laid_out_from_where_it_lies(at_end):
    """Its bytes are not written down a second time, and what is done to them is seen all the same."""
    _, layout, memory = laid_out("exp[x=600x1000;f32]", at_end)
    large: Buffer = layout.buffers[0]
    assert large.holds(take_snapshot(layout, memory)[0])
    assert large.holds(memory[large.low : large.high])
    now = memory[large.low : large.high].copy()
    now[large.start - large.low + 5] ^= 1
    assert not large.holds(now)
    assert large.changed(now) == "1 of 2400000 bytes changed during the call"
    now = memory[large.low : large.high].copy()
    now[-1 if large.end < large.high else 0] ^= 1
    assert large.holds(now) == (large.low == large.start and large.end == large.high)


def test_ordinary_data_of_the_same_shapes_take_no_more_memory_than_the_case(monkeypatch):
    """Where a trivial answer passes it is asked for of other data: in as many noisy runs at once."""
    seen = []
    monkeypatch.setattr(judgement, "evaluate_expected", lambda posed, how: seen.append(posed.together) or ())
    monkeypatch.setattr(judgement, "_find_passing", lambda *_: {"zeros"})
    case = Case.parse("relu[x=4x1;f32;fill=zeros]")
    posed = question.make_question(case, load("relu"), Mode.FORWARD).case_data.given(together=3)
    expected = [SimpleNamespace(values=np.zeros((4, 1)))]
    assert judgement.find_vacuous_answers(posed, expected) == ""
    assert seen == [3, 3, 3]
