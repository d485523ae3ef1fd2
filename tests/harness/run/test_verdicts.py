"""Every verdict through real processes; a faulty case loses only itself, whatever -j."""

import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from opproof.core.errors import BackendError
from opproof.core.verdicts import MEANING
from opproof.harness.run.scheduler import Pool
from opproof.harness.run.task import HostLimits, Task

TIMEOUT = 6
BACKEND = str(Path(__file__).parents[2] / "_faulty_backend.py")

#: (case, mode): verdict, and how its message begins.
EXPECTED = {
    ("relu[x=7x33;f32]", "forward"): ("PASS", ""),
    ("relu[x=7x33;f32]", "gradient"): ("PASS", ""),
    ("gelu[x=7x33;f32]", "forward"): ("PASS", ""),
    ("relu[x=7x33;f32;fill=negative]", "forward"): ("VACUOUS", "constant would pass as well"),
    ("neg[x=7x33;f32]", "forward"): ("WRONG_VALUE", ""),
    ("neg[x=7x33;f32]", "gradient"): ("WRONG_GRADIENT", ""),
    ("abs[x=7x33;f32]", "forward"): ("WRONG_SHAPE", "output y has shape (7, 32), expected (7, 33)"),
    ("abs[x=7x33;f32]", "gradient"): ("INCONCLUSIVE", "not asked: the forward's output has another shape"),
    ("atan[x=7x33;f32]", "gradient"): ("WRONG_SHAPE", "gradient of x has shape (33, 7), expected (7, 33)"),
    ("add1[a=7x33;b=1,;f32]", "forward"): ("WRONG_SHAPE", "2 arrays came back, expected 1"),
    ("expm1[x=7x33;f32]", "gradient"): ("WRONG_SHAPE", "0 arrays came back, expected 1"),
    ("exp[x=7x33;f32]", "gradient"): ("WRONG_SHAPE", "gradient of x is None, expected shape (7, 33)"),
    ("square[x=7x33;f32]", "forward"): ("WRONG_DTYPE", "output y has dtype float64, expected float32"),
    ("square[x=7x33;f32]", "gradient"): ("WRONG_DTYPE", "gradient of x has dtype float64, expected float32"),
    ("floor[x=7x33;f32]", "forward"): ("WRONG_DTYPE", "output y has dtype big-endian float32, expected float32"),
    ("ceil[x=7x33;f32]", "forward"): (
        "ERROR",
        "TypeError: the backend returned opproof_backend__faulty_backend.Lazy; ",
    ),
    ("exp[x=7x33;f32]", "forward"): ("INPUT_CHANGED", "input x: "),
    ("sin[x=7x33;f32]", "forward"): ("NOT_REPEATABLE", "the answer is that of the call before"),
    ("cos[x=7x33;f32]", "forward"): ("NOT_REPEATABLE", "the same call gave other bits with no other call between"),
    ("tanh[x=7x33;f32]", "forward"): ("NOT_REPEATABLE", "the same call gave other bits with no other call between"),
    ("argmax[x=7x33;dim=-1;f32]", "forward"): ("WRONG_VALUE", ""),  # one constant, whatever the data
    ("sqrt[x=7x33;f32]", "forward"): ("ERROR", "ZeroDivisionError: no roots today (" + BACKEND + ":"),
    ("log[x=7x33;f32]", "forward"): ("ERROR", "SystemExit: 4 ("),
    ("gelu[x=7x33;f32]", "gradient"): ("ERROR", "RuntimeError: no gradient of gelu ("),
    ("silu[x=7x33;f32]", "forward"): ("OUT_OF_MEMORY", "MemoryError of the device"),
    ("sigmoid[x=7x33;f32]", "forward"): ("UNSUPPORTED", "not on Tuesdays"),
    ("tan[x=7x33;f32]", "forward"): ("UNSUPPORTED", "no tan on this device"),
    ("exp2[x=7x33;f32]", "gradient"): ("UNSUPPORTED", "declined without a reason"),
    ("cross_entropy[x=5x9;target=5,;f32;needs=target]", "gradient"): ("UNSUPPORTED", "no input of this operator has"),
    ("elu[x=7x33;f32]", "forward"): ("CRASH", "the process died of SIGABRT"),
    ("sum[x=7x33;dim=-1;f32]", "forward"): ("CRASH", "the process died of SIGSEGV"),
    ("sum[x=7x33;dim=-1;f32]", "gradient"): ("WRONG_GRADIENT", ""),  # ones, whatever the cotangent
    ("mean[x=7x33;dim=-1;f32]", "forward"): ("CRASH", "the process exited with status 3"),
    ("prod[x=7x33;dim=-1;f32]", "forward"): ("CRASH", "the process exited with status 0"),
    ("cumsum[x=7x33;dim=-1;f32]", "forward"): ("CRASH", "the process exited with status 0"),
    ("amax[x=7x33;dim=-1;f32]", "forward"): ("TIMEOUT", "no answer within 6 s"),
    ("mul[a=7x33;b=7x33;f32]", "forward"): ("OUT_OF_MEMORY", "the process outgrew its limit of 300 MiB"),
    ("sub[a=7x64;b=7x64;f32]", "forward"): ("OUT_OF_BOUNDS", "a read past the end or before the beginning (stopped by"),
    ("div[a=7x64;b=7x64;f32]", "forward"): ("OUT_OF_BOUNDS", "input a: "),
    ("round[x=7x33;f32]", "forward"): ("OUT_OF_BOUNDS", "input x: 4 bytes past its end were written, the nearest 0 "),
}

TASKS = [Task(BACKEND, case, mode) for case, mode in EXPECTED]


def run(tasks, jobs):
    with Pool(HostLimits(jobs, timeout=TIMEOUT, memory=300 * 2**20)) as pool:
        found = list(pool.run(tasks))
    assert len(found) == len(tasks)
    return {(r.case, r.mode): r for r in found}


@pytest.fixture(scope="module")
def results():
    return run(TASKS, jobs=2)


@pytest.mark.parametrize("key", EXPECTED, ids=" ".join)
def test_verdict(results, key):
    verdict, message = EXPECTED[key]
    assert results[key].verdict == verdict, results[key].message
    assert results[key].message.startswith(message)


def test_every_verdict_has_a_case():
    elsewhere = {"NOT_WRITTEN", "NOT_REFUSED", "HARNESS_ERROR"}  # test_attempt.py, test_refusal.py, and below
    assert {v for v, _ in EXPECTED.values()} | elsewhere == set(MEANING)


def test_records_are_whole(results):
    for (case, mode), r in results.items():
        assert (r.op, r.dtype, r.backend) == (case.partition("[")[0], "f32", BACKEND)
        assert r.repro == f"opproof run -b {BACKEND} --mode {mode} --case '{case}' --out opproof-repro"
        assert (r.worst is not None) >= (r.verdict in ("WRONG_VALUE", "WRONG_GRADIENT"))
    wrong = results["neg[x=7x33;f32]", "forward"]
    assert wrong.units > 1e6
    assert wrong.worst.tensor == "y"
    assert wrong.worst.got == pytest.approx(-wrong.worst.expected)


def test_results_do_not_depend_on_the_number_of_judges(results):
    fast = [t for t in TASKS if EXPECTED[t.case, t.mode][0] != "TIMEOUT"]
    alone = run(fast, jobs=1)
    different = {"seconds": 0, "judging": 0, "message": ""}  # addresses and counts of bytes may differ
    for key, r in alone.items():
        assert replace(r, **different) == replace(results[key], **different)
        if r.verdict != "OUT_OF_BOUNDS":
            assert r.message == results[key].message


def test_deaths_are_blamed_on_their_own_tasks():
    cases = ["relu[x=7x33;f32]", "elu[x=7x33;f32]", "mean[x=7x33;dim=-1;f32]"]
    found = run([Task(BACKEND, f"{c[:-1]};seed={i}]", "forward") for i in (1, 2) for c in cases], jobs=2)
    assert Counter((r.op, r.verdict) for r in found.values()) == {
        ("relu", "PASS"): 2,
        ("elu", "CRASH"): 2,
        ("mean", "CRASH"): 2,
    }


LATE = """
import os, threading, time
from opproof.backends.numpy import NumPy

honest = NumPy()


def forward(op, inputs, params):
    if op == "neg":
        threading.Timer(0.2, os.abort).start()
    else:
        time.sleep(0.05)
    return honest.forward(op, inputs, params)
"""


def test_a_death_after_the_answer_is_blamed_on_who_caused_it(tmp_path):
    """The process dies while another case is at it, or none: that one passes, the record of the first is amended."""
    (tmp_path / "late.py").write_text(LATE, encoding="utf-8")
    texts = ["relu[x=7x33;f32]", "neg[x=7x33;f32]", *(f"abs[x=7x33;f32;seed={i}]" for i in range(1, 9))]
    tasks = [Task(str(tmp_path / "late.py"), text, "forward") for text in texts]
    with Pool(HostLimits(1, timeout=TIMEOUT, memory=600 * 2**20)) as pool:
        records = list(pool.run(tasks))
    assert len(records) > len(tasks)
    last = {r.case: r for r in records}
    assert {r.op: r.verdict for r in last.values()} == {"relu": "PASS", "neg": "CRASH", "abs": "PASS"}
    assert last["neg[x=7x33;f32]"].message.startswith("after the call had returned, the process died of SIGABRT")
    assert [r.verdict for r in records if r.op == "neg"] == ["PASS", "CRASH"]


def operator(folder, body):
    """A folder with an operator of the user's own: twice x, but for `body`."""
    folder.mkdir()
    text = (
        f'"""twice: two times x."""\n\n'
        f'STANDARD = ["x=5x7;f32"]\n\n\ndef forward(x):\n    return 2 * x\n\n\n'
        f"def vjp(g, y, x):\n    return 2 * g\n\n\n{body}"
    )
    (folder / "twice.py").write_text(text, encoding="utf-8")
    return str(folder.resolve())


TWICE = """
def forward(op, inputs, params):
    return [2 * inputs[0]]


def vjp(op, inputs, params, cotangents, needs):
    return [2 * cotangents[0]]
"""

FAULTS_OF_OURS = {
    "": {},
    "def forward(x):\n    return x / (1 // 0)\n": {"forward": "ZeroDivisionError in forward", "gradient": "ZeroDi"},
    "def vjp(g, y, x):\n    raise KeyError('z')\n": {"gradient": "KeyError in vjp"},
    "def kinks(x):\n    return x.no\n": {"forward": "AttributeError in kinks", "gradient": "AttributeError in kinks"},
    "def vjp(g, y, x):\n    import no_such_module_1\n": {
        "gradient": "the reference of twice needs no_such_module_1, which is not installed: pip install no_such_module"
    },
    "def forward(x):\n    raise SystemExit('bye')\n": {"forward": "SystemExit in forward", "gradient": "SystemExit in"},
}


@pytest.mark.parametrize("body", FAULTS_OF_OURS)
def test_what_goes_wrong_in_the_judge_is_no_fault_of_the_backend(tmp_path, body):
    (tmp_path / "mine.py").write_text(TWICE, encoding="utf-8")
    ops = (operator(tmp_path / "ops", body),)
    tasks = [Task(str(tmp_path / "mine.py"), "twice[x=5x7;f32]", mode, ops=ops) for mode in ("forward", "gradient")]
    found = run(tasks, jobs=1)
    for mode in ("forward", "gradient"):
        record, message = found["twice[x=5x7;f32]", mode], FAULTS_OF_OURS[body].get(mode)
        assert record.verdict == ("PASS" if message is None else "HARNESS_ERROR"), record.message
        assert record.message.startswith(message or "")
        assert message is None or "needs" in message or f"({ops[0]}/twice.py:" in record.message


def test_memory_that_the_cases_before_left_behind_is_not_the_cases_own():
    found = run([Task(BACKEND, f"softsign[x=7x33;f32;seed={i}]", "forward") for i in range(1, 7)], jobs=1)
    assert {r.verdict for r in found.values()} == {"PASS"}


DIES = "import os\nos._exit(9)\n"


def test_a_backend_that_kills_whoever_loads_it(tmp_path):
    (tmp_path / "dies.py").write_text(DIES, encoding="utf-8")
    with (
        Pool(HostLimits(1, timeout=3, memory=600 * 2**20)) as pool,
        pytest.raises(BackendError, match=r"dies.py' could not be loaded: the process exited with status 9\.$"),
    ):
        pool.describe(str(tmp_path / "dies.py"))


def test_judges_that_cannot_live(monkeypatch):
    """Said once, not waited for: here they cannot be initialised."""
    monkeypatch.setattr("opproof.harness.run.session.worker.start", sorted)
    with Pool(HostLimits(1, timeout=3, memory=600 * 2**20)) as pool:
        with pytest.raises(BackendError, match="could not be loaded: the judge's process ended before it answered; "):
            pool.describe("numpy")
        assert [r.verdict for r in pool.run([Task("numpy", "relu[x=7x33;f32]", "forward")])] == ["HARNESS_ERROR"]


def test_memory_at_loading(tmp_path):
    text = "import time, numpy\nhoard = numpy.ones(2**25)\ntime.sleep(9)\n"
    (tmp_path / "large.py").write_text(text, encoding="utf-8")
    with (
        Pool(HostLimits(1, timeout=3, memory=200 * 2**20)) as pool,
        pytest.raises(BackendError, match="could not be loaded: the process outgrew its limit of 200 MiB"),
    ):
        pool.describe(str(tmp_path / "large.py"))


def test_state_that_survives_a_call(tmp_path):
    """Wrong in a process that was used before, right in a new one."""
    task = Task(BACKEND, "erf[x=7x33;f32]", "forward")
    with Pool(HostLimits(1, timeout=10, memory=600 * 2**20)) as pool:
        (found,) = pool.run([task])
    assert found.verdict == "NOT_REPEATABLE"
    assert found.diagnosis == ""


WITHOUT_VJP = "from opproof.backends.numpy import NumPy\nforward = NumPy().forward\n"


def test_backend_without_vjp(tmp_path):
    (tmp_path / "half.py").write_text(WITHOUT_VJP, encoding="utf-8")
    tasks = [Task(str(tmp_path / "half.py"), "relu[x=7x33;f32]", mode) for mode in ("forward", "gradient")]
    found = run(tasks, jobs=1)
    assert [r.verdict for _, r in sorted(found.items())] == ["PASS", "UNSUPPORTED"]
    assert found["relu[x=7x33;f32]", "gradient"].message == "the backend has no vjp"


def test_what_it_said_before_it_died(tmp_path):
    text = "import os, sys\ndef forward(*_):\n    print('last words', flush=True)\n    os.abort()\n"
    (tmp_path / "talks.py").write_text(text, encoding="utf-8")
    found = run([Task(str(tmp_path / "talks.py"), "relu[x=7x33;f32]", "forward")], jobs=1)
    assert found["relu[x=7x33;f32]", "forward"].message == "the process died of SIGABRT; it said: last words"


def test_description():
    with Pool(HostLimits(1, timeout=3, memory=600 * 2**20)) as pool:
        assert pool.describe(BACKEND) == {
            "spec": BACKEND,
            "name": "_faulty_backend",
            "version": "7",
            "device": "test bench",
        }
    assert json.dumps(sys.argv)  # the parent's own arguments are untouched
