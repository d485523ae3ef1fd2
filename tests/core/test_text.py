"""Texts of others: what does not print is escaped, what is too long is cut, and nothing raises."""

import sys
import time
import unicodedata

import pytest

from opproof.core.text import MAX_TEXT_BYTES, escape_unprintable, make_plain

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
    assert escape_unprintable(text) == make_plain(text) == SEEN[text]
    assert make_plain(SEEN[text]) == SEEN[text]


def test_no_control_and_no_bidirectional_character_is_left():
    whole = "".join(map(chr, range(sys.maxunicode + 1)))
    left = {unicodedata.category(c) for c in escape_unprintable(whole)} - {"Cc"}
    assert not left & {"Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert {c for c in escape_unprintable(whole) if unicodedata.category(c) == "Cc"} == {"\t", "\n"}
    escape_unprintable(whole).encode()


@pytest.mark.parametrize("unit", ["x", "é", "漢", "😀", "\u202e", "\udc80", "x\r\n"])
def test_a_long_text_is_cut(unit):
    for count in (MAX_TEXT_BYTES // 8, MAX_TEXT_BYTES // 2, MAX_TEXT_BYTES, MAX_TEXT_BYTES + 1, 100 * MAX_TEXT_BYTES):
        encoded, whole = make_plain(unit * count).encode(), escape_unprintable(unit * count).encode()
        if len(whole) <= MAX_TEXT_BYTES:
            assert encoded == whole
        else:
            assert MAX_TEXT_BYTES - 12 < len(encoded) <= MAX_TEXT_BYTES
            assert encoded.endswith("…".encode())
            assert whole.startswith(encoded[:-3])


def test_exactly_as_long_as_allowed():
    assert make_plain("x" * MAX_TEXT_BYTES) == "x" * MAX_TEXT_BYTES
    assert make_plain("x" * (MAX_TEXT_BYTES + 1)) == "x" * (MAX_TEXT_BYTES - 3) + "…"


def test_a_text_of_a_class_of_its_own():
    class Odd(str):
        __slots__ = ()

        def replace(self, *_):
            raise AssertionError

    assert type(make_plain(Odd("a"))) is str


def test_it_is_cheap():
    started = time.perf_counter()
    for _ in range(20_000):
        make_plain("3 of 132 elements outside their bound")
    assert time.perf_counter() - started < 1
    started = time.perf_counter()
    make_plain("\u202e" * 10_000_000)
    assert time.perf_counter() - started < 0.5
