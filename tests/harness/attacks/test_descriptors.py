"""What a backend does to its descriptors: silencing a library is its right, and noise on the frames its own fault."""

import re

import pytest
from _attacked import INNOCENT, backend, run

AT_IMPORT = {
    "dup2 of /dev/null": "os.dup2(os.open(os.devnull, os.O_WRONLY), 1)",
    "close(1)": "os.close(1)",
    "close(0), close(1), close(2)": "os.closerange(0, 3)",
    "fclose(stdout)": "ctypes.CDLL(None).fclose(ctypes.c_void_p.in_dll(ctypes.CDLL(None), 'stdout'))",
    "prints": "print('loaded', flush=True)\nos.write(1, b'x' * 300_000)\nos.write(2, b'y' * 300_000)",
    "sys.stdout is gone": "sys.stdout = sys.stderr = sys.__stdout__ = None",
    "another folder, which is removed": "os.chdir(__import__('tempfile').mkdtemp())\nos.rmdir(os.getcwd())",
    "no environment": "os.environ.clear()",
    "another umask and nice": "os.umask(0o777)\nos.nice(5)",
    "few open files": "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))",
}


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """One run of a backend for each."""
    folder = tmp_path_factory.mktemp("imported")
    backends = []
    for i, deed in enumerate(AT_IMPORT.values()):
        (folder / str(i)).mkdir()
        backends.append(backend(folder / str(i), deed))
    first, *others = backends
    return backends, run(folder, first, INNOCENT, "-j", "2", *(part for other in others for part in ("-b", other)))


@pytest.mark.parametrize("at", range(len(AT_IMPORT)), ids=AT_IMPORT)
def test_at_import(imported, at):
    """All records pass: 0, 1 and 2 are the backend's."""
    backends, done = imported
    found = [r.verdict for r in done.results if r.backend == backends[at]]
    assert (found, done.left) == (["PASS"] * len(INNOCENT), []), done.err
    assert done.status == 0, done.err


IN_A_CALL = """
def everywhere(text):
    for descriptor in range(64):
        try:
            os.write(descriptor, text)
        except OSError:
            pass


DEEDS = {
    "relu": lambda: everywhere(b"x" * 100),
    "abs": lambda: everywhere(b"\\xff" * 16),
    "square": lambda: everywhere(b"{}" * 50_000),
    "sign": lambda: os.closerange(3, 64),
    "floor": lambda: [os.dup2(2, descriptor) for descriptor in range(3, 64)],
    "ceil": lambda: os.closerange(0, 3),
    "sqrt": lambda: os.write(1, b"noise\\n" * 100_000),
}


def forward(op, inputs, params):
    if op in DEEDS:
        DEEDS[op]()
    return honest(op, inputs)
"""

#: Operators by what the deed makes of their records.
EXPECTED = {"relu": "ERROR", "abs": "ERROR", "square": "ERROR", "sign": "CRASH", "floor": "CRASH"}
#: What ceil has closed is closed in a program, where sqrt writes to it.
IN_A_PROGRAM = {"sqrt": "ERROR"}


def test_in_a_call(tmp_path):
    cases = tuple(f"{op}[x=2x3;f32]" for op in (*EXPECTED, "sqrt", "ceil"))
    done = run(tmp_path, backend(tmp_path, IN_A_CALL), (*INNOCENT[:4], *cases, *INNOCENT[4:]), "-j", "2")
    expected = {f"{op}[x=2x3;f32]": verdict for op, verdict in (EXPECTED | IN_A_PROGRAM).items()}
    assert done.failing == expected, done.err
    assert (done.status, len(done.results), done.left) == (1, len(INNOCENT) + len(cases), [])


def test_what_a_call_took_from_the_next(tmp_path):
    """A descriptor that one case closes and another one writes to: it is not the second that fails."""
    cases = ("ceil[x=2x3;f32]", *INNOCENT[:5], "sqrt[x=2x3;f32]", *INNOCENT[5:])
    done = run(tmp_path, backend(tmp_path, IN_A_CALL), cases, "-j", "1")
    assert done.failing == {"ceil[x=2x3;f32]": "ERROR"}, done.err
    assert re.match(r"after the call had returned, OSError.* \(met by a later case as: OSError", done.message(cases[0]))
