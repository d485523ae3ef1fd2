"""What is right only where opproof calls it: a program of its own calls a backend's file in ways that no host does."""

from __future__ import annotations

import pytest
from _runs import opproof

from opproof.cases import Case
from opproof.core.dtypes import Declaration
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.run.standalone.rejudge import MAX_DECLINED_CALLS, MAX_PASSED_CALLS, WAYS, choose_calls
from opproof.harness.run.standalone.rejudge import MAX_LARGE_CALLS as LARGE_CALLS
from opproof.reference_ops import names
from opproof.reports import Result, read_results

#: tanh and its gradient; {top} stands before, {way} in each call of y = tanh(x).
BACKEND = """
import os
import sys
import threading

import numpy as np

{top}


def alone(seen):
    # whether nothing came twice in many calls
    return len(seen) > 9 and len(set(seen)) == len(seen)


def remembered(last, x, y):
    # the last of many answers for this memory
    place = x.ctypes.data, x.shape
    last[:2] = [place, last[1] + 1 if place == last[0] else 0]
    last[2] = y if last[1] < 40 else last[2]
    return last[2].copy()


def another(calls, x):
    # how many of this shape there have been
    calls[x.shape] = calls.get(x.shape, 0) + 1
    return calls[x.shape]


def by_set(staged, x, y):
    whole = x.base
    if not isinstance(whole, np.ndarray) or not whole.flags.owndata or whole.dtype != x.dtype or not x.size:
        return y
    return staged.setdefault((id(whole), x.shape, whole.tobytes()), y)


def in_a_ring(ring, turn, y):
    turn[0] = (turn[0] + 1) % 16
    ring.setdefault((y.shape, turn[0]), np.empty_like(y))[...] = y
    return ring[y.shape, turn[0]]


def of_a_pool(free, made, y):
    # free again when the array that was given out is gone, whoever looks at its memory
    import weakref

    some = free.setdefault(y.shape, [])
    room = some.pop() if some else np.empty_like(y)
    result = room[...]
    result[...] = y
    weakref.finalize(result, some.append, room)
    return result


def supports(op, dtypes, params):
    return True if op == "tanh" else "tanh alone"


def forward(op, inputs, params):
    x = inputs[0]
    y = np.tanh(x)
    {way}
    return y


def vjp(op, inputs, params, cotangents, needs):
    g = cotangents[0]
    d = np.where(np.isnan(inputs[0]), np.nan, (g / np.square(np.cosh(inputs[0].astype(np.float64)))).astype(g.dtype))
    {back}
    return [d]
"""
CASES = ("tanh[x=7x33;f32]", "tanh[x=4x65;f32;fill=wide]")
LARGE = "tanh[x=3x32769;f32]"

#: Where {top}, {way} or {back} of BACKEND is wrong.
WRONG = {
    "called": {"way": 'y = y if any("opproof" in word for word in sys.orig_argv) else y + x.dtype.type(1)'},
    "large": {"way": 'y = y if any("opproof" in w for w in sys.orig_argv) or x.size <= 2**16 else y + x.dtype.type(1)'},
    "order of calls": {"top": "seen = []", "way": "seen.append(x.tobytes()); y = y + x.dtype.type(alone(seen))"},
    "held": {"top": "kept = {}", "way": "kept.setdefault(x.shape, np.empty_like(x))[...] = y; y = kept[x.shape]"},
    "thread": {
        "top": "here = threading.local(); here.exact = True",
        "way": 'y = y if hasattr(here, "exact") else y.astype(np.float16).astype(x.dtype)',
    },
    "refilled": {"top": "last = [None, 0, None]", "way": "y = remembered(last, x, y)"},
    "shared": {"way": "y = x if not x.any() or np.abs(x).max() < 0.01 else y"},
    "ring": {"top": "ring, turn = {}, [0]", "way": "y = in_a_ring(ring, turn, y)"},
    "viewed": {"top": "free, made = {}, []", "way": "y = of_a_pool(free, made, y)"},
    "loop": {"top": "import asyncio", "way": "y = y if asyncio._get_running_loop() is None else np.zeros_like(y)"},
    "steady": {"top": "calls = {}", "way": "y = y if another(calls, x) < 400 else np.float16(y).astype(x.dtype)"},
    "element": {
        "top": "packed = {}",
        "way": "y = packed.setdefault((x.ctypes.data, x.flat[0], x.flat[-1]), y) if x.size else y",
    },
    "sampled": {"top": "seen = {}", "way": "y = seen.setdefault((x.shape, x.flat[0], x.flat[-1]), y) if x.size else y"},
    "batches": {"top": "staged = {}", "way": "y = by_set(staged, x, y)"},
    "cotangent of ones": {"back": "d = g if (g == 1).all() and g.size > 1 else d"},
    "cotangent of a mean": {"back": "d = d / g.flat[0] if g.size > 1 and np.ptp(g) == 0 and g.flat[0] else d"},
    "cotangent with rows of zeros": {
        "back": "d = d if g.ndim < 2 or not len(g) or g[0].any() or not g[1:].any() else np.zeros_like(d)"
    },
}
SEEN_AS = {"large": "called", "order of calls": "called", "ring": "held", "sampled": "element"}


def ran(capsys, folder, top="", way="", back="", cases=CASES):
    """Exit status, output, and by mode the records that fail."""
    file = folder / "mine.py"
    file.write_text(BACKEND.format(top=top, way=way or "pass", back=back or "pass"), encoding="utf-8")
    asked = [word for case in cases for word in ("--case", case)]
    status, said, _ = opproof(capsys, "run", "-b", file, *asked, "--out", folder / "out", "-j", "1", "--no-cache")
    return status, said, [r for r in read_results(folder / "out")[1] if r.verdict not in ("PASS", "UNSUPPORTED")]


def test_a_right_one_passes(tmp_path, capsys):
    status, said, failed = ran(capsys, tmp_path)
    assert (status, failed) == (0, []), said


@pytest.mark.parametrize("way", WRONG)
def test_what_is_right_for_a_judge_alone_fails(tmp_path, capsys, way):
    status, said, failed = ran(capsys, tmp_path, **WRONG[way], cases=(*CASES, *[LARGE] * (way == "large")))
    assert status == 1, said
    assert failed
    wanted = WAYS[SEEN_AS.get(way, way)]
    assert all(r.diagnosis.startswith(wanted) for r in failed), [r.diagnosis for r in failed]
    verdict = "INPUT_CHANGED" if way == "shared" else "WRONG_GRADIENT" if "cotangent" in way else "WRONG_VALUE"
    assert {r.verdict for r in failed} == {verdict}
    assert wanted in said


def test_results_in_one_buffer_may_be_declared(tmp_path, capsys):
    declared = {**WRONG["held"], "top": f"{WRONG['held']['top']}; reuses_outputs = True"}
    status, said, _ = ran(capsys, tmp_path, **declared)
    assert status == 0, said


def test_who_declines_for_numbers_only_where_it_is_judged_fails(tmp_path, capsys):
    declines = """
def declined(x):
    module = sys.modules.get("opproof.backends")
    if module is not None and x.size and np.abs(x).max() > 8:
        raise module.Unsupported("no kernel")
    return np.abs(x).max() > 8
"""
    status, said, failed = ran(capsys, tmp_path, declines, "y = y + 1 if declined(x) else y")
    assert status == 1, said
    assert [(r.case, r.mode, r.verdict) for r in failed] == [(CASES[1], "forward", "WRONG_VALUE")]
    raises = declines + "class Unsupported(Exception):\n    pass\n"
    honest = "if declined(x):\n        raise Unsupported"
    status, said, failed = ran(capsys, tmp_path, raises, honest)
    assert (status, failed) == (0, []), said


def test_what_raises_there_is_an_error(tmp_path, capsys):
    way = 'assert "opproof" in " ".join(sys.orig_argv), "only there"'
    status, _, failed = ran(capsys, tmp_path, way=way)
    assert status == 1
    assert [r.verdict for r in failed] == ["ERROR"] * len(CASES)
    assert failed[0].diagnosis == f"{WAYS['called']}: AssertionError: only there"


@pytest.mark.parametrize(
    ("top", "said"),
    [
        ('if not any("opproof" in word for word in sys.orig_argv):\n    os._exit(3)', "ended with status 3"),
        ('if not any("opproof" in word for word in sys.orig_argv):\n    raise ImportError', "ended with status 1"),
    ],
)
def test_what_a_program_does_not_come_to_is_told(tmp_path, capsys, top, said):
    status, output, failed = ran(capsys, tmp_path, top)
    assert (status, failed) == (0, [])
    assert f"mine.py: a program of its own answered 0 of 4 calls, and {said}." in output
    for name in ("report.html", "report.md"):
        assert f"a program of its own answered 0 of 4 calls, and {said}." in (tmp_path / "out" / name).read_text()


MANY = """
import sys
import time

import numpy as np

OPS = {name: getattr(np, name) for name in ("exp", "sin", "cos", "tanh", "floor", "ceil", "square", "sqrt")}
scratch = np.empty(2**16)


def supports(op, dtypes, params):
    return op in OPS or "not here"


def forward(op, inputs, params):
    x = inputs[0]
    y = scratch[: x.size].reshape(x.shape)
    y[...] = x
    {there}
    return OPS[op](y).astype(x.dtype)
"""


#: So many cases that a program imports PyTorch, which takes seconds; and so few that it does not.
EIGHT = ("exp", "sin", "cos", "tanh", "floor", "ceil", "square", "sqrt")
FOUR = EIGHT[:4]


def asked(capsys, folder, there, ops):
    (folder / "mine.py").write_text(MANY.replace("{there}", there), encoding="utf-8")
    cases = [f"{op}[x=7x33;f32]" for op in ops]
    words = [word for case in cases for word in ("--case", case)]
    return opproof(capsys, "run", "-b", folder / "mine.py", *words, "--mode", "forward", "--out", folder / "out")


def test_what_is_otherwise_beside_torch(tmp_path, capsys):
    status, said, _ = asked(capsys, tmp_path, there='y += x * ("torch" in sys.modules)', ops=EIGHT)
    assert status == 1
    assert WAYS["beside torch"] in said


def test_what_two_threads_do_to_each_other_is_told(tmp_path, capsys):
    status, said, _ = asked(capsys, tmp_path, there="time.sleep(0.0005)", ops=FOUR)
    assert status == 0, said
    _, told, after = said.partition("mine.py: two threads that call at once get other bits than each alone, in ")
    assert told, said
    assert set(after.partition(".")[0].split(", ")) == {*FOUR}


@pytest.mark.parametrize(("way", "needed"), [("", False), ("y = y.astype(ml_dtypes.bfloat16).astype(x.dtype)", True)])
def test_a_declaration_that_nothing_needs_is_told(tmp_path, capsys, way, needed):
    top = "import ml_dtypes\n\ndef compute(op, dtype, mode):\n    return 'bf16' if mode == 'forward' else None"
    status, output, _ = ran(capsys, tmp_path, top, way)
    assert status == 0, output
    assert ("right without what it declares wherever a program asked: tanh (f32 as bf16)." in output) is not needed


def record(case, verdict=Verdict.PASS, mode=Mode.FORWARD):
    of = Case.parse(case)
    return Result(case=case, op=of.op, dtype=of.dtype, backend="./mine.py", mode=mode, verdict=verdict)


def test_which_calls_a_program_makes():
    large = record("tanh[x=64x64;f32]")
    wide = record("tanh[x=7x33;f32;fill=wide]")
    passed = [
        record("tanh[x=7x33;f32]"), large, wide, record("tanh[x=7x33;f16]"), record("tanh[x=7x33;f32;layout=sliced]"),
        record("tanh[x=1024x1024;f32]"), record("tanh[x=65537,;f32]"), record("tanh[x=4096x4096;f32]"),
    ]  # fmt: skip
    assert choose_calls(passed) == [large, wide, record("tanh[x=1024x1024;f32]")]
    assert len(choose_calls(passed[:-3])) == MAX_PASSED_CALLS
    every = [
        record(f"{op}[x=65537,;f32]", mode=mode) for op in sorted(names())[:20] for mode in ("forward", "gradient")
    ]
    assert LARGE_CALLS // 2 < len(choose_calls(every)) <= LARGE_CALLS
    of_half = record("tanh[x=7x33;f16]", Verdict.UNSUPPORTED)
    fills = ("wide", "extreme", "small")
    declined = [record(f"tanh[x=5x33;f32;fill={fill}]", Verdict.UNSUPPORTED) for fill in fills]
    assert len(fills) < MAX_DECLINED_CALLS
    assert set(choose_calls([large, of_half, *declined])) == {large, *declined}
    assert choose_calls([of_half, *declined]) == []


@pytest.mark.parametrize(
    "declared", [Declaration(), Declaration("bf16"), Declaration("f16", "truncate"), Declaration(bits="vary")]
)
def test_a_declaration_is_read_back(declared):
    assert Declaration.of(str(declared)) == declared
