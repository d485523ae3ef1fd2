"""The same bits again: many calls, and rows with and without the rows beside them."""

import numpy as np
import pytest
from _ask import attempted
from _runs import opproof

from opproof.backends.numpy import NumPy
from opproof.core.verdicts import Verdict
from opproof.harness.run.task import Task, repro_command_of
from opproof.reports import read_results

RACY = """
import numpy as np

version, device = "1", "bench"
calls = 0


def supports(op, dtypes, params):
    return True


def forward(op, inputs, params):
    global calls
    calls += 1
    (x,) = inputs
    y = np.maximum(x, x.dtype.type(0))
    if calls == 9:
        y.flat[3] = np.nextafter(y.flat[3], x.dtype.type(9))
    return y
"""

#: Sums of a row in another order where there are other rows beside it.
BATCHED = """
import numpy as np

version, device = "1", "bench"


def supports(op, dtypes, params):
    return True


def forward(op, inputs, params):
    (x,) = inputs
    e = np.exp((x - x.max(axis=params["dim"], keepdims=True)).astype(np.float64))
    s = e.sum(axis=params["dim"], keepdims=True)
    y = (e / s).astype(x.dtype)
    return np.nextafter(y, x.dtype.type(1)) if x.shape[0] == {rows} else y
"""
#: Another number every call.
COUNTING = """
import numpy as np

version, device = "1", "bench"
calls = 0


def supports(op, dtypes, params):
    return True


def forward(op, inputs, params):
    global calls
    calls += 1
    return np.asarray(np.dot(*inputs), inputs[0].dtype) + np.float32(calls > 3)
"""
SOFTMAX = "softmax[x=5x33;dim=-1;f32]"


def verdict(tmp_path, capsys, text, case, *options):
    backend, out = tmp_path / "backend.py", tmp_path / "out"
    backend.write_text(text, encoding="utf-8")
    args = ["run", "-b", backend, "--case", case, "--mode", "forward", "-j", 1, "--in-process", "--quiet"]
    opproof(capsys, *args, *options, "--out", out)
    (result,) = read_results(out)[1]
    return result


def test_a_race_that_three_calls_do_not_meet_is_met_by_more(tmp_path, capsys):
    case = "relu[x=7x33;f32]"
    assert verdict(tmp_path, capsys, RACY, case).verdict is Verdict.PASS
    result = verdict(tmp_path, capsys, RACY, case, "--repeat", 20)
    assert result.verdict is Verdict.NOT_REPEATABLE
    assert result.message.startswith("call 4 of 20 gave other bits than the first: output y at [0, 3] is")


@pytest.mark.parametrize("rows", [1, 4])
def test_rows_that_depend_on_those_beside_them_are_found(tmp_path, capsys, rows):
    """A row alone, and all but the first: the whole has five."""
    text = BATCHED.replace("{rows}", str(rows))
    assert verdict(tmp_path, capsys, text, SOFTMAX).verdict is Verdict.PASS
    result = verdict(tmp_path, capsys, text, SOFTMAX, "--invariant", "batch")
    assert result.verdict is Verdict.NOT_REPEATABLE
    which = "slice 2" if rows == 1 else "slices 1 to 4"
    assert f"{which} along axis -2 of x, evaluated without the others, give other bits" in result.message


COMPANIES = {
    "chunk": ("x.shape[0] == 2", "slices 0 to 1 along axis -2 of x, evaluated without the others, give other bits"),
    "order": (
        "x[0, 0] in LAST",
        "slices along axis -2 of x, in reverse order, give other bits than among all: output y",
    ),
    "padding": ("x.shape[0] > 5", "slices along axis -2 of x, followed by as many of other data, give other bits"),
}
IN_COMPANY = """
import numpy as np
LAST = set()

def supports(op, dtypes, params):
    return True


def forward(op, inputs, params):
    (x,) = inputs
    e = np.exp(x - x.max(-1, keepdims=True))
    y = e / e.sum(-1, keepdims=True)
    if {odd}:
        y = np.nextafter(y, np.float32(0))
    if x.shape[0] == 5:
        LAST.add(x[-1, 0])
    return y
"""


@pytest.mark.parametrize("company", COMPANIES)
def test_rows_that_depend_on_their_company_are_found_where_it_is_asked_for(tmp_path, capsys, company):
    odd, said = COMPANIES[company]
    text = IN_COMPANY.replace("{odd}", odd)
    others = ",".join(name for name in ("batch", *COMPANIES) if name not in (company, "chunk"))
    assert verdict(tmp_path, capsys, text, SOFTMAX, "--invariant", others).verdict is Verdict.PASS
    result = verdict(tmp_path, capsys, text, SOFTMAX, "--invariant", company)
    assert result.verdict is Verdict.NOT_REPEATABLE
    assert said in result.message


SPLIT = """
import numpy as np

def supports(op, dtypes, params):
    return op == "matmul" and set(dtypes) == {"f32"}


def product(a, b, parts):
    total = np.zeros((*a.shape[:-1], b.shape[-1]), np.float32)
    for i in range(parts):  # one after the other, so that nothing hangs on shapes but the number of parts
        total += np.add.accumulate(a[..., i::parts, None] * b[i::parts, :], axis=-2)[..., -1, :]
    return total


def forward(op, inputs, params):
    a, b = inputs
    return product(a, b, {parts})
"""


def test_a_product_that_is_split_by_its_rows_depends_on_the_batch_and_one_that_is_not_passes(tmp_path, capsys):
    """A sum is taken apart where there are few rows, as libraries do to fill a processor."""
    case = "matmul[a=6x512;b=512x4;f32]"
    text = SPLIT.replace("{parts}", "4 if a.shape[0] < 4 else 1")
    assert verdict(tmp_path, capsys, text, case).verdict is Verdict.PASS
    result = verdict(tmp_path, capsys, text, case, "--invariant", "batch,chunk,order,padding")
    assert result.verdict is Verdict.NOT_REPEATABLE
    assert "slice 3 along axis -2 of a, evaluated without the others, give other bits than among all" in result.message
    text = SPLIT.replace("{parts}", "4")
    assert verdict(tmp_path, capsys, text, case, "--invariant", "batch,chunk,order,padding").verdict is Verdict.PASS


def test_an_unknown_company_is_told(tmp_path, capsys):
    code, _, err = opproof(capsys, "run", "-b", "numpy", "--invariant", "batches")
    assert (code, "'batches' is not one of 'batch', 'chunk'" in err) == (2, True)


@pytest.mark.parametrize("layout", ["contiguous", "transposed", "sliced", "broadcast", "gapped", "offset"])
def test_rows_that_do_not_depend_pass(tmp_path, capsys, layout):
    text = BATCHED.replace("{rows}", "77")
    case = SOFTMAX.replace("]", f";layout={layout}]")
    assert (
        verdict(tmp_path, capsys, text, case, "--invariant", "batch,chunk,order,padding", "--repeat", 3).verdict
        is Verdict.PASS
    )


def test_gradients_of_rows_too(tmp_path, capsys):
    out = tmp_path / "out"
    args = [
        "--case",
        "layer_norm[x=5x33;weight=33,;bias=33,;normalized_shape=(33);f32]",
        "--invariant",
        "batch,chunk,order,padding",
    ]
    assert opproof(capsys, "run", "-b", "numpy", *args, "--quiet", "-j", 1, "--out", out)[0] == 0
    assert [r.verdict for r in read_results(out)[1]] == [Verdict.PASS, Verdict.PASS]


def test_the_repro_line_asks_the_same():
    line = repro_command_of(Task("torch", SOFTMAX, "forward", repeat=20, invariant=("batch",)))
    assert "--repeat 20 --invariant batch" in line


def test_a_difference_of_one_number_is_told(tmp_path, capsys):
    result = verdict(tmp_path, capsys, COUNTING, "dot[a=5,;b=5,;f32]", "--repeat", 3)
    assert result.verdict is Verdict.NOT_REPEATABLE
    assert "output y at [] is" in result.message


class Racy(NumPy):
    """Right, and in one element an ulp more now and then, as of sums whose order is a race."""

    def __init__(self, share, seed):
        self.share, self.random = share, np.random.default_rng(seed)

    def forward(self, op, inputs, params):
        (y,) = super().forward(op, inputs, params)
        if self.random.random() < self.share:
            y = y.copy()
            y.flat[3] = np.nextafter(y.flat[3], y.dtype.type(9))
        return [y]


class Mixed(NumPy):
    """Right where the call before had the same data; else one of its numbers is added."""

    def __init__(self):
        self.before = None

    def forward(self, op, inputs, params):
        (y,) = super().forward(op, inputs, params)
        before, self.before = self.before, inputs[0].copy()
        if before is not None and not np.array_equal(before, inputs[0]):
            y = y + np.float32(1e-6) * np.abs(before.flat[0])
        return [y]


CASES = [f"exp[x={n}x33;f32]" for n in range(7, 47)]


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_of_a_race_no_state_is_said_to_be_the_cause(share):
    made = [attempted(Racy(share, seed), case).judgement for seed, case in enumerate(CASES)]
    said = [j.message for j in made if j.verdict is Verdict.NOT_REPEATABLE]
    assert len(said) > 8
    other = [text for text in said if "with no other call between" not in text]
    assert len(other) <= 2  # of calls on end that happened to be alike
    assert not any("lain in its memory" in text for text in said)


def test_of_what_the_call_before_leaves_other_data_are_said_to_be_the_cause():
    made = [attempted(Mixed(), case).judgement for case in CASES]
    said = {j.message.partition(";")[0] for j in made if j.verdict is Verdict.NOT_REPEATABLE}
    assert said == {f"the same call gave other bits {when} a call with other data" for when in ("before", "after")}


def test_a_race_is_met_where_the_judged_call_is_made_alone():
    """A second look in a new process, of an answer that was wrong: right there, it was no state that spoilt it."""
    found = attempted(Racy(0.5, 3), CASES[0], single_call=True).judgement
    assert found.verdict is Verdict.NOT_REPEATABLE
    assert found.message == "the same call gave other bits with no other call between"
    assert attempted(Mixed(), CASES[0], single_call=True).judgement.verdict is Verdict.PASS
