"""What only cases of a space put together: data, bounds and calls agree where two properties meet."""

import numpy as np
import pytest
from _ask import judged

from opproof.backends.numpy import create
from opproof.cases import Case
from opproof.core.verdicts import Mode
from opproof.harness.reference.expected import is_bitwise
from opproof.harness.reference.question import make_question
from opproof.harness.reference.valid_case import check_case
from opproof.reference_ops import load


def question_of(text, mode=Mode.FORWARD):
    case = Case.parse(text)
    return make_question(case, load(case.op), mode).case_data


@pytest.mark.parametrize(("alpha", "exact"), [("2.0", True), ("-0.25", True), ("1.00432", False)])
def test_whole_numbers_times_a_factor_of_many_digits_are_not_whole(alpha, exact):
    assert is_bitwise(question_of(f"addmv[x=3,;a=3x5;b=5,;alpha={alpha};f32;fill=exact]")) is exact


def test_slices_that_are_one_in_memory_stay_equal_where_numbers_are_replaced():
    posed = question_of("acos[x=8x256;f16;fill=branches;layout=x:broadcast]", Mode.GRADIENT)
    (x,) = posed.inputs
    assert np.array_equal(x, np.broadcast_to(x[:1], x.shape))


@pytest.mark.parametrize(
    "text",
    [
        "addcmul[x=13x1x256;a=256,;b=@x;value=1.00432;f16;fill=huge;layout=x:broadcast,a:broadcast]",
        "acos[x=8x256;f16;fill=branches;layout=x:broadcast]",
        "addmv[x=3,;a=3x131;b=131,;beta=-1.0;alpha=1.00432;f32;fill=exact;layout=b:gapped]",
    ],
)
@pytest.mark.parametrize("mode", list(Mode)[:2])
def test_the_references_pass_where_two_properties_meet(text, mode):
    assert str(judged(create(), text, str(mode)).verdict) == "PASS"


def test_a_tensor_that_is_shared_and_given_twice_is_still_asked_of_in_halves():
    class Stale:
        """Adds the product of the first call's data, whatever it is given later."""

        version, device = "1", "test"
        kept = None

        def supports(self, op, dtypes, params):
            return True

        def forward(self, op, inputs, params):
            x, a, b = inputs
            if self.kept is None or self.kept.shape != x.shape:
                self.kept = (x + params["value"] * a * b).astype(x.dtype)
            return self.kept

    text = "addcmul[x=13x256;a=13x256;b=@x;value=1.0;f32;layout=x:broadcast]"
    assert str(judged(Stale(), text).verdict) == "WRONG_VALUE"


@pytest.mark.parametrize(
    "text",
    [
        "avg_pool1d[x=5x1x1;kernel_size=7;stride=1;padding=(1,2);f32]",
        "max_pool1d[x=5x1x1;kernel_size=7;stride=1;padding=1;f32]",
        "conv1d[x=5x1x2;weight=3x1x7;f32]",
    ],
)
def test_a_window_that_does_not_fit_is_no_case(text):
    with pytest.raises(ValueError, match="fit"):
        check_case(Case.parse(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("masked_fill[x=0d;mask=1,;value=1.0;f32]", r"a mask of \(1,\) does not broadcast to \(\)"),
        ("solve_triangular[a=2x2;b=1x3;upper=false;left=false;f32]", "no solution has a of"),
        ("embedding[weight=2x13;indices=5,;padding_idx=2;f32]", "padding_idx is 2, and there are 2 rows"),
        (
            "max_pool2d[x=2x3x1x9;kernel_size=2;padding=1;dilation=2;f32]",
            "a window of 2 cells, 2 apart, meets none of 1",
        ),
        ("max_pool1d[x=2x3x9;kernel_size=1;padding=(0,1);f32]", "lie wholly on padding"),
        ("pad[x=7x9;pad=(1,2);mode=circular;value=3.0;f32]", "mode=circular fills nothing in"),
        ("pad[x=7x2;pad=(1,2);mode=reflect;f32]", "2 cells mirror 2, which are too few"),
        ("pad[x=7x1;pad=(-2,3);f32]", "2 cells are taken away of 1"),
        ("roll[x=7x9;shifts=(1,2);dims=1;f32]", "are 2, and dims=1 are 1"),
        ("pow[a=5,;b=5,;exponent=2.0;f32]", "one of them"),
        ("var[x=3x2;dim=-1;correction=2;f32]", "of 2 numbers correction=2 leaves no degree of freedom"),
        ("std[x=3x1;dim=-1;correction=2;f32]", "of 1 numbers correction=2 leaves no degree of freedom"),
        ("set_rows[x=4x3;source=5x3;indices=5,;f32]", "indices names a place twice"),
        ("scatter[x=5x3;index=2x3;src=2x3;dim=0;f32;layout=index:broadcast]", "index names a place twice"),
    ],
)
def test_shapes_that_do_not_fit_are_no_case(text, said):
    with pytest.raises(ValueError, match=said):
        check_case(Case.parse(text))


def test_results_that_take_too_much_memory_are_no_case_of_a_space():
    with pytest.raises(ValueError, match="diag takes more than 256 MiB to compute it"):
        check_case(Case.parse("diag[x=65535,;f32]"), memory=2**28)
