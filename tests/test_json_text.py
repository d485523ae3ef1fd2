"""Summaries are laid out so that a diff shows the entries that differ, and no more."""

import json

import pytest

from opproof.core.text import dump_json, round_figure

LONG = "x" * 170


@pytest.mark.parametrize(
    "value",
    [{}, [], {"a": []}, {"a": {"b": [1, [2, 3]], "c": "ü"}}, [[1, -0.0, "inf"], {"a": None}], {"a": {"b": LONG}}],
)
def test_what_is_written_is_read(value):
    assert json.loads(dump_json(value)) == value


def test_an_entry_stands_on_a_line():
    rows = [{"name": LONG, "figures": [1, 2]}, {"name": "b", "figures": [3]}]
    groups = [{"name": "a", "records": [[1, LONG], [2, "b"]]}]
    assert dump_json({"rows": rows, "groups": groups}).splitlines() == [
        "{",
        ' "rows": [',
        f'  {{"name": "{LONG}", "figures": [1, 2]}},',
        '  {"name": "b", "figures": [3]}',
        " ],",
        ' "groups": [',
        "  {",
        '   "name": "a",',
        '   "records": [',
        f'    [1, "{LONG}"],',
        '    [2, "b"]',
        "   ]",
        "  }",
        " ]",
        "}",
    ]


def test_a_number_that_json_has_not_is_refused():
    with pytest.raises(ValueError, match="JSON"):
        dump_json([float("nan")])


@pytest.mark.parametrize(
    ("value", "kept_as"), [(1234.5, 1230), (0.123456, 0.123), (float("inf"), "inf"), (16.0, 16), (-0.0, -0.0)]
)
def test_figures_keep_digits_that_count(value, kept_as):
    assert round_figure(value, 3) == kept_as
    assert type(round_figure(value, 3)) is type(kept_as)
