"""An operator's page holds its formula typeset, all parts of its docstring, its cases and backends."""

from __future__ import annotations

import pytest
from _site import parts

from opproof.cases import Case
from opproof.reference_ops import load, names

operators, typeset, support = parts["operator_pages"], parts["typeset"].typeset, parts["support"]


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("x / sqrt(var + eps)", '<var>x</var> / √<span class="root">var + <var>ε</var></span>'),
        ("a^(b - 1) g", "<var>a</var><sup><var>b</var> − 1</sup> <var>g</var>"),
        ("2^-24", "2<sup>-24</sup>"),
        ("along `dim` a cell <= 3", "along <code>dim</code> a cell ≤ 3"),
        ("the token's width", "the token&#x27;s width"),
        ("dweight", "<var>dweight</var>"),
    ],
)
def test_a_formula_is_typeset(text, html):
    assert typeset(text, {"x", "weight", "eps"}) == html


def test_every_docstring_is_on_its_page_as_a_whole():
    for name in names():
        doc = load(name).doc
        found = operators.parts(doc)
        assert {"formula", "Shapes", "Source", "PyTorch", "ONNX", "ggml"} <= found.keys(), name
        keys = sum(f"{key}:" in doc for key in found)
        assert sum(len(v.split()) for v in found.values()) >= len(doc.split()) - keys - 1, name


def test_a_page_tells_parameters_cases_and_backends():
    text = operators.page(
        load("elu"),
        {"smoke": [1], "standard": [Case.parse("elu[x=7x33;f32]")], "full": [1, 2]},
        {"torch": "pass / pass  f32", "warp": "– / –"},
    )
    for part in (
        "# elu",
        "| `alpha` | `1.0` |",
        "1 at smoke level, 1 at standard level, 2 at full level",
        "\nelu[x=7x33;f32]\n",
        "Those at standard level have 28 of 2,521 pairs",
        "| [torch](../backends/torch.md) | pass / pass  f32 |",
        "| ggml | ggml\\_elu (alpha = 1) |",
        "def vjp(",
    ):
        assert part in text
    assert "warp" not in text
    assert "def torch(" not in text


def test_an_operator_without_a_backend_says_so():
    assert "None of the libraries" in operators.page(load("elu"), {"standard": []}, {"warp": "– / –"})


def test_every_operator_has_its_state_in_every_backend():
    table = support.states()
    assert list(table) == names(), "run `python docs/parts/support.py`"
    assert all(tuple(by) == support.BACKENDS for by in table.values())


def test_states_are_what_a_backend_says(monkeypatch):
    class Some:
        def supports(self, op, dtypes, params):
            if op == "cos":
                raise support.Unsupported("no cosine")
            return op != "sin"

        def vjp(self):
            """Its gradients."""

    monkeypatch.setattr(support, "load_backend", lambda _: Some())
    monkeypatch.setattr(support, "names", lambda: ["cos", "floor", "sin", "tan"])
    asked = support.asked("some")
    assert "tan" in asked[support.BOTH]
    assert not {"cos", "sin"} & {*asked[support.BOTH], *asked[support.VALUES]}
