"""Questions from the cache: the same records, nothing evaluated, and none that another source made."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from _desk import records_of

from opproof import cases, reference_ops
from opproof.cases import Case
from opproof.core.verdicts import Mode
from opproof.harness.judge import alternatives, gradient, judgement
from opproof.harness.reference import expected, kinks
from opproof.harness.reference.expected import expected_of
from opproof.harness.run.cache import questions as question
from opproof.harness.run.cache import store as sources
from opproof.harness.run.cache.entry import NotKept, decode, encode
from opproof.harness.run.cache.questions import Questions
from opproof.harness.run.cache.store import CacheLocation, CacheStore
from opproof.harness.run.session.worker import Session
from opproof.harness.run.task import HostLimits
from opproof.reference_ops import load

CASES = (
    "softmax[x=7x33;dim=-1;f32]",
    "relu[x=4x33;f32;fill=kink]",
    "matmul[a=5x7;b=7x3;bf16]",
    "max_pool2d[x=1x2x6x6;kernel_size=2;stride=2;padding=0;f16]",
    "add[a=4x33;b=1x33;f32;fill=special]",
    "silu[x=90x100;f16]",
    "sort[x=3x8;dim=-1;f32]",
)
KEY = b"k" * 32


def of_case(text):
    case = Case.parse(text)
    return case, load(case.op)


@pytest.fixture
def at(tmp_path):
    return CacheLocation(tmp_path / "cache", KEY)


def records(at, backend="numpy", texts=CASES):
    return records_of(at, backend, texts)


def test_a_second_run_has_the_same_records_and_evaluates_nothing(at, monkeypatch):
    plain = records(None)
    assert records(at) == plain
    entries = CacheStore(at).info().entries
    assert entries == sum(r.verdict != "UNSUPPORTED" for r in plain)
    small = [t for t in CASES if "90x100" not in t]  # of large ones the data are drawn again

    def evaluated(*_, **__):
        raise AssertionError("the reference was asked again")

    for module, name in (
        *((expected, n) for n in ("evaluate_expected", "evaluate_forward", "evaluate_vjp")),
        *((kinks, "find_intervals"), (judgement, "find_vacuous_answers")),
        *((gradient, "measure_kink_distances"), (question, "make_fitting_question")),
    ):
        monkeypatch.setattr(module, name, evaluated)
    assert records(at, texts=small) == [r for r in plain if "90x100" not in r.case]


def test_of_a_large_case_only_the_data_are_drawn_again(at, monkeypatch):
    texts = ("silu[x=90x100;f16]",)
    plain = records(at, texts=texts)
    monkeypatch.setattr(expected, "evaluate_expected", None)
    assert records(at, texts=texts) == plain


def test_a_large_case_that_took_long_to_draw_is_kept_with_its_data(at, monkeypatch):
    texts = ("silu[x=90x100;f16]",)
    monkeypatch.setattr(question, "SLOW_SECONDS_PER_ELEMENT", 0.0)
    plain = records(at, texts=texts)
    monkeypatch.setattr(question, "make_fitting_question", None)
    assert records(at, texts=texts) == plain


def test_a_failing_answer_fails_by_what_was_kept(at, tmp_path):
    backend = tmp_path / "wrong.py"
    backend.write_text(
        "import numpy as np\n\n\ndef forward(op, inputs, params):\n    return [inputs[0] * np.float32(1.001)]\n"
    )
    texts = ("relu[x=4x33;f32]", "softmax[x=7x33;dim=-1;f32]")
    plain = records(None, str(backend), texts)
    assert {str(r.verdict) for r in plain if r.mode == "forward"} == {"WRONG_VALUE"}
    assert records(at, str(backend), texts) == plain == records(at, str(backend), texts)


def test_what_noise_of_the_declared_size_reaches_is_evaluated_once(at, tmp_path, monkeypatch):
    backend = tmp_path / "wrong.py"
    backend.write_text(
        "import numpy as np\n\n\ndef compute(op, dtype, mode):\n    return 'storage'\n\n\n"
        "def forward(op, inputs, params):\n    return [inputs[0] * np.float16(1.1)]\n"
    )
    texts = ("relu[x=4x33;f16]", "softmax[x=7x33;dim=-1;f16]")
    plain = records(None, str(backend), texts)
    assert {str(r.verdict) for r in plain if r.mode == "forward"} == {"WRONG_VALUE"}
    assert records(at, str(backend), texts) == plain
    monkeypatch.setattr(alternatives, "measure_reach", None)
    assert records(at, str(backend), texts) == plain


def test_a_backend_in_the_judges_process_has_no_cache(at):
    assert Session(HostLimits(1, 60.0, 2**30, in_process=True), at)._store is None


def test_a_large_case_in_slices_is_not_kept(at):
    store = CacheStore(at)
    questions = Questions(store)
    case, op = of_case("relu[x=600x4000;f32]")
    assert questions(case, op, Mode.FORWARD, 2**26).room is not None
    questions.keep()
    assert not store.info().entries


def test_another_precision_another_memory_and_another_mode_are_others(at):
    store = CacheStore(at)
    case, op = of_case(CASES[0])
    for declared in (None, "bf16"):
        questions = Questions(store)
        expected_of(questions(case, op, Mode.FORWARD).case_data, declared)
        questions.keep()
    again = Questions(store)

    def facts(posed):
        posed.read()
        return [*posed.facts]

    assert facts(again(case, op, Mode.FORWARD).case_data) == ["expected ", "expected bf16"]
    assert not facts(again(case, op, Mode.GRADIENT).case_data)
    assert not facts(again(case, op, Mode.FORWARD, 2**40).case_data)
    assert not facts(again(case.with_seed(1), op, Mode.FORWARD).case_data)


def copied(tmp_path):
    folder = tmp_path / "reference_ops"
    shutil.copytree(load("relu").source.parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_a_changed_operator_is_another_and_so_is_what_it_imports(tmp_path, monkeypatch):
    folder = copied(tmp_path)
    where = sources._folder_of
    monkeypatch.setattr(sources, "_folder_of", lambda p: folder if p is reference_ops else where(p))
    names = ("relu", "geglu", "gelu")

    def digests():
        sources._digest_of_shared.cache_clear()
        return {n: sources.digest_of_operator(folder / f"{n}.py", torch=False) for n in names}

    def changed(file):
        before = digests()
        file.write_text(file.read_text() + "\n# changed\n")
        after = digests()
        return {n for n in names if before[n] != after[n]}

    try:
        assert len({*digests().values()}) == len(names)
        assert changed(folder / "relu.py") == {"relu"}
        assert changed(folder / "gelu.py") == {"gelu", "geglu"}
        assert changed(folder / "_arrays.py") == {*names}
        assert digests()["relu"] != sources.digest_of_operator(folder / "relu.py", torch=True)
    finally:
        sources._digest_of_shared.cache_clear()


def test_cases_whose_values_are_drawn_otherwise_are_others(tmp_path, monkeypatch):
    """Rows are not: an id says all of a case."""
    folder = tmp_path / "cases"
    shutil.copytree(Path(cases.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    where = sources._folder_of
    monkeypatch.setattr(sources, "_folder_of", lambda p: folder if p is cases else where(p))

    def digest():
        sources._digest_of_shared.cache_clear()
        return sources.digest_of_operator(load("relu").source, torch=False)

    def is_another_with(file):
        before = digest()
        file.write_text(file.read_text() + "\n# changed\n")
        return digest() != before

    try:
        assert is_another_with(folder / "_fills" / "limits.py")
        assert is_another_with(folder / "_case.py")
        assert not is_another_with(folder / "relu.py")
    finally:
        sources._digest_of_shared.cache_clear()


def test_what_a_changed_operator_answers_is_not_that_of_before(at, monkeypatch):
    texts = (CASES[0],)
    plain = records(at, texts=texts)
    question._digest_of_sources.cache_clear()
    monkeypatch.setattr(question, "digest_of_operator", lambda source, *, torch: b"another source")
    evaluated, exact = [], expected.evaluate_expected
    monkeypatch.setattr(expected, "evaluate_expected", lambda *a: evaluated.append(a) or exact(*a))
    try:
        assert records(at, texts=texts) == plain
        assert len(evaluated) == 2
    finally:
        question._digest_of_sources.cache_clear()


def test_an_operator_from_outside_the_tree_is_not_kept(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("import mylibrary\n")
    assert sources.digest_of_operator(file, torch=False) is None


ARRAYS = [
    np.array(3.5),
    np.zeros((3, 0)),
    np.array([0.0, -0.0, np.inf, -np.inf]),
    np.random.default_rng(0).standard_normal((3, 5)),
    np.random.default_rng(0).standard_normal((3, 5)).astype(np.float32).astype(np.float64),
    np.arange(300.0).astype(ml_dtypes.bfloat16).astype(np.float64)[::2],
    np.array([True, False]),
    np.arange(5),
    np.broadcast_to(np.arange(3.0), (4, 3)),
    np.full((2, 2), np.nan),
    np.array([5e-324, 1e308]),
    -np.zeros(4),
]


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16"])
def test_arrays_come_back_to_the_bit(dtype):
    back = decode(encode(ARRAYS, dtype), list[np.ndarray])
    for a, b in zip(ARRAYS, back, strict=True):
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())


@dataclass(frozen=True)
class Nested:
    a: list[np.ndarray | None]
    b: tuple[int, float, str, bool, float]
    c: dict[int, tuple[np.ndarray, ...]]


def test_what_is_nested_comes_back_as_it_was():
    x = np.arange(3.0)
    facts = Nested([x, x, None], (1, 2.5, "text", True, float("inf")), {0: (x,), 3: ()})
    back = decode(encode(facts, "f32"), Nested)
    assert back.a[0] is back.a[1] is back.c[0][0]
    assert back.b == facts.b
    assert [*back.c] == [0, 3]


def test_what_has_no_form_is_not_kept():
    for value in (object(), np.array(["text"]), np.array([1j]), 1j, np.float64):
        with pytest.raises(NotKept):
            encode({"a": value}, "f32")


def test_what_is_of_another_type_is_not_read():
    data = encode({"a": [None], "b": (1, 2.5, "text", 1, 0.5), "c": {}}, "f32")
    with pytest.raises(NotKept):
        decode(data, Nested)


@pytest.mark.parametrize("damage", [b"", b"\0" * 40, b"\xff" * 40, b"\x08" + bytes(7) + b'{"a": 1}', b"pickle"])
def test_bytes_of_something_else_are_not_read(damage):
    with pytest.raises(NotKept):
        decode(damage, dict[str, np.ndarray])


def test_an_array_that_ends_outside_is_not_read():
    data = encode({"a": ARRAYS[3]}, "f32")
    with pytest.raises(NotKept):
        decode(data[:-64], dict[str, np.ndarray])


def test_a_number_without_axes_comes_back_as_an_array() -> None:
    (scale,) = decode(encode([np.float64(0.3)], "f32"), list[np.ndarray])
    assert isinstance(scale, np.ndarray)
    assert (scale.shape, float(scale)) == ((), 0.3)


@pytest.mark.parametrize(
    "source",
    [
        "from opproof.reference_ops.gelu import forward",
        "if True: import os, opproof.reference_ops.gelu as g",
        "def f():\n    from opproof.reference_ops import (\n        relu,\n        gelu,\n    )",
        "from opproof.\\\nreference_ops.gelu import forward",
    ],
)
def test_an_import_is_found_however_it_is_written(source):
    assert "gelu" in sources._find_operators(source.encode())
