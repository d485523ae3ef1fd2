"""Ids of cases: they round-trip, and every malformed one is refused in a sentence of its own."""

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opproof.cases import LEVELS, Case, cases_of, read_rows
from opproof.cases._registry import all_names
from opproof.core.dtypes import DTYPES
from opproof.core.errors import CaseError
from opproof.reference_ops import load, load_file

RESERVED = {"fill", "layout", "needs", "seed", "dtype"}

names = st.from_regex(r"[A-Za-z_][A-Za-z_0-9]{0,8}", fullmatch=True).filter(lambda n: n not in RESERVED)
shapes = st.lists(st.integers(0, 70000), max_size=5).map(tuple)


def is_word(text: str) -> bool:
    """Whether an id can hold the string: it reads as nothing else."""
    try:
        float(text)
    except ValueError:
        return text not in ("true", "false", "None")
    return False


scalars = st.one_of(
    st.integers(),
    st.floats(allow_nan=False),
    st.booleans(),
    st.none(),
    st.from_regex(r"[A-Za-z_][A-Za-z_0-9.+-]{0,8}", fullmatch=True).filter(is_word),
)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=6)


@st.composite
def generated(draw):
    used = draw(st.lists(names, min_size=1, max_size=7, unique=True))
    count = draw(st.integers(1, len(used)))
    tensors = []
    for name in used[:count]:
        earlier = [n for n, _ in tensors]
        shape = draw(st.one_of(shapes, st.sampled_from(earlier)) if earlier else shapes)
        tensors.append((name, shape))
    return Case(
        op=draw(names),
        tensors=tuple(tensors),
        params=tuple((n, draw(values)) for n in used[count:]),
        dtype=draw(st.sampled_from(list(DTYPES))),
        fill=draw(st.sampled_from(["normal", "wide", "candle-2114"])),
        layout=draw(st.sampled_from(["contiguous", "transposed", "a:sliced,b:gapped"])),
        needs=draw(st.none() | st.lists(names, min_size=1, max_size=3).map(tuple)),
        seed=draw(st.integers(0, 2**64)),
    )


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(generated())
def test_generated_cases_round_trip(case):
    again = Case.parse(str(case))
    assert again == case
    assert repr(again) == repr(case)  # 1, 1.0 and True are equal, and must still be told apart


@pytest.mark.parametrize("op", all_names())
def test_registry_round_trips(op):
    found = cases_of(op, "full")
    assert found
    assert [Case.parse(str(c)) for c in found] == found
    assert len({str(c) for c in found}) == len(found)


def test_levels_are_nested():
    for op in all_names():
        smoke, standard, full = (set(map(str, cases_of(op, level))) for level in LEVELS)
        assert smoke
        assert smoke < standard <= full


def test_nan_is_written_and_read():
    case = Case.parse("pad[x=3,;value=nan;f32]")
    assert math.isnan(case.kwargs["value"])
    assert str(case) == "pad[x=3,;value=nan;f32]"
    assert Case.parse(str(case)) == case


def test_grammar():
    text = (
        "op[x=4x33;y=7,;z=0d;w=@x;e=0x3;i=-3;f=0.5;big=1e+30;n=-inf;t=true;b=false;o=None;"
        "v=(1,2);one=(1);empty=();nest=((1,2),(a,0.5));s=tanh;bf16;fill=wide;layout=x:sliced;needs=x,y;seed=7]"
    )
    case = Case.parse(text)
    assert str(case) == text
    assert case.shapes == {"x": (4, 33), "y": (7,), "z": (), "w": (4, 33), "e": (0, 3)}
    assert case.tensors[3] == ("w", "x")
    assert case.kwargs == {
        "i": -3,
        "f": 0.5,
        "big": 1e30,
        "n": -math.inf,
        "t": True,
        "b": False,
        "o": None,
        "v": (1, 2),
        "one": (1,),
        "empty": (),
        "nest": ((1, 2), ("a", 0.5)),
        "s": "tanh",
    }
    assert (case.dtype, case.fill, case.layout, case.needs, case.seed) == ("bf16", "wide", "x:sliced", ("x", "y"), 7)


@pytest.mark.parametrize("equation", ["ij,jk->ik", "i,i->", "bqhd,bkhd->bhqk"])
def test_an_equation_is_a_value(equation):
    case = Case.parse(f"einsum[a=3x5;b=5x3;equation={equation};f32]")
    assert case.kwargs == {"equation": equation}
    assert Case.parse(str(case)) == case


@pytest.mark.parametrize("equation", ["ij,jk", "->ik>", "ij jk->ik", "IJ,jk->ik"])
def test_what_only_looks_like_an_equation_is_none(equation):
    with pytest.raises(CaseError, match="expected a number, true, false, None, a tuple or a word"):
        Case.parse(f"einsum[a=3x5;b=5x3;equation={equation};f32]")


def test_defaults_are_left_out_and_order_is_normal():
    assert str(Case.parse(" op[f16;fill=normal;seed=0;p=1;x=3x3;layout=contiguous] ")) == "op[x=3x3;p=1;f16]"


def test_with_seed():
    assert str(Case.parse("relu[x=3,;f32]").with_seed(9)) == "relu[x=3,;f32;seed=9]"


KNOWN = ", ".join(DTYPES)
PART = f"expected name=value or one of {KNOWN}."
VALUE = "expected a number, true, false, None, a tuple or a word."
SHAPE = "expected op[part;part;...], as in softmax[x=4x33;dim=-1;f32]."
MALFORMED = {
    "": f"malformed case id '': {SHAPE}",
    "relu": f"malformed case id 'relu': {SHAPE}",
    "relu[x=3,;f32": f"malformed case id 'relu[x=3,;f32': {SHAPE}",
    "[x=3,;f32]": f"malformed case id '[x=3,;f32]': {SHAPE}",
    "re lu[x=3,;f32]": f"malformed case id 're lu[x=3,;f32]': {SHAPE}",
    "2relu[x=3,;f32]": f"malformed case id '2relu[x=3,;f32]': {SHAPE}",
    "relu[]": f"malformed part '' in 'relu[]': {PART}",
    "relu[x=3,;;f32]": f"malformed part '' in 'relu[x=3,;;f32]': {PART}",
    "relu[x=3,;f31]": f"malformed part 'f31' in 'relu[x=3,;f31]': {PART[:-1]}; did you mean f32?",
    "relu[x=3,;dtype=f31]": f"malformed part 'dtype=f31' in 'relu[x=3,;dtype=f31]': {PART}",
    "relu[x=3,;dtype=f32]": f"malformed part 'dtype=f32' in 'relu[x=3,;dtype=f32]': {PART}",
    "relu[x=;f32]": f"malformed part 'x=' in 'relu[x=;f32]': {PART}",
    "relu[=3;f32]": f"malformed part '=3' in 'relu[=3;f32]': {PART}",
    "relu[a-b=3;f32]": f"malformed part 'a-b=3' in 'relu[a-b=3;f32]': {PART}",
    "relu[x=3,;x=4,;f32]": "'x' stands twice in 'relu[x=3,;x=4,;f32]'.",
    "relu[x=3,;x=1;f32]": "'x' stands twice in 'relu[x=3,;x=1;f32]'.",
    "relu[x=3,;f32;f16]": "'dtype' stands twice in 'relu[x=3,;f32;f16]'.",
    "relu[x=3,;f32;seed=1;seed=2]": "'seed' stands twice in 'relu[x=3,;f32;seed=1;seed=2]'.",
    "add[a=@b;b=3,;f32]": "'a=@b' in 'add[a=@b;b=3,;f32]' names no earlier tensor.",
    "add[a=3,;b=@b;f32]": "'b=@b' in 'add[a=3,;b=@b;f32]' names no earlier tensor.",
    "relu[x=3,]": f"'relu[x=3,]' names no dtype: expected one of {KNOWN} among its parts.",
    "relu[x=3,;f32;seed=-1]": "seed=-1 in 'relu[x=3,;f32;seed=-1]': expected an integer of 0 or more.",
    "relu[x=3,;f32;seed=one]": "seed=one in 'relu[x=3,;f32;seed=one]': expected an integer of 0 or more.",
    "relu[x=3x;f32]": f"malformed value '3x' in 'relu[x=3x;f32]': {VALUE}",
    "relu[x=-3x4;f32]": f"malformed value '-3x4' in 'relu[x=-3x4;f32]': {VALUE}",
    "sum[x=3,;dim=(1,;f32]": f"malformed value '(1,;f32' in 'sum[x=3,;dim=(1,;f32]': {VALUE}",
    "sum[x=3,;dim=(1,);f32]": f"malformed value '' in 'sum[x=3,;dim=(1,);f32]': {VALUE}",
    "gelu[x=3,;approximate='tanh';f32]": (
        f"""malformed value "'tanh'" in "gelu[x=3,;approximate='tanh';f32]": {VALUE}"""
    ),
}


def test_tensors_of_other_dtypes():
    case = Case.parse("linear[x=5x3;weight=7x3;bias=7,;fill=wide;mixed=bias:f16,weight:bf16;f32;needs=x]")
    assert str(case) == "linear[x=5x3;weight=7x3;bias=7,;f32;mixed=weight:bf16,bias:f16;fill=wide;needs=x]"
    assert [case.dtype_of(name) for name in ("x", "weight", "bias", None)] == ["f32", "bf16", "f16", "f32"]
    assert case.dtypes == ("f32", "bf16", "f16")
    assert str(case.uniform) == "linear[x=5x3;weight=7x3;bias=7,;f32;fill=wide;needs=x]"
    assert Case.parse("add[a=3,;b=3,;f32;mixed=b:f32]").mixed == ()
    again = Case.parse("add3[a=3,;b=3,;c=@b;f32;mixed=b:f16]")
    assert again.dtype_of("c") == "f16"


_NO_TENSOR = "is no tensor that can have a dtype of its own; expected one of a, once, with its dtype: mixed=NAME:f16."
_NO_FLOATS = "expected dtypes of floats, f64, f32, f16, bf16, f8e4m3, f8e5m2, beside one of these."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("add[a=3,;b=@a;f32;mixed=c:f16]", f"'c' {_NO_TENSOR}"),
        ("add[a=3,;b=@a;f32;mixed=b:f16]", f"'b' {_NO_TENSOR}"),
        ("add[a=3,;b=@a;f32;mixed=a:f16,a:bf16]", f"'a' {_NO_TENSOR}"),
        ("add[a=3,;b=3,;f32;mixed=b]", _NO_FLOATS),
        ("add[a=3,;b=3,;f32;mixed=b:i8]", _NO_FLOATS),
        ("add[a=3,;b=3,;i8;mixed=b:f32]", _NO_FLOATS),
    ],
)
def test_what_is_no_tensor_of_another_dtype(text, said):
    with pytest.raises(CaseError) as raised:
        Case.parse(text)
    assert str(raised.value).endswith(said)


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed(text):
    with pytest.raises(CaseError, match=re.escape(MALFORMED[text]) + "$"):
        Case.parse(text)


def test_rows_name_their_dtypes():
    rows = {"smoke": ["x=1,", "x=2,;f16,f64"], "standard": ["x=1,", "x=3,"]}
    assert [str(c) for c in read_rows("op", rows, "smoke")] == [
        *(f"op[x=1,;{d}]" for d in ("f32", "f16", "bf16", "f64")),
        *("op[x=2,;f16]", "op[x=2,;f64]"),
    ]
    assert [str(c) for c in read_rows("op", rows, "full")][6:] == [f"op[x=3,;{d}]" for d in ("f32", "f16", "bf16")]


def test_unknown_level():
    with pytest.raises(CaseError, match="^unknown level 'hard': expected one of smoke, standard, full.$"):
        read_rows("op", {}, "hard")


def test_operator_without_case_file():
    assert cases_of("no_such_operator") == []


OWN = '"""pour: x.\n"""\n\nSMOKE = ["x={size},"]\nSTANDARD = ["x=9,;f32"]\n\n\ndef forward(x):\n    return x\n'


def test_an_operator_of_ones_own_brings_its_rows(tmp_path):
    """Each file its own, of whatever name others were loaded before."""
    found = []
    for size in (3, 4):
        file = tmp_path / str(size) / "pour.py"
        file.parent.mkdir()
        file.write_text(OWN.format(size=size), encoding="utf-8")
        found.append(load_file(file))
    for op, size in zip(found, (3, 4), strict=True):
        assert op.rows == {"smoke": (f"x={size},",), "standard": ("x=9,;f32",), "full": ()}
        assert next(str(c) for c in cases_of(op.name, "smoke", op.rows)) == f"pour[x={size},;f32]"
        assert len(cases_of(op.name, rows=op.rows)) == 5
    assert cases_of("pour") == []


def test_built_in_rows_stand_in_cases():
    op = load("softmax")
    assert not any(op.rows.values())
    assert cases_of("softmax", rows=op.rows) == cases_of("softmax")
