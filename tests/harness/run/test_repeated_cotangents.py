"""Cotangents with a stride of 0, as sum(dim=0) gives them: rows of every operator, alone, and for gradients alone."""

import numpy as np
import pytest

from opproof.cases import Case, cases_of
from opproof.cases._layouts import cotangent_layout, layouts_of
from opproof.core.errors import CaseError
from opproof.core.verdicts import Mode
from opproof.harness.reference.question import make_question
from opproof.harness.run.plan import Selection, make_tasks, select_cases
from opproof.harness.run.scheduler import Pool
from opproof.harness.run.task import HostLimits, Task
from opproof.reference_ops import load, names

REPEATED = "layout=cotangent:broadcast"
ROWS = (
    "softmax[x=7x33;dim=-1;f32]",
    "softmax[x=5x33;dim=-1;f32;layout=gapped]",
    f"softmax[x=7x33;dim=-1;f32;{REPEATED}]",
)

BACKEND = """
import numpy as np


def forward(op, inputs, params):
    e = np.exp(inputs[0] - inputs[0].max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def vjp(op, inputs, params, cotangents, needs):
    g, y = cotangents[0], forward(op, inputs, params)
    if g.strides[0] == 0:
        DEED
    return [y * (g - (g * y).sum(-1, keepdims=True))]
"""


def judged(folder, deed):
    path = folder / "softmax.py"
    path.write_text(BACKEND.replace("DEED", deed), encoding="utf-8")
    with Pool(HostLimits(1, 60.0, 2 << 30)) as pool:
        return [r.verdict for r in pool.run([Task(str(path), case, "gradient") for case in ROWS])]


@pytest.mark.parametrize(
    "deed",
    [
        "g = np.concatenate([g[:1], 0 * g[1:]])",
        "g = g / len(g)",
        "g = np.ones_like(g)",
    ],
)
def test_a_stride_of_0_that_is_misread_fails_there_alone(tmp_path, deed):
    assert judged(tmp_path, deed) == ["PASS", "PASS", "WRONG_GRADIENT"]


def test_an_honest_one_passes(tmp_path):
    assert judged(tmp_path, "pass") == ["PASS"] * 3


def test_they_are_asked_for_gradients_alone():
    selected = [c for c in select_cases(Selection(ops=("softmax",))) if cotangent_layout(c) == "broadcast"]
    assert selected
    assert all(str(c).endswith(f"{REPEATED}]") for c in selected)
    assert {t.mode for t in make_tasks(["numpy"], selected, Selection())} == {"gradient"}


def test_an_operator_without_gradient_has_none():
    without = [name for name in names() if load(name).vjp is None]
    selected = select_cases(Selection(ops=tuple(without)))
    assert without
    assert not [c for c in selected if REPEATED in str(c)]


def test_the_cotangents_are_equal_along_their_first_axis_and_nothing_else_is():
    case = Case.parse(ROWS[-1])
    posed = make_question(case, load("softmax"), Mode.GRADIENT).case_data
    (g,) = posed.cotangents
    assert np.ptp(g, 0).max() == 0 < np.ptp(g, 1).min()
    assert layouts_of(case) == {"x": "contiguous"}
    assert np.ptp(posed.inputs[0], 0).min() > 0


@pytest.mark.parametrize(
    ("layout", "why"),
    [
        ("cotangents:broadcast", "no tensor 'cotangents'; there are x"),
        ("cotangent:broadcst", "unknown layout 'broadcst'"),
    ],
)
def test_a_name_or_layout_that_is_none_is_refused(layout, why):
    with pytest.raises(CaseError, match=why):
        layouts_of(Case.parse(f"softmax[x=7x33;dim=-1;f32;layout={layout}]"))


@pytest.mark.parametrize("layout", ["transposed", "sliced", "broadcast", "x:transposed"])
def test_a_layout_of_all_is_that_of_the_cotangents_where_no_elements_coincide(layout):
    case = Case.parse(f"softmax[x=7x33;dim=-1;f32;layout={layout}]")
    assert cotangent_layout(case) == (layout if layout in ("transposed", "sliced") else "contiguous")


def test_no_operator_has_a_tensor_of_that_name():
    assert not [name for name in names() if "cotangent" in load(name).tensors]


def test_every_differentiable_operator_has_one():
    with_one = {c.op for name in names() for c in cases_of(name) if REPEATED in str(c)}
    assert {name for name in names() if load(name).vjp is not None} <= with_one
