"""Texts of others: what does not print is escaped, what is too long is cut, and nothing raises."""

import sys
import time
import unicodedata

import pytest

from opproof.core.text import MOST, plain, visible

SEEN = {
    "": "",
    "softmax of 3 × 4, ε = 1e-5: é, 漢字, 😀": "softmax of 3 × 4, ε = 1e-5: é, 漢字, 😀",
    "a\tb\nc\r\nd": "a\tb\nc\nd",
    "50 %\r100 %": "50 %\\r100 %",
    "\x00\x07\x1b[31mred\x7f\x9b": "\\x00\\x07\\x1b[31mred\\x7f\\x9b",
    "\u202eevil\u202c \u2066x\u2069 \u200f\u061c": "\\u202eevil\\u202c \\u2066x\\u2069 \\u200f\\u061c",
    "zero\u200bwidth\ufeff\u00ad": "zero\\u200bwidth\\ufeff\\xad",
    "line\u2028paragraph\u2029next\x85": "line\\u2028paragraph\\u2029next\\x85",
    "bad \udc80, \ud800": "bad \\udc80, \\ud800",
    "\ufffe\uffff\U000e0041": "\\ufffe\\uffff\\U000e0041",
}


@pytest.mark.parametrize("text", SEEN)
def test_what_does_not_print_is_escaped(text):
    assert visible(text) == plain(text) == SEEN[text]
    assert plain(SEEN[text]) == SEEN[text]


def test_no_control_and_no_bidirectional_character_is_left():
    whole = "".join(map(chr, range(sys.maxunicode + 1)))
    left = {unicodedata.category(c) for c in visible(whole)} - {"Cc"}
    assert not left & {"Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert {c for c in visible(whole) if unicodedata.category(c) == "Cc"} == {"\t", "\n"}
    visible(whole).encode()


@pytest.mark.parametrize("unit", ["x", "é", "漢", "😀", "\u202e", "\udc80", "x\r\n"])
def test_a_long_text_is_cut(unit):
    for count in (MOST // 8, MOST // 2, MOST, MOST + 1, 100 * MOST):
        encoded, whole = plain(unit * count).encode(), visible(unit * count).encode()
        if len(whole) <= MOST:
            assert encoded == whole
        else:
            assert MOST - 12 < len(encoded) <= MOST
            assert encoded.endswith("…".encode())
            assert whole.startswith(encoded[:-3])


def test_exactly_as_long_as_allowed():
    assert plain("x" * MOST) == "x" * MOST
    assert plain("x" * (MOST + 1)) == "x" * (MOST - 3) + "…"


def test_a_text_of_a_class_of_its_own():
    class Odd(str):
        __slots__ = ()

        def replace(self, *_):
            raise AssertionError

    assert type(plain(Odd("a"))) is str


def test_it_is_cheap():
    started = time.perf_counter()
    for _ in range(20_000):
        plain("3 of 132 elements outside their bound")
    assert time.perf_counter() - started < 1
    started = time.perf_counter()
    plain("\u202e" * 10_000_000)
    assert time.perf_counter() - started < 0.5
