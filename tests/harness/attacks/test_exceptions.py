"""Exceptions of any class and any text, in a call and at import: they cost their own record, and never the run."""

import pytest
from _attacked import INNOCENT, backend, run

from opproof.reports import read_results

RAISES = """
import asyncio


class Odd(BaseException):
    pass


class Mute(Exception):
    def __str__(self):
        raise KeyboardInterrupt


class Meta(type):
    def __instancecheck__(cls, instance):
        raise SystemExit(7)

    @property
    def __module__(cls):
        raise Odd


class Strange(Exception, metaclass=Meta):
    pass


class Lasting(Exception):
    def __reduce__(self):
        raise Odd


def group():
    raise BaseExceptionGroup("some", [KeyboardInterrupt(), Odd()])


RAISED = {
    "relu": Odd("not an Exception"), "abs": KeyboardInterrupt(), "square": asyncio.CancelledError(),
    "sign": ValueError("bad \\udc80"), "exp": Unsupported("bad \\udc80"), "sin": SystemExit(0), "cos": GeneratorExit(),
    "sqrt": Mute(), "tanh": Strange(), "floor": Lasting("x" * 10**6), "ceil": StopIteration(), "add": MemoryError(),
    "sub": Unsupported("\\0\\x1b[2J\\u202e" * 2000),
}


def forward(op, inputs, params):
    if op == "mul":
        group()
    if op in RAISED:
        raise RAISED[op]
    return honest(op, inputs)
"""

CASES = {
    **{f"{op}[x=2x3;f32]": "ERROR" for op in "relu abs square sign sin cos sqrt tanh floor ceil".split()},
    "exp[x=2x3;f32]": "UNSUPPORTED",
    "add[a=2x3;b=2x3;f32]": "OUT_OF_MEMORY",
    "sub[a=2x3;b=2x3;f32]": "UNSUPPORTED",
    "mul[a=2x3;b=2x3;f32]": "ERROR",
}


def test_in_a_call(tmp_path):
    done = run(tmp_path, backend(tmp_path, RAISES), (*CASES, *INNOCENT), "-j", "2")
    assert done.failing == CASES, done.err
    assert (done.status, len(done.results), done.left) == (1, len(CASES) + len(INNOCENT), [])
    assert r"bad \udc80" in done.message("sign[x=2x3;f32]")
    assert done.message("exp[x=2x3;f32]") == r"bad \udc80"
    assert r"\x00\x1b[2J\u202e" in done.message("sub[a=2x3;b=2x3;f32]")
    assert all(len(r.message.encode()) <= 8192 for r in done.results)
    for report in ("report.html", "report.md"):
        assert "\x1b" not in (tmp_path / "out" / report).read_text(encoding="utf-8")


def test_a_name_that_is_no_text(tmp_path):
    text = 'name, version, device = "bad \\udc80", "\\x1b[2J", "\\u202e"\n'
    done = run(tmp_path, backend(tmp_path, text), INNOCENT[:2])
    assert (done.status, done.failing, len(done.results)) == (0, {}, 2), done.err
    (described,) = read_results(tmp_path / "out")[0].backends
    assert (described["name"], described["version"], described["device"]) == (r"bad \udc80", r"\x1b[2J", r"\u202e")
    assert "\x1b" not in done.out + (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "raised",
    [
        "class Odd(BaseException): pass\nraise Odd('no')",
        "raise KeyboardInterrupt",
        "import asyncio\nraise asyncio.CancelledError",
        "raise SystemExit(0)",
        "raise ValueError('bad \\udc80')",
        "class Mute(Exception):\n    def __str__(self): raise KeyboardInterrupt\nraise Mute",
        "def f(): f()\nf()",
        "raise GeneratorExit",
    ],
)
def test_at_import(tmp_path, raised):
    done = run(tmp_path, backend(tmp_path, raised), INNOCENT[:2], limit=100)
    assert (done.status, done.results, done.left) == (2, [], [])
    assert done.err.count("\n") == 1, done.err
    assert "could not be imported" in done.err
    assert "Traceback" not in done.err + done.out
