"""Seconds of a check are the processors': what is tried hangs on no neighbour, and who tried little says so."""

import subprocess
import sys
import time
from dataclasses import replace

import pytest
from click.testing import CliRunner

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness import clock  # noqa: E402
from opproof.harness.__main__ import cli  # noqa: E402
from opproof.harness.check.call.perform import threads_for  # noqa: E402
from opproof.harness.check.tensors import CallTensor  # noqa: E402
from opproof.harness.clock import IDLE, Allowed, Clock, count, count_no_more  # noqa: E402

FILE = """
import torch

def reference(x):
    return torch.tanh(x) * 2

def candidate(x):
    return torch.tanh(x) * 2

def inputs(seed, dtype):
    return [torch.randn(5, 24, generator=torch.Generator().manual_seed(seed)).to(dtype)]
"""


def worked(seconds):
    """Keep a processor busy for so many seconds of it."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        sum(range(100))


def test_work_counts_whole_and_so_does_rest_where_the_system_tells_what_waited(monkeypatch):
    busy = Clock()
    worked(0.2)
    assert 0.19 <= busy.spent < 0.5
    monkeypatch.setattr("opproof.harness.clock._measure_queued", lambda _: 0.0)
    for tells in (True, False):
        monkeypatch.setattr("opproof.harness.clock._tells_queues", lambda tells=tells: tells)
        idle, start = Clock(alone=True), time.monotonic()
        time.sleep(0.4)
        spent, passed = idle.spent, time.monotonic() - start
        assert spent >= 0.35 if tells else 0.4 / IDLE <= spent <= 1.1 * passed / IDLE


def test_what_waits_for_a_processor_does_not_count(monkeypatch):
    queued = iter((0.0, 0.6))
    monkeypatch.setattr("opproof.harness.clock._tells_queues", lambda: True)
    monkeypatch.setattr("opproof.harness.clock._measure_queued", lambda _: next(queued))
    waited = Clock(alone=True)
    time.sleep(0.6)
    assert waited.spent < 0.3


def test_two_processors_at_once_count_as_the_time_that_passes(monkeypatch):
    alone = Clock(alone=True)
    monkeypatch.setattr("opproof.harness.clock.time.process_time", lambda: time.perf_counter() * 64)
    time.sleep(0.05)
    assert alone.spent < 5


def test_what_another_process_works_counts_while_it_runs_and_after():
    program = "import time\nwhile time.process_time() < 0.6: pass\nprint('done', flush=True)\ninput()"
    both = Clock()
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        count(process.pid)
        assert process.stdout.readline() == b"done\n"
        while_it_runs = both.spent
        process.communicate(b"\n")
        count_no_more(process.pid)
    assert while_it_runs >= 0.5
    assert both.spent >= 0.5


def test_what_is_allowed_is_over_once_it_is_spent():
    allowed = Allowed(0.1)
    assert not allowed.over
    worked(0.15)
    assert allowed.over
    assert allowed.left < 0


def test_what_is_tried_hangs_on_no_neighbour(monkeypatch):
    """Fifty times as long by the clock on the wall, for want of a processor, changes nothing."""
    queued = clock._measure_queued

    def tried(rate):
        began = time.perf_counter()
        monkeypatch.setattr(
            "opproof.harness.clock.time.monotonic", lambda: began + rate * (time.perf_counter() - began)
        )
        monkeypatch.setattr(
            "opproof.harness.clock._measure_queued",
            lambda process: queued(process) + (rate - 1) * (time.perf_counter() - began) * (process == "self"),
        )
        report = opproof.check(torch.tanh, like=torch.tanh, inputs=[(5, 24)], seconds=20)
        assert report.complete
        return report.tried

    assert tried(1) == tried(50)


def test_small_tensors_have_one_thread_and_large_ones_all():
    import numpy as np

    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        for elements, threads in ((100, 1), (1 << 18, 3)):
            with threads_for([CallTensor("x", np.zeros(elements), "float32")]):
                assert torch.get_num_threads() == threads
            assert torch.get_num_threads() == 3
        seen = []

        def kernel(x):
            seen.append(torch.get_num_threads())
            return torch.tanh(x)

        opproof.check(kernel, like=torch.tanh, inputs=[(5, 24)], neighbours=False)
        assert {*seen[1:]} == {1}  # the first call finds out what the kernel takes
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_the_candidates_own_process_counts(tmp_path):
    from opproof.harness.check.call.isolated import load_pair
    from opproof.harness.check.options import CheckOptions
    from opproof.harness.check.run import check_candidate

    (tmp_path / "both.py").write_text(FILE.replace("def candidate(x):", "def candidate(x):\n    busy()") + BUSY)
    both = load_pair(tmp_path / "both.py", tmp_path / "both.py", 0)
    report = check_candidate(both.candidate, both.reference, both.inputs, CheckOptions(seconds=3.0, gradients=False))
    assert not report.complete


BUSY = """
def busy():
    import time
    until = time.process_time() + 0.3
    while time.process_time() < until:
        sum(range(1000))
"""


#: Seconds of a call of a slow kernel, and of a check in which one and a half times as long calls of it are begun.
SLOW, SHORT = 0.1, 0.4


@pytest.mark.parametrize("rests", [time.sleep, worked])
@pytest.mark.parametrize("factor", [1.0, 1.25])
def test_a_slow_kernel_is_called_no_more_often_than_there_is_time_for(rests, factor):
    """Parts of gradients, further variants, and what is asked last: none begins a call beyond the time."""
    calls = []

    def kernel(x, y, z):
        calls.append(x.shape)
        rests(SLOW)
        return factor * (x * y + z).tanh()

    report = opproof.check(
        kernel, like=lambda x, y, z: (x * y + z).tanh(), inputs=[(5, 24)] * 3, seconds=SHORT, raises=False
    )
    assert len(calls) <= 2 + 1.5 * SHORT / SLOW
    assert report.ok is (factor == 1.0)
    assert ("other ways of calling" in str(report)) is report.ok  # of what is wrong nothing is asked last


def test_a_kernel_slower_than_the_check_is_called_twice_in_all():
    calls = []

    def kernel(x):
        calls.append(x.shape)
        worked(0.3)
        return x.tanh()

    report = opproof.check(kernel, like=torch.tanh, inputs=[(5, 24)], seconds=0.05, raises=False)
    assert len(calls) == 2
    assert report.ok
    assert not report.complete


def test_each_form_of_the_inputs_has_its_part_of_the_calls():
    calls = []

    def kernel(x, bias):
        calls.append(x.shape)
        worked(SLOW)
        return x.tanh() if bias is None else x.tanh() + bias

    def inputs(seed):
        return [torch.randn(3, 8), None if seed % 2 else torch.randn(8)]

    report = opproof.check(
        kernel, like=lambda x, bias: x.tanh() if bias is None else x.tanh() + bias, inputs=inputs, seconds=0.2
    )
    assert len(calls) <= 2 + 1.5 * 0.2 / SLOW
    assert "form 2 of the inputs" in str(report)


def test_a_pass_of_less_than_half_says_so_first():
    report = opproof.check(torch.tanh, like=torch.tanh, inputs=[(5, 24)], seconds=0.0, raises=False)
    assert report.ok
    assert not report.complete
    assert report.asked == 1
    said = f"only 1 of {1 + report.left} planned variants were tried"
    assert report.sentence.startswith(f"{said}: in these tanh is tanh")
    assert str(report).splitlines()[-1] == f"{said}: there was no time for the others"
    assert '"complete": false' in report.to_json()
    half = replace(report, left=report.asked)
    assert half.complete
    assert half.sentence.startswith("tanh is tanh")
    assert "planned" not in str(half)


def test_an_operator_by_name_is_complete_where_half_of_its_cases_are():
    few = opproof.check(torch.relu, op="relu", seconds=0.0, raises=False)
    assert few.asked == 1
    assert not few.complete
    assert few.sentence.startswith("only 1 of ")


@pytest.mark.parametrize(("options", "status"), [((), 3), (("--accept-partial",), 0)])
def test_the_command_takes_less_than_half_only_where_that_is_accepted(tmp_path, options, status):
    (tmp_path / "both.py").write_text(FILE)
    asked = ["check", str(tmp_path / "both.py"), "--seconds", "0.01", *options]
    result = CliRunner().invoke(cli, asked, standalone_mode=False)
    assert result.return_value == status, result.output
    assert result.output.rstrip().splitlines()[-1].startswith("only 1 of ")
