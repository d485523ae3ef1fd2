"""A backend takes the run with it: whatever it does costs its own record, and nothing else."""

import pytest
from _attacker import case_of, passed, records, run, verdicts, written

from opproof.reports import read_results

# What is raised

RAISES = r"""
ATTACKS = {
    "neg": raises(Odd("no name of yours")),
    "abs": raises(KeyboardInterrupt()),
    "exp": raises(asyncio.CancelledError()),
    "sin": raises(GeneratorExit()),
    "cos": raises(ValueError("bad \udc80")),
    "tanh": raises(Unsupported("bad \udc80")),
    "floor": raises(SystemExit(0)),
}
"""
OF_RAISES = {
    "neg": "ERROR",
    "abs": "ERROR",
    "exp": "ERROR",
    "sin": "ERROR",
    "cos": "ERROR",
    "tanh": "UNSUPPORTED",
    "floor": "ERROR",
}


def test_exceptions_of_every_kind(tmp_path):
    names = [name for op in OF_RAISES for name in (op, "relu")]
    cases = [case_of(op) if op != "relu" else f"relu[x={i + 2}x33;f32]" for i, op in enumerate(names)]
    found = records(written(tmp_path, RAISES), cases)
    assert [str(r.verdict) for r in found] == [OF_RAISES.get(op, "PASS") for op in names]
    assert "Odd: no name of yours" in found[0].message
    assert found[2].message.startswith("KeyboardInterrupt")


def test_an_interrupt_in_a_call_is_not_the_users(tmp_path):
    done = run(tmp_path, written(tmp_path, RAISES), ("abs", "cos", "tanh", "relu"))
    assert done.returncode == 1, done.stderr
    verdicts = {r.case.partition("[")[0]: str(r.verdict) for r in read_results(tmp_path / "out")[1]}
    assert verdicts == {"abs": "ERROR", "cos": "ERROR", "tanh": "UNSUPPORTED", "relu": "PASS"}
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "raised",
    ["Odd('no')", "KeyboardInterrupt()", "asyncio.CancelledError()", "GeneratorExit()", r"ValueError('bad \udc80')"],
)
def test_exceptions_at_import(tmp_path, raised):
    done = run(tmp_path, written(tmp_path, f"raise {raised}"), ("neg",))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1, done.stderr
    assert raised.partition("(")[0].rpartition(".")[2] in done.stderr
    assert "Traceback" not in done.stderr


def test_a_name_that_is_no_text(tmp_path):
    done = run(tmp_path, written(tmp_path, r'name = "bad \udc80"'), ("neg",))
    assert done.returncode == 0, done.stderr
    header, found = read_results(tmp_path / "out")
    assert header.backends[0]["name"].startswith("bad ")
    assert [str(r.verdict) for r in found] == ["PASS"]


# What is used up

LEAK = "hoard = []\nATTACKS = dict.fromkeys(('neg', 'exp'), lambda inputs: hoard.append(np.ones(12 << 17)))"


def test_a_leak_is_charged_to_no_case(tmp_path):
    """12 MiB a call: a case has three, and the limit is met every few cases."""
    cases = [f"{op}[x={n}x33;f32]" for n in range(2, 17) for op in ("neg", "exp")]
    found = records(written(tmp_path, LEAK), cases, memory=256 << 20)
    assert {str(r.verdict) for r in found} == {"PASS"}


# What is done to the descriptors

SCRIBBLE = """
def scribble(inputs):
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        try:
            os.write(descriptor, b"nobody expects this here")
        except OSError:
            pass

ATTACKS = {"neg": scribble}
"""


def test_bytes_to_every_descriptor(tmp_path):
    found = verdicts(tmp_path, SCRIBBLE, "relu", "neg", "exp", "cos")
    assert found.pop("neg") in {"ERROR", "CRASH"}
    assert found == passed("relu", "exp", "cos")


@pytest.mark.parametrize(
    "silence",
    [
        "os.dup2(os.open(os.devnull, os.O_WRONLY), 1)",
        "os.close(1)",
        "os.close(0); os.close(1); os.close(2)",
        "c = ctypes.CDLL(None); c.fclose(ctypes.c_void_p.in_dll(c, 'stdout'))",
    ],
)
def test_silenced_at_import(tmp_path, silence):
    names = ("relu", "neg", "exp", "cos")
    assert verdicts(tmp_path, silence, *names) == passed(*names)


# What ends the process, now or later

EXITS = 'ATTACKS = {"neg": lambda inputs: os._exit(0)}'


def test_an_exit_is_told_at_once(tmp_path):
    backend = written(tmp_path, EXITS)
    crash, after = records(backend, [case_of("neg"), case_of("exp")], timeout=400.0)
    assert str(crash.verdict) == "CRASH"
    assert "status 0" in crash.message
    assert crash.seconds < 60
    assert str(after.verdict) == "PASS"


LATER = """
def later(action):
    def attack(inputs):
        threading.Thread(target=lambda: (time.sleep(0.2), action()), daemon=True).start()

    return attack

def alarm(inputs):
    signal.alarm(1)

ATTACKS = dict.fromkeys(("exp", "cos", "abs"), lambda inputs: time.sleep(0.5))  # by then it has happened
ATTACKS["neg"] = {attack}
"""


@pytest.mark.parametrize("attack", ["alarm", "later(os.abort)", "later(lambda: ctypes.string_at(0))"])
def test_a_late_death_is_charged_to_its_cause(tmp_path, attack):
    found = verdicts(tmp_path, LATER.replace("{attack}", attack), "relu", "neg", "exp", "cos", "abs")
    assert found == {"neg": "CRASH", **passed("relu", "exp", "cos", "abs")}


# What does not let go

HOLDS = """
c = ctypes.PyDLL(None)  # its calls hold the interpreter's lock
c.calloc.restype = ctypes.c_void_p
c.calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
c.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]

def grow(inputs):
    c.memset(c.calloc(1, 1 << 30), 1, 1 << 30)
    c.sleep(600)

ATTACKS = {"neg": lambda inputs: c.sleep(600), "exp": grow}
"""


def test_a_call_that_holds_the_interpreter(tmp_path):
    found = verdicts(tmp_path, HOLDS, "relu", "neg", "cos", timeout=5.0)
    assert found == {"neg": "TIMEOUT", **passed("relu", "cos")}


def test_a_call_that_holds_the_interpreter_and_grows(tmp_path):
    found = verdicts(tmp_path, HOLDS, "relu", "exp", "cos", timeout=300.0, memory=400 << 20)
    assert found == {"exp": "OUT_OF_MEMORY", **passed("relu", "cos")}
