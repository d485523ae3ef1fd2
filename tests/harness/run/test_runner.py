"""What a run makes of the records that its pool yields, in whatever order and number."""

from contextlib import contextmanager

import pytest
import report_samples as samples
from _runs import opproof

from opproof.cases import Case
from opproof.harness.run import runner
from opproof.harness.run.plan import Selection, make_tasks
from opproof.reports import read_results

RUN = ("run", "-b", "numpy", "-o", "relu", "--level", "smoke", "--mode", "forward", "--dtype", "f32", "--quiet")


def result(task, verdict="PASS", **more):
    return samples.result(task.case, task.mode, task.backend, verdict, **more)


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    """Exit status, records and output of a run whose pool yields what a function makes of the tasks."""

    def run(answer):
        class Pool:
            def describe(self, backend):
                return {"spec": backend, "name": backend, "version": "1", "device": "cpu"}

            def run(self, tasks):
                yield from answer(tasks)

        @contextmanager
        def pool(limits, cache=None):
            yield Pool()

        monkeypatch.setattr(runner, "Pool", pool)
        status, out, _ = opproof(capsys, *RUN, "-o", "neg", "--out", tmp_path)
        return status, {(r.case, r.mode): r for r in read_results(tmp_path)[1]}, out

    return run


def test_all_is_well(run):
    status, records, _ = run(lambda tasks: map(result, tasks))
    assert (status, {r.verdict for r in records.values()}) == (0, {"PASS"})


def test_a_record_that_is_mended_later_counts_once(run, tmp_path):
    """A death is traced back to a case that had passed."""

    def answer(tasks):
        yield from map(result, tasks)
        yield result(tasks[0], "CRASH", message="it died after the call had returned")

    status, records, out = run(answer)
    assert status == 1
    header, results = read_results(tmp_path)
    assert len(results) == len(records) == header.cases
    assert [r.verdict for r in results].count("CRASH") == 1
    assert f"{header.cases} records: {header.cases - 1} pass, 1 fail" in out


def test_a_record_that_never_came_is_no_success(run):
    status, _, out = run(lambda tasks: map(result, tasks[1:]))
    assert status == 1
    assert "1 planned record did not run" in out


def test_what_opproof_failed_at(run):
    status, _, _ = run(lambda tasks: (result(t, "PASS" if n else "HARNESS_ERROR") for n, t in enumerate(tasks)))
    assert status == 4


def test_nothing_that_says_anything(run):
    assert run(lambda tasks: (result(t, "VACUOUS") for t in tasks))[0] == 3


def test_backends_take_turns_a_few_at_a_time():
    names = [f"b{i}" for i in range(9)]
    selected = [Case.parse("relu[x=3,;f32]"), Case.parse("relu[x=4,;f32]")]
    order = [(t.backend, t.case) for t in make_tasks(names, selected, Selection(modes=("forward",)))]
    assert [b for b, _ in order[:8]] == names[:8], "one case on eight backends comes first"
    assert order[16:] == [("b8", "relu[x=3,;f32]"), ("b8", "relu[x=4,;f32]")], "the ninth waits for both cases"
