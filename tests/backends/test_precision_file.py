"""precision.toml: what it declares, for which variant, and what is said of a file that is not one."""

import pytest

from opproof.backends import precision
from opproof.backends.load import list_built_in, load_backend
from opproof.backends.loaded import resolve_members
from opproof.core.errors import BackendError
from opproof.reference_ops import names

FILE = """
[[precision]]
op = "softmax"
mode = "gradient"
dtypes = ["f16", "bf16"]
compute = "storage"
units_without = inf
units_with = 1.5

[[precision]]
op = "exp"
mode = "forward"
dtypes = ["bf16"]
rounding = "truncate"
backends = ["mine:fast"]
"""


def read(folder, text):
    path = folder / "precision.toml"
    path.write_text(text, encoding="utf-8")
    return precision.read(path)


def test_declarations(tmp_path):
    compute, rounding = precision.make_declarations(read(tmp_path, FILE))
    assert compute("softmax", "bf16", "gradient") == "storage"
    assert rounding("softmax", "bf16", "gradient") is None
    assert rounding("exp", "bf16", "forward") == "truncate"
    for other in [("softmax", "f32", "gradient"), ("softmax", "bf16", "forward"), ("max", "bf16", "gradient")]:
        assert compute(*other) is None


def test_variants(tmp_path):
    softmax, exp = read(tmp_path, FILE)
    assert [softmax.holds_for(spec) for spec in ("mine", "mine:fast")] == [True, True]
    assert [exp.holds_for(spec) for spec in ("mine", "mine:fast")] == [False, True]


def test_no_file_declares_nothing(tmp_path):
    assert precision.read(tmp_path / "none.toml") == ()
    compute, _ = precision.load_built_in("numpy")
    assert compute("softmax", "bf16", "gradient") is None


ENTRY = '[[precision]]\nop = "exp"\nmode = "forward"\ndtypes = ["bf16"]\ncompute = "storage"\n'
BAD = {
    "[[precision": "is not TOML",
    ENTRY.replace("op =", "operator ="): "unknown field `operator`",
    ENTRY.replace('mode = "forward"\n', ""): "missing required field `mode`",
    ENTRY.replace("forward", "backward"): "Invalid enum value 'backward'",
    ENTRY.replace("bf16", "bf8"): "dtypes of exp are ['bf8']; expected some of f64, f32, f16, bf16",
    ENTRY.replace('["bf16"]', "[]"): "dtypes of exp are []",
    ENTRY.replace('compute = "storage"\n', ""): "neither compute nor rounding of exp",
    ENTRY + "units_with = true\n": "Expected `float | null`, got `bool`",
    "[[known]]\n": "unknown field `known`",
}


@pytest.mark.parametrize(("text", "words"), BAD.items(), ids=list(BAD.values()))
def test_a_bad_file_is_one_sentence(tmp_path, text, words):
    with pytest.raises(BackendError) as caught:
        read(tmp_path, text)
    said = str(caught.value)
    assert words in said
    assert str(tmp_path / "precision.toml") in said
    assert "\n" not in said
    assert said.endswith(".")


@pytest.mark.parametrize("name", list_built_in())
def test_files_of_the_adapters(name):
    entries = precision.read(precision.path_of(name))
    assert {e.op for e in entries} <= set(names())
    keys = [(e.op, e.mode, d, e.backends) for e in entries for d in e.dtypes]
    assert len(keys) == len(set(keys)), "declared twice"


@pytest.mark.parametrize("answer", ["-inputs[0].copy()", "(op, 3)"])
def test_a_function_that_is_called_so_by_chance(tmp_path, answer):
    """Of a file whose `compute` is how it computes, as its parameters say: it declares nothing."""
    text = f"def compute(op, inputs, params):\n    return {answer}\n\n\n"
    text += "def forward(op, inputs, params):\n    return compute(op, inputs, params)\n"
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    assert not resolve_members(load_backend(str(tmp_path / "mine.py")), "mine").declared("neg", "f32", "forward")


def test_a_declaration_that_raises(tmp_path):
    text = "def compute(op, dtype, _mode):\n    return {}[op]\n\n\n"
    text += "def forward(op, inputs, params):\n    return inputs[0]\n"
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    loaded = resolve_members(load_backend(str(tmp_path / "mine.py")), "mine")
    said = r"its compute\('neg', 'f32', 'forward'\) raised KeyError: .* needs another name"
    with pytest.raises(BackendError, match=said):
        loaded.declared("neg", "f32", "forward")
