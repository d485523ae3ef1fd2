"""Causes of known failures, executed: what each explains, and what it must not: another defect beneath the entry."""

import numpy as np
import pytest
from _ask import judged

from opproof.cases import Case
from opproof.core.errors import UsageError
from opproof.core.verdicts import Mode
from opproof.harness.judge.causes import explains, find_causes
from opproof.harness.judge.judgement import Rules
from opproof.harness.known_failures.known import Known, read_known
from opproof.harness.reference.question import make_question
from opproof.reference_ops import load

FORMULAS = '''
import numpy as np


def halve_afterwards(x):
    """Halve e^x after it has overflowed."""
    return (np.exp(x) - np.exp(-x)) / 2


def take_last(x, *, dim, keepdim):
    """Take the last of equal elements."""
    n = x.shape[dim]
    return n - 1 - np.argmax(np.flip(x, axis=dim), axis=dim)


def forget_second(g, y, a, b):
    """Give the second operand no gradient."""
    return g * b, np.zeros(b.shape, like=b)


def first_column(question):
    mask = np.zeros(question.inputs[0].shape, dtype=bool)
    mask[:, 0] = True
    return mask


def everywhere(question):
    return np.ones(question.inputs[0].shape, dtype=bool)


def is_square(question):
    return question.inputs[0].shape[0] == question.inputs[0].shape[1]


def fails(x, **params):
    raise ValueError("not here")


STEPS = {"sinh": halve_afterwards}
'''


@pytest.fixture
def entry(tmp_path):
    (tmp_path / "causes.py").write_text(FORMULAS, encoding="utf-8")

    def make(*operators, **fields):
        return Known(reason="r", operators=operators, folder=str(tmp_path), **fields)

    return make


class Own:
    """A backend of one function of values."""

    name, version, device = "own", "1", "cpu"

    def __init__(self, forward=None, vjp=None):
        self._forward, self._vjp = forward, vjp

    def forward(self, op, inputs, params):
        with np.errstate(all="ignore"):
            return self._forward(*inputs, **params)

    def vjp(self, op, inputs, params, cotangents, needs):
        with np.errstate(all="ignore"):
            found = self._vjp(cotangents[0], *inputs)
            return found if isinstance(found, tuple) else (found,)


def is_explained(known, backend, case, mode="forward"):
    """Whether the entry explains the failure of the backend, which must fail."""
    judgement = judged(backend, case, mode)
    assert judgement.verdict in ("WRONG_VALUE", "WRONG_GRADIENT")
    parsed = Case.parse(case)
    return explains(known, make_question(parsed, load(parsed.op), Mode(mode)).case_data, judgement, Rules())


SINH = "sinh[x=66x11;f32;fill=branches]"


def halved(x, factor=1.0):
    return (np.exp(x) - np.exp(-x)) / 2 * np.float32(factor)


def test_a_formula_that_overflows_in_float32(entry):
    known = entry("sinh", forward="halve_afterwards", dtypes=("f32",))

    def late(x):  # right but for its overflow, as a library is that has a branch for small numbers
        y = np.sinh(x.astype(np.float64)).astype(np.float32)
        return np.where(np.abs(x) > 88.72, halved(x), y)

    assert is_explained(known, Own(late), SINH)
    assert not is_explained(known, Own(lambda x: 10 * late(x)), SINH)
    assert not is_explained(known, Own(lambda x: -late(x)), SINH)
    assert not is_explained(known, Own(np.zeros_like), SINH)
    assert not is_explained(known, Own(lambda x: late(x) * np.float32(1.001)), SINH)
    assert not is_explained(entry("sinh", forward="halve_afterwards", dtypes=("f16",)), Own(late), SINH)
    assert not is_explained(entry("cosh", forward="halve_afterwards"), Own(late), SINH)


def test_a_table_has_a_formula_for_each_operator_and_says_nothing_of_others(entry):
    known = entry("sinh", "cosh", forward="STEPS")

    def late(x):
        return np.where(np.abs(x) > 88.72, halved(x), np.sinh(x.astype(np.float64)).astype(np.float32))

    assert is_explained(known, Own(late), SINH)
    assert not is_explained(known, Own(lambda x: -late(x)), SINH)
    in_f16 = entry("sinh", "cosh", forward="STEPS", arithmetic="f16")
    own = entry("cosh", arithmetic="f16")
    case = SINH.replace("sinh", "cosh")
    stored = Own(lambda x: np.cosh(x.astype(np.float16)).astype(np.float32))
    assert is_explained(own, stored, case)
    assert not is_explained(in_f16, stored, case)


SUM = "sum[x=4x4096;dim=-1;f16;fill=offset]"


def in_turn(x, *, dim, keepdim):
    return np.add.accumulate(x, axis=dim).take(-1, axis=dim).reshape(np.sum(x, axis=dim, keepdims=keepdim).shape)


def test_sums_that_stand_still_in_float16(entry):
    case = "sum[x=3x4097;dim=-1;f16;fill=positive]"
    known = entry("sum", arithmetic="dtype", dtypes=("f16",))

    def reversed_(x, **params):
        return in_turn(np.flip(x, axis=params["dim"]), **params)

    failing = [c for c in (case, SUM) if _fails(Own(in_turn), c)]
    assert failing
    for one in failing:
        assert is_explained(known, Own(in_turn), one)
        assert is_explained(known, Own(reversed_), one)
        assert not is_explained(known, Own(lambda x, **p: in_turn(x, **p) * np.float16(4)), one)
        assert not is_explained(known, Own(lambda x, **p: in_turn(x, **p) * np.float16(0)), one)
        assert not is_explained(entry("sum", arithmetic="storage"), Own(in_turn), one)


def _fails(backend, case):
    try:
        return judged(backend, case, "forward").verdict == "WRONG_VALUE"
    except Exception:
        return False


def test_a_convention_of_ties(entry):
    case = "argmax[x=4x33;dim=-1;f32;fill=ties]"

    def last(x, *, dim, keepdim):
        return (x.shape[dim] - 1 - np.argmax(np.flip(x, axis=dim), axis=dim)).astype(np.int64)

    assert is_explained(entry("argmax", forward="take_last"), Own(last), case)
    assert not is_explained(entry("argmax", forward="take_last"), Own(lambda x, **p: last(x, **p) // 2), case)


MUL = "mul[a=7x33;b=7x33;f32]"


def test_zeros_are_explained_by_zeros_alone(entry):
    """Where sums cancel in 16 bits the bound of the changed reference holds 0 everywhere, and evaluations do too."""
    case = "std[x=5x65;dim=-1;f16;fill=offset-1e3]"
    zeros = Own(vjp=lambda g, x: np.zeros_like(x))
    assert not is_explained(entry("std", arithmetic="dtype"), zeros, case, "gradient")
    assert not is_explained(entry("std", arithmetic="storage"), zeros, case, "gradient")


def test_a_gradient_that_is_forgotten(entry):
    known = entry("mul", vjp="forget_second")
    assert known.every_mode == (Mode.GRADIENT,)
    assert is_explained(known, Own(vjp=lambda g, a, b: (g * b, np.zeros_like(b))), MUL, "gradient")
    assert not is_explained(known, Own(vjp=lambda g, a, b: (g * a, np.zeros_like(b))), MUL, "gradient")
    assert not is_explained(known, Own(vjp=lambda g, a, b: (g * b, -g * a)), MUL, "gradient")


def test_elements_where_anything_may_stand(entry):
    def garbage(x):
        y = np.tanh(x)
        y[:, 0] = 1e30
        return y

    case = "tanh[x=7x33;f32]"
    assert is_explained(entry("tanh", undefined="first_column"), Own(garbage), case)
    assert not is_explained(entry("tanh", undefined="first_column"), Own(lambda x: -garbage(x)), case)
    assert not is_explained(entry("tanh", undefined="first_column", when="is_square"), Own(garbage), case)


def test_memory_that_is_never_written_may_hold_zeros(entry):
    """Of which the rest, that is written, is no excuse."""
    case, zeros = "tanh[x=7x33;f32]", Own(np.zeros_like)
    assert is_explained(entry("tanh", undefined="everywhere"), zeros, case)
    assert not is_explained(entry("tanh", undefined="first_column"), zeros, case)


def test_where_anything_may_stand_nothing_tells_of_a_whole_array(entry):
    """A variance that is lost makes most of an array NaN, and of the rest numbers that err as those of no array do."""

    def lose(x):
        y = np.tanh(x)
        y[:, 0] += 8 * np.spacing(y[:, 0])
        y[0, 0] = 7
        return y

    case = "tanh[x=4096x1;f32]"
    assert is_explained(entry("tanh", undefined="first_column"), Own(lose), case)


def test_a_whole_array_that_leans(entry):
    """Every element is within its bound: the changed reference has to pass as a whole."""
    case = "mul[a=64x65;b=64x65;f32]"
    times = np.float32(1 + 2**-20)
    backend = Own(lambda a, b: a * b * times)
    assert judged(backend, case, "forward").message.startswith("every element is within its bound")
    assert not is_explained(entry("mul", arithmetic="f32"), backend, case)


def test_faults_are_told_by_what_is_said_or_where_they_happen(entry):
    class Raising(Own):
        def forward(self, op, inputs, params):
            raise RuntimeError("grad_input must be contiguous")

    def explained(known, case="tanh[x=7x33;f32]"):
        parsed = Case.parse(case)
        judgement = judged(Raising(), case, "forward")
        assert judgement.verdict == "ERROR"
        return explains(known, make_question(parsed, load(parsed.op), Mode.FORWARD).case_data, judgement, Rules())

    assert explained(entry("tanh", verdict="ERROR", message="must be contiguous"))
    assert not explained(entry("tanh", verdict="CRASH", message="must be contiguous"))
    assert not explained(entry("tanh", verdict="ERROR", message="must be strided"))
    assert not explained(entry("tanh", verdict="ERROR", message="must be", when="is_square"))
    assert explained(entry("tanh", verdict="ERROR", when="is_square"), "tanh[x=33x33;f32]")


def test_what_raises_explains_nothing_and_is_kept(entry):
    case = "tanh[x=7x33;f32]"
    parsed = Case.parse(case)
    judgement = judged(Own(lambda x: x), case, "forward")
    posed = make_question(parsed, load("tanh"), Mode.FORWARD).case_data
    assert find_causes([entry("tanh", forward="fails")], posed, judgement, Rules()) == (
        "forward=fails: ValueError: not here",
    )


def test_a_list_reads_its_functions(tmp_path):
    (tmp_path / "causes.py").write_text(FORMULAS, encoding="utf-8")
    path = tmp_path / "known.toml"
    path.write_text('[[known]]\noperators = ["sinh"]\nforward = "halve_afterwards"\nreason = "r"\n', encoding="utf-8")
    (found,) = read_known(path)
    assert found.cause == "forward=halve_afterwards"
    assert found.folder == str(tmp_path.resolve())


def test_a_list_reads_functions_that_are_derived(tmp_path):
    derived = f"{FORMULAS}\n\nsquared = (lambda f: lambda x: f(f(x)))(halve_afterwards)\n"
    (tmp_path / "causes.py").write_text(derived, encoding="utf-8")
    path = tmp_path / "known.toml"
    path.write_text('[[known]]\noperators = ["sinh"]\nforward = "squared"\nreason = "r"\n', encoding="utf-8")
    (found,) = read_known(path)
    assert found.cause == "forward=squared"
    path.write_text(path.read_text(encoding="utf-8").replace("squared", "cubed"), encoding="utf-8")
    with pytest.raises(UsageError, match="cubed"):
        read_known(path)


PRODUCT = "prod[x=5x2560;dim=-1;f32;fill=outliers]"


def in_lanes(x, *, dim, keepdim):
    """The products of every 64th factor, multiplied at the end."""
    return np.multiply.reduce(np.multiply.reduce(x.reshape(len(x), -1, 64), axis=1), axis=-1)


def test_factors_that_are_dealt_to_lanes_overflow_where_the_product_is_0(entry):
    known = entry("prod", arithmetic="storage")
    assert is_explained(known, Own(in_lanes), PRODUCT)
    assert not is_explained(known, Own(lambda x, **p: np.nan_to_num(in_lanes(x, **p), nan=7.0)), PRODUCT)


def test_an_entry_of_a_dtype_speaks_of_tensors_of_it(entry):
    """Gradients of f16 are added up in f16, whatever the dtype of the result."""
    known = entry("mul_mat_id", dtypes=("f16",), arithmetic="dtype")
    assert known.covers_case("mul_mat_id[a=3x3x1;b=8x1x1;ids=8x1;f32;mixed=a:f16]")
    assert known.covers_case("mul_mat_id[a=3x3x1;b=8x1x1;ids=8x1;f16]")
    assert not known.covers_case("mul_mat_id[a=3x3x1;b=8x1x1;ids=8x1;f32;mixed=a:bf16]")
    assert not known.covers_case("mul_mat_id[a=3x3x1;b=8x1x1;ids=8x1;f32]")
    case = "mul_mat_id[a=3x3x1;b=900x1x1;ids=900x1;f32;mixed=a:f16;fill=positive]"

    def add_up_in_float16(g, a, b, ids):
        da = np.zeros(a.shape, np.float16)
        np.add.at(da, ids[:, 0], (g[:, 0, :, None] * b[:, 0, None, :].astype(np.float32)).astype(np.float16))
        return da, np.einsum("tm,tmk->tk", g[:, 0], a[ids[:, 0]].astype(np.float32))[:, None].astype(np.float32), None

    class Mixed(Own):
        mixed = True

    assert is_explained(known, Mixed(lambda a, b, ids: b, add_up_in_float16), case, "gradient")
    in_float32 = entry("mul_mat_id", dtypes=("f16",), arithmetic="f32")
    assert not is_explained(in_float32, Mixed(lambda a, b, ids: b, add_up_in_float16), case, "gradient")
