"""Results in place and strided: a backend that does so rightly passes, and each way to do it wrong has its verdict."""

import os
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from _ask import judged

from opproof.backends.loaded import resolve_members
from opproof.backends.numpy import NumPy
from opproof.backends.table import write_results
from opproof.cases import Case, cases_of
from opproof.cases._layouts import layouts_of
from opproof.core.errors import BackendError, CaseError
from opproof.harness.reference.valid_case import check_case
from opproof.harness.run.attempt import run_task
from opproof.harness.run.hosts.start import start_host
from opproof.harness.run.plan import has_gradient
from opproof.harness.run.task import HostLimits, Task
from opproof.reference_ops import load, load_file, names

HONEST = NumPy()
RIGHT = [
    "relu[x=7x33;f32;inplace=x]",
    "relu[x=3x2x65;bf16;layout=transposed;inplace=x]",
    "relu[x=5x9;f32;layout=sliced;inplace=x]",
    "exp[x=5x9;f16;layout=offset;inplace=x]",
    "sub[a=5x9;b=9,;f32;inplace=a]",
    "sub[a=5x9;b=5x9;f32;layout=b:gapped;inplace=b]",
    "mul[a=5x9;b=@a;f32;inplace=a]",
    "softmax[x=7x33;dim=-1;f32;inplace=x]",
    "softmax[x=7x33;dim=-1;f32;into=transposed]",
    "matmul[a=5x7;b=7x9;f32;into=gapped]",
    "topk[x=5x9;k=3;f32;into=sliced]",
    "sum[x=5x9;dim=0;f32;into=offset]",
]


def backend(**members):
    """NumPy's destinations, with other functions than its own."""
    honest = {name: getattr(HONEST, name) for name in ("name", "version", "device", "destinations", "forward", "vjp")}
    return SimpleNamespace(**{**honest, **members})


@pytest.mark.parametrize("mode", ["forward", "gradient"])
@pytest.mark.parametrize("case", RIGHT)
def test_an_honest_backend_passes(case, mode):
    assert judged(HONEST, case, mode).verdict == "PASS"


def test_a_result_in_place_is_the_input_itself():
    seen = []

    def forward(op, inputs, params, out):
        seen.append([x is out[0] for x in inputs])
        return HONEST.forward(op, inputs, params, out)

    def vjp(op, inputs, params, cotangents, needs, out):
        seen.append([d is cotangents[0] for d in out])
        return HONEST.vjp(op, inputs, params, cotangents, needs, out)

    for mode in ("forward", "gradient"):
        judged(backend(forward=forward, vjp=vjp), "sub[a=5x9;b=5x9;f32;inplace=b]", mode)
    assert seen == [[False, True]] * 6


# What goes wrong


def elsewhere(op, inputs, params, out):
    """The right answer, and nothing written."""
    return HONEST.forward(op, inputs, params)


def twice(op, inputs, params, out):
    """It reads what it has written already."""
    HONEST.forward(op, inputs, params, out)
    HONEST.forward(op, inputs, params, out)


def into_another(op, inputs, params, out):
    HONEST.forward(op, inputs, params, out)
    for x in inputs:
        if x is not out[0]:
            x[...] = 0


def row_by_row(op, inputs, params, out):
    """The strides of the destination ignored."""
    for y, place in zip(HONEST.forward(op, inputs, params), out, strict=True):
        np.ndarray(y.shape, y.dtype, place.base, place.__array_interface__["data"][0] - base_of(place))[...] = y


def base_of(array):
    return np.frombuffer(array.base, np.uint8).__array_interface__["data"][0]


@pytest.mark.parametrize(
    ("forward", "case", "verdict", "said"),
    [
        (elsewhere, "exp[x=5x9;f32;inplace=x]", "WRONG_VALUE", ""),
        (elsewhere, "exp[x=5x9;f32;into=gapped]", "NOT_WRITTEN", "output y: 45 of 45 elements were not written"),
        (twice, "exp[x=5x9;f32;inplace=x]", "WRONG_VALUE", ""),
        (twice, "exp[x=5x9;f32;into=gapped]", "PASS", ""),
        (into_another, "add[a=5x9;b=5x9;f32;inplace=a]", "INPUT_CHANGED", "input b: "),
        (into_another, "add[a=5x9;b=5x9;f32;inplace=b]", "INPUT_CHANGED", "input a: "),
        (row_by_row, "exp[x=5x9;f32;into=gapped]", "OUT_OF_BOUNDS", "output y: "),
        (row_by_row, "exp[x=5x9;f32;layout=gapped;inplace=x]", "OUT_OF_BOUNDS", "input x: "),
        (row_by_row, "exp[x=5x9;f32;into=transposed]", "WRONG_VALUE", ""),
        (row_by_row, "exp[x=5x9;f32;inplace=x]", "PASS", ""),
    ],
)
def test_forward(forward, case, verdict, said):
    judgement = judged(backend(forward=forward), case)
    assert judgement.verdict == verdict
    assert judgement.message.startswith(said)
    assert verdict != "OUT_OF_BOUNDS" or "bytes between its elements were written, the first " in judgement.message


def over_saved(op, inputs, params, cotangents, needs, out):
    """What a forward in place leaves behind: the saved input is gone."""
    HONEST.vjp(op, inputs, params, cotangents, needs, out)
    inputs[0][...] = HONEST.forward(op, inputs, params)[0]


def of_what_was_written(op, inputs, params, cotangents, needs, out):
    """The second gradient is computed from a cotangent that holds the first by then."""
    first = HONEST.vjp(op, inputs, params, cotangents, needs)
    out[0][...] = first[0]
    out[1][...] = HONEST.vjp(op, inputs, params, cotangents, needs)[1]


@pytest.mark.parametrize(
    ("vjp", "case", "verdict", "said"),
    [
        (over_saved, "exp[x=5x9;f32;inplace=x]", "INPUT_CHANGED", "input x: "),
        (over_saved, "exp[x=5x9;f32;into=sliced]", "INPUT_CHANGED", "input x: "),
        (of_what_was_written, "mul[a=5x9;b=5x9;f32;inplace=a]", "WRONG_GRADIENT", ""),
        (of_what_was_written, "mul[a=5x9;b=5x9;f32;into=gapped]", "PASS", ""),
    ],
)
def test_gradient(vjp, case, verdict, said):
    judgement = judged(backend(vjp=vjp), case, "gradient")
    assert judgement.verdict == verdict
    assert judgement.message.startswith(said)


# What is declared


@pytest.mark.parametrize(
    ("destinations", "case", "verdict"),
    [
        ((), "relu[x=5x9;f32;inplace=x]", "UNSUPPORTED"),
        (("strided",), "relu[x=5x9;f32;inplace=x]", "UNSUPPORTED"),
        (("in place",), "relu[x=5x9;f32;inplace=x]", "PASS"),
        (("in place",), "relu[x=5x9;f32;layout=gapped;inplace=x]", "PASS"),
        (("in place",), "relu[x=5x9;f32;into=gapped]", "UNSUPPORTED"),
        (None, "relu[x=5x9;f32;into=gapped]", "UNSUPPORTED"),
        (["strided"], "relu[x=5x9;f32;into=gapped]", "PASS"),
    ],
)
@pytest.mark.parametrize("mode", ["forward", "gradient"])
def test_what_is_not_declared_is_declined(destinations, case, verdict, mode):
    judgement = judged(backend(destinations=destinations), case, mode)
    assert judgement.verdict == verdict
    if verdict == "UNSUPPORTED":
        word = "in place" if "inplace" in case else "strided"
        assert judgement.message == f"the backend does not declare the destination {word!r}"


@pytest.mark.parametrize("words", ["in place", ("inplace",), 3, [["in place"]]])
def test_words_that_are_none(words):
    with pytest.raises(BackendError, match=r"expected a tuple of words: 'in place', 'strided'\.$"):
        resolve_members(backend(destinations=words), "mine")


@pytest.mark.parametrize("member", ["forward", "vjp"])
def test_a_function_that_takes_no_out(member):
    def function(op, inputs, params, cotangents=None, needs=None):
        return []

    assert not resolve_members(backend(**{member: function}), "mine").destinations
    assert resolve_members(backend(), "mine").destinations


# Cases


@pytest.mark.parametrize("op", names())
def test_every_result_of_the_registry_can_lie_there(op):
    for case in cases_of(op, "full"):
        if case.destinations and case.dtype in ("f32", "f64"):
            check_case(case)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sum[x=5x9;dim=0;f32;inplace=x]", "sum can be computed over no tensor, not over 'x'; its IN_PLACE says so"),
        ("sub[a=5x9;b=5x9;f32;inplace=c]", "sub can be computed over a, b, not over 'c'"),
        ("sub[a=5x9;b=9,;f32;inplace=b]", "has no room for the result, float64 of shape (5, 9)"),
        ("eq[a=5x9;b=5x9;f32;inplace=a]", "eq can be computed over no tensor"),
        ("relu[x=5x9;f32;layout=broadcast;inplace=x]", "elements of x share their memory"),
        ("relu[x=5x9;f32;into=gapped;inplace=x]", "leave into=gapped out"),
        ("relu[x=5x9;f32;into=broadcast]", "no result can lie as into=broadcast; expected one of contiguous"),
        ("relu[x=5x9;f32;into=inside]", "no result can lie as into=inside"),
    ],
)
def test_what_no_result_can_be(text, said):
    with pytest.raises(CaseError) as caught:
        check_case(Case.parse(text))
    assert said in str(caught.value)


def test_a_gradient_that_is_not_asked_for_lies_nowhere():
    op = load("sub")
    assert not has_gradient(Case.parse("sub[a=5x9;b=5x9;f32;inplace=b;needs=a]"), op)
    assert has_gradient(Case.parse("sub[a=5x9;b=5x9;f32;inplace=b;needs=a,b]"), op)


def test_an_operator_of_ones_own(tmp_path):
    text = '"""mine: 2 x."""\nIN_PLACE = ("x",)\ndef forward(x):\n    return 2 * x\n'
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    op = load_file(tmp_path / "mine.py")
    assert op.in_place == ("x",)

    def forward(op, inputs, params, out):
        np.multiply(inputs[0], 2, out=out[0])

    assert judged(backend(forward=forward), "mine[x=5x9;f32;inplace=x]", op=op).verdict == "PASS"


def test_layouts_of_inputs_are_kept():
    case = Case.parse("sub[a=5x9;b=5x9;f32;layout=b:gapped;inplace=b]")
    assert layouts_of(case.apart) == layouts_of(case)
    assert not case.apart.destinations


# Programs


@pytest.fixture(scope="module")
def programs():
    """Hosts of the exec drill, by what it does wrong in place."""
    hosts = {}

    def host(fault):
        if fault not in hosts:
            path = Path(__file__).parents[2] / "_in_place_program.py"
            hosts[fault] = start_host(
                f"exec:{shlex.join([sys.executable, str(path), fault])}", HostLimits(1, 30.0, 2**30)
            )
        return hosts[fault]

    yield host
    for started in hosts.values():
        started.close()


SUB, MUL = "sub[a=5x9;b=5x9;f32;inplace=b]", "mul[a=5x9;b=5x9;f32;inplace=a]"


@pytest.mark.skipif(os.name != "posix", reason="exec: backends need POSIX")
@pytest.mark.parametrize(
    ("fault", "case", "mode", "verdict", "said"),
    [
        ("", SUB, "forward", "PASS", ""),
        ("", SUB, "gradient", "PASS", ""),
        ("", "relu[x=5x9;f32;layout=gapped;inplace=x]", "forward", "PASS", ""),
        ("", "relu[x=5x9;f32;into=gapped]", "forward", "UNSUPPORTED", "the backend does not declare the destination"),
        ("undeclared", SUB, "forward", "UNSUPPORTED", "the backend does not declare the destination 'in place'"),
        ("stale", SUB, "forward", "WRONG_VALUE", ""),
        ("another", SUB, "forward", "INPUT_CHANGED", "input a: "),
        ("another", SUB, "gradient", "INPUT_CHANGED", "input a: "),
        ("late", MUL, "gradient", "WRONG_GRADIENT", ""),
        ("late", MUL, "forward", "PASS", ""),
        ("silent", SUB, "forward", "ERROR", "the answer to a call in place has no tensor input.0"),
        ("reshaped", SUB, "forward", "ERROR", "the answer has input.0 in another dtype or shape"),
    ],
)
def test_a_program(programs, fault, case, mode, verdict, said):
    task = Task("exec", case, mode)
    judgement = run_task(programs(fault), task, load(Case.parse(case).op), 30.0).judgement
    assert judgement.verdict == verdict, judgement.message
    assert judgement.message.startswith(said)


@pytest.mark.skipif(os.name != "posix", reason="exec: backends need POSIX")
@pytest.mark.parametrize("words", ['["strided"]', '"in place"', "[[]]"])
def test_words_of_a_program_that_are_none(words):
    path = Path(__file__).parents[2] / "_in_place_program.py"
    command = shlex.join([sys.executable, str(path), f"hello:{words}"])
    with pytest.raises(BackendError, match=r'destinations in the hello .* expected .*\["in place"\]'):
        start_host(f"exec:{command}", HostLimits(1, 30.0, 2**30))


def test_written_needs_a_place_for_each():
    with pytest.raises(ValueError, match="zip"):
        write_results([np.zeros(2)], [None, None])
