"""The support matrix: cells from records, and sentences."""

import pytest

from opproof.reports import Result, support


def record(op, verdict="PASS", mode="forward", dtype="f32", backend="a", known=""):
    case = f"{op}[x=3,;{dtype}]"
    return Result(case=case, op=op, dtype=dtype, backend=backend, mode=mode, verdict=verdict, known=known)


RECORDS = [
    record("relu"),
    record("relu", mode="gradient"),
    record("relu", dtype="bf16"),
    record("relu", "WRONG_GRADIENT", mode="gradient", dtype="bf16"),
    record("exp", "UNSUPPORTED"),
    record("exp", "WRONG_VALUE", backend="lib/b|c.so", known="a table"),
    record("exp", backend="lib/b|c.so", dtype="f64"),
    record("abs", "VACUOUS", backend="lib/b|c.so"),
    record("tan", "UNSUPPORTED", dtype="f16"),
    record("tan", dtype="f64"),
]


def test_cells():
    cells = support.make_matrix(RECORDS)
    assert list(cells) == ["abs", "exp", "relu", "tan"]
    assert cells["relu"]["a"] == support.Cell("pass", "FAIL", ("f32",))
    assert cells["exp"]["a"] == support.Cell("–", "", ())
    assert cells["exp"]["lib/b|c.so"] == support.Cell("known", "", ("f64",))
    assert cells["abs"]["lib/b|c.so"] == support.Cell("no evidence", "", ())
    assert cells["relu"]["lib/b|c.so"] == support.Cell("", "", ())
    assert cells["tan"]["a"] == support.Cell("pass", "", ("f64",))


@pytest.mark.parametrize("verdict", ["ERROR", "CRASH", "a verdict of tomorrow"])
def test_any_failure_shows(verdict):
    cells = support.make_matrix([*RECORDS, record("tan", verdict, dtype="f64")])
    assert cells["tan"]["a"] == support.Cell("FAIL", "", ())


def test_sentences_count():
    assert support.summarise_backends(support.make_matrix(RECORDS)) == [
        "a answers 2 of 4 operators, 1 with gradients (1 with failures).",
        "b|c.so answers 1 of 4 operators, 0 with gradients (1 with known failures).",
    ]
