"""Colours: on a terminal, unless NO_COLOR says no; never in a file."""

import sys

import pytest

from opproof.reports.colour import paint_text

TEXT = "conv2d forward, WRONG_VALUE: 2 records, f32\n\nmine fails 2 of 3 records: 1 cause in 1 operator (conv2d)."
GOOD = "mine passes 3 of 3 records in 1 operator, bit for bit."


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return monkeypatch


@pytest.mark.usefixtures("terminal")
def test_verdicts_and_the_outcome_have_colours():
    text = paint_text(TEXT)
    assert "\x1b[31mWRONG_VALUE\x1b[0m" in text
    assert text.endswith("\x1b[1;31m fails 2 of 3 records: 1 cause in 1 operator (conv2d).\x1b[0m")
    assert paint_text(GOOD).startswith("mine\x1b[1;32m passes")


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_none_where_none_is_wanted(terminal, name, value):
    terminal.setenv(name, value)
    assert paint_text(TEXT) == TEXT


def test_none_in_a_file(monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False, raising=False)
    assert paint_text(TEXT) == TEXT
