"""Limits hold whatever a backend does with locks, signals and memory; and what it leaks is no case's fault."""

import pytest
from _attacked import INNOCENT, backend, run

ENDLESS = """
signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP})


def held():
    ctypes.PyDLL(None).sleep(600)  # without the interpreter's lock being released


def power():
    return len(str(7 ** (1 << 27)))


def expression():
    import re
    return re.match("(a|a|b?)*c", "a" * 64)


DEEDS = {
    "relu": held, "abs": power, "square": expression, "sign": lambda: time.sleep(600), "floor": signal.pause,
    "ceil": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "sqrt": lambda: subprocess.run(["sleep", "600"], check=False, start_new_session=True),
}


def forward(op, inputs, params):
    if op in DEEDS:
        DEEDS[op]()
    return honest(op, inputs)
"""


def test_time(tmp_path):
    hang = [f"{op}[x=2x3;f32]" for op in ("relu", "abs", "square", "sign", "floor", "ceil", "sqrt")]
    done = run(tmp_path, backend(tmp_path, ENDLESS), (*hang, *INNOCENT), "-j", "2", "--timeout", "4")
    assert done.failing == dict.fromkeys(hang, "TIMEOUT"), done.err
    assert (done.status, len(done.results), done.left) == (1, len(hang) + len(INNOCENT), [])


LEAKS = """
hoard = []


def forward(op, inputs, params):
    hoard.append(np.ones(12 * 2**17))
    return honest(op, inputs)
"""


def test_leaks(tmp_path):
    """12 MiB a call: the host is replaced when they do not fit any more, and no case is to blame."""
    cases = tuple(f"neg[x=4x{n};f32]" for n in range(1, 61))
    done = run(tmp_path, backend(tmp_path, LEAKS), cases, "-j", "2", "--memory", "256", limit=300)
    assert (done.status, done.failing, len(done.results), done.left) == (0, {}, len(cases), []), done.err


GROWS = """
def grow():
    hoard = []
    while True:
        hoard.append(np.ones(2**20))


def held():
    libc = ctypes.PyDLL(None)
    libc.malloc.restype, size = ctypes.c_void_p, ctypes.c_size_t(2**32)
    libc.memset(ctypes.c_void_p(libc.malloc(size)), 1, size)


def below():
    subprocess.run([sys.executable, "-c", "x = b'x' * 2**32"], check=False)


DEEDS = {"relu": grow, "abs": held, "square": below}


def forward(op, inputs, params):
    if op in DEEDS:
        DEEDS[op]()
    return honest(op, inputs)
"""


def test_memory(tmp_path):
    """Of the host and of what it starts, also while it holds the interpreter's lock."""
    large = [f"{op}[x=2x3;f32]" for op in ("relu", "abs", "square")]
    done = run(tmp_path, backend(tmp_path, GROWS), (*large, *INNOCENT), "-j", "1", "--memory", "512")
    assert done.failing == dict.fromkeys(large, "OUT_OF_MEMORY"), done.err
    assert (done.status, len(done.results), done.left) == (1, len(large) + len(INNOCENT), [])


@pytest.mark.parametrize("deed", ["os._exit(0)", "sys.exit(0)", "ctypes.CDLL(None).exit(0)", "os.abort()"])
def test_an_end_is_told_at_once(tmp_path, deed):
    """Not after the whole limit."""
    text = f"def forward(op, inputs, params):\\n    {deed}\\n".replace("\\n", "\n")
    done = run(tmp_path, backend(tmp_path, text), INNOCENT[:2], "-j", "1", "--timeout", "1000", limit=300)
    assert set(done.failing.values()) == {"ERROR" if "sys.exit" in deed else "CRASH"}
    assert (done.status, len(done.results), done.left) == (1, 2, [])
