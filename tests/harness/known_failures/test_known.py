"""The ledger of known failures: what it explains, and everything it complains of."""

import datetime
import re
from dataclasses import replace
from pathlib import Path

import pytest

from opproof.core.errors import UsageError
from opproof.core.verdicts import FAILED, Verdict
from opproof.harness.known_failures.causes import FUNCTIONS, _list_functions
from opproof.harness.known_failures.findings import LEDGERS, read_built_in
from opproof.harness.known_failures.known import Known, mark, read_known
from opproof.harness.known_failures.limits import SIZED
from opproof.reports import Result


def result(case="gelu[x=7x33;f16]", mode="forward", verdict="WRONG_VALUE", backend="torch", units=40.0, **more):
    return Result(case=case, op="gelu", dtype="f16", backend=backend, mode=mode, verdict=verdict, units=units, **more)


def entry(pattern="gelu[*f16*", units=1000.0, **fields):
    return Known(pattern=pattern, reason="an f16 table", units=units, **fields)


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("gelu[x=7x33;f16]", True),
        ("gelu[x=7x33;*", True),
        ("*;f16]", True),
        ("gelu[*f16*", True),
        ("*f16*", True),
        ("gelu", False),
        ("gelu[*f32*", False),
        ("gelu.x=7x33;f16.", False),
        ("elu[*f16*", False),
    ],
)
def test_patterns(pattern, matches):
    assert entry(pattern).covers(result()) is matches


@pytest.mark.parametrize("pattern", ["gelu[x=7x33;f16]", "gelu[*;f16]", "*f16*"])
def test_no_pattern_depends_on_the_seed(pattern):
    assert entry(pattern).covers(result("gelu[x=7x33;f16;seed=12]"))
    assert not entry("gelu[x=7x33;f16;seed=1]").covers(result("gelu[x=7x33;f16;seed=12]"))


@pytest.mark.parametrize("verdict", sorted(FAILED))
def test_every_failure_can_be_known(verdict):
    units = 1000.0 if verdict in SIZED else None
    assert mark(result(verdict=verdict, units=units), [entry(units=units, verdict=verdict)]).known == "an f16 table"


@pytest.mark.parametrize("verdict", sorted(FAILED - SIZED))
def test_a_fault_is_known_by_its_name_alone(verdict):
    """Limits say nothing of it, and it says nothing of wrong numbers."""
    fault = result(verdict=verdict, units=None)
    assert not mark(fault, [entry(), entry(units=None, nonfinite=True), entry(units=None, zeros=True)]).known
    assert not mark(result(), [entry(units=None, verdict=verdict)]).known


def test_faults_that_are_one_cause():
    """What is read beyond a buffer shows by what lies there."""
    known = entry(units=None, verdicts=("ERROR", "OUT_OF_BOUNDS"))
    assert known.is_fault
    assert [v for v in sorted(FAILED) if known.explains(result(verdict=v))] == ["ERROR", "OUT_OF_BOUNDS"]


@pytest.mark.parametrize("verdict", sorted(set(Verdict) - FAILED))
def test_what_is_no_failure_is_not_known(verdict):
    assert mark(result(verdict=verdict), [entry()]).known == ""


def test_fields_narrow_an_entry():
    assert mark(result(), [entry(mode="forward", backend="torch", verdict="WRONG_VALUE")]).known
    assert mark(result(), [entry(modes=("gradient", "forward"), backends=("jax", "torch"))]).known
    assert not mark(result(), [entry(mode="gradient")]).known
    assert not mark(result(), [entry(modes=("gradient",))]).known
    assert not mark(result(), [entry(backend="ggml")]).known
    assert not mark(result(), [entry(backends=("ggml", "torch:*"))]).known
    assert mark(result(backend="torch:cuda"), [entry(backends=("ggml", "torch:*"))]).known
    assert not mark(result(), [entry(verdict="WRONG_GRADIENT")]).known
    several = Known(patterns=("elu[*f16*", "gelu[*f16*"), reason="r", units=50.0)
    assert mark(result(), [several]).known
    assert several.ops == {"elu", "gelu"}


@pytest.mark.parametrize("units", [1000.5, 1e9, "inf", "nan", None])
def test_a_known_failure_that_grows_is_news(units):
    """`units` bounds how wrong it may be; what has no number is worse than any."""
    assert mark(result(units=1000.0), [entry()]).known
    assert not mark(result(units=units), [entry()]).known


@pytest.mark.parametrize("units", [1000.5, 1e9, "inf", "nan", None])
def test_a_known_failure_whose_finite_elements_grow_is_news(units):
    more = {"nonfinite": 3, "share": 0.2, "units": "inf"}
    assert mark(result(finite_units=1000.0, **more), [entry(nonfinite=True)]).known
    assert not mark(result(finite_units=units, **more), [entry(nonfinite=True)]).known
    assert not mark(result(finite_units=0.1, **more), [entry(units=None, nonfinite=True)]).known
    assert mark(result(finite_units=0.0, **more), [entry(units=None, nonfinite=True)]).known


def test_numbers_that_are_none_are_known_where_an_entry_says_so():
    nan = result(units="inf", nonfinite=5, share=0.3)
    assert not mark(nan, [entry()]).known
    assert not mark(nan, [entry(share=1)]).known
    assert mark(nan, [entry(units=None, nonfinite=True)]).known


@pytest.mark.parametrize("share", [1.0, None])
def test_nothing_but_nan_is_another_failure_unless_an_entry_says_so(share):
    nothing = result(units="inf", nonfinite=231, share=share)
    assert not mark(nothing, [entry(units=None, nonfinite=True)]).known
    assert not mark(nothing, [entry(units=None, nonfinite=True, share=0.99)]).known
    assert mark(nothing, [entry(units=None, nonfinite=True, share=1)]).known


def test_zeros_are_known_where_an_entry_says_so():
    zeros = result(units=40.0, zeros=True)
    assert not mark(zeros, [entry(), entry(nonfinite=True), entry(share=1)]).known
    assert mark(zeros, [entry(units=None, zeros=True)]).known
    assert not mark(result(), [entry(units=None, zeros=True)]).known


def test_rms_bounds_the_whole_array():
    assert mark(result(rms=20.0), [entry(rms=20.0)]).known
    assert mark(result(rms=None), [entry(rms=20.0)]).known  # of few elements
    assert not mark(result(rms=20.5), [entry(rms=20.0)]).known


def test_errors_that_no_number_measures_are_known_by_their_share():
    index = result(units="inf", share=0.25)
    assert not mark(index, [entry(), entry(units=None, nonfinite=True), entry(share=0.2)]).known
    assert mark(index, [entry(units=None, share=0.25)]).known
    assert not mark(result(share=0.25), [entry(units=None, share=0.25)]).known  # one that has a number


def test_reading(tmp_path):
    path = tmp_path / "known.toml"
    lines = ('pattern = "a[*f16*"', 'reason = "r"', "until = 2027-01-01", 'link = "l"', 'mode = "gradient"')
    text = "\n".join(("[[known]]", *lines, "units = 50"))
    path.write_text(text, encoding="utf-8")
    (found,) = read_known(path)
    assert (found.pattern, found.reason, found.link, found.mode) == (
        "a[*f16*",
        "r",
        "l",
        "gradient",
    )
    assert (found.units, found.globs) == (50, ("a[*f16*",))
    assert found.until == datetime.date(2027, 1, 1)
    path.write_text("", encoding="utf-8")
    assert read_known(path) == []
    text = '[[known]]\npatterns = ["a[*f16*", "b[*f32*"]\nbackends = ["c"]\nmodes = ["forward"]\nversions = ["2"]\n'
    path.write_text(
        text + 'reason = "r"\nshare = 1\nzeros = true\nnonfinite = true\nunits = 1\nrms = 1', encoding="utf-8"
    )
    (found,) = read_known(path)
    assert (found.globs, found.backends, found.modes, found.versions) == (
        ("a[*f16*", "b[*f32*"),
        ("c",),
        ("forward",),
        ("2",),
    )
    assert (found.units, found.rms, found.share, found.nonfinite, found.zeros) == (1, 1, 1, True, True)


REQUIRED = 'pattern = "p"\nreason = "r"\n'
SOUND = f"{REQUIRED}units = 1\n"
WIDE = "reason = 'r'\nunits = 1\n"
CAUSE = "operators = ['a']\nreason = 'r'\narithmetic = 'f16'\n"
NO_LIMIT = "has no limit; add units, at most twice the largest error seen, or nonfinite = true where NaN or "
BAD = {
    "x = [": "{path} is not TOML: ",
    "[known]\npattern = 'p'": "{path}: expected [[known]] tables only, got known.",
    "known = [1]": "{path}, entry 1: expected a [[known]] table, got 1.",
    "[[unknown]]\npattern = 'p'": "{path}: expected [[known]] tables only, got unknown.",
    "[[known]]\nreason = 'r'": "{path}, entry 1: no operators and no pattern; give operators with a cause, or patterns",
    "[[known]]\nreason = 'r'\npattern = ''": "{path}, entry 1: no operators and no pattern; give operators with a ",
    "[[known]]\npattern = 'p'": "{path}, entry 1: no reason; every [[known]] table has reason.",
    f"[[known]]\n{REQUIRED}": f"{{path}}, entry 1: known failure 'p' {NO_LIMIT}",
    f"[[known]]\n{REQUIRED}verdict = 'WRONG_VALUE'": f"{{path}}, entry 1: known failure 'p' {NO_LIMIT}",
    f"[[known]]\n{REQUIRED}rms = 1": "{path}, entry 1: rms is given without units; give both",
    f"[[known]]\n{SOUND}rms = 0": "{path}, entry 1: rms is 0.0; expected more than 0, the largest ",
    f"[[known]]\n{SOUND}share = 1.5": "{path}, entry 1: share is 1.5; expected 0 to 1, the largest ",
    f"[[known]]\n{REQUIRED}units = inf": "{path}, entry 1: units is inf; expected more than 0, the largest ",
    f"[[known]]\n{SOUND}patterns = ['q']": "{path}, entry 1: pattern and patterns are given; give one of them",
    f"[[known]]\n{SOUND}mode = 'forward'\nmodes = ['gradient']": "{path}, entry 1: mode and modes are given; give one",
    f"[[known]]\n{SOUND}backends = 'torch'": "{path}, entry 1: backends is 'torch'; expected a list, each a str.",
    f"[[known]]\n{SOUND}modes = ['back']": "{path}, entry 1: modes is ['back']; expected a list, each one of double, ",
    f"[[known]]\n{WIDE}pattern = '*'": "{path}, entry 1: '*' covers whole operators; name the fills, shapes, ",
    f"[[known]]\n{WIDE}pattern = 'relu[*'": "{path}, entry 1: 'relu[*' covers whole operators; name the fills, ",
    f"[[known]]\n{WIDE}pattern = 'relu[*]'": "{path}, entry 1: 'relu[*]' covers whole operators; name the fills, ",
    f"[[known]]\n{WIDE}pattern = 'relu[x=*'": "{path}, entry 1: 'relu[x=*' covers whole operators; name the fills, ",
    f"[[known]]\n{WIDE}patterns = ['a[*f16*', 'b*']": "{path}, entry 1: 'b*' covers whole operators; name the fills, ",
    "[[known]]\npattern = 'p'\nreason = ''": "{path}, entry 1: pattern or reason is blank; a known failure has",
    "[[known]]\npattern = 'p'\nreason = \" \\t\"": "{path}, entry 1: pattern or reason is blank; a known failure has",
    "[[known]]\npattern = ' '\nreason = 'r'": "{path}, entry 1: pattern or reason is blank; a known failure has",
    "[[known]]\npattern = 'p'\nreason = 1": "{path}, entry 1: reason is 1; expected a str.",
    f"[[known]]\n{SOUND}[[known]]\n{SOUND}why = 'w'": "{path}, entry 2: unknown key 'why'; expected reason, ",
    f"[[known]]\n{REQUIRED}mode = 1": "{path}, entry 1: mode is 1; expected one of double, forward, gradient, jvp",
    f"[[known]]\n{REQUIRED}mode = 'backward'": "{path}, entry 1: mode is 'backward'; expected one of double, forward",
    f"[[known]]\n{REQUIRED}units = nan": "{path}, entry 1: units is nan; expected more than 0, the largest ",
    f"[[known]]\n{REQUIRED}units = -1": "{path}, entry 1: units is -1.0; expected more than 0, ",
    f"[[known]]\n{REQUIRED}units = -inf": "{path}, entry 1: units is -inf; expected more than 0, ",
    f"[[known]]\n{REQUIRED}units = 0": "{path}, entry 1: units is 0.0; expected more than 0, ",
    f"[[known]]\n{REQUIRED}always = false": "{path}, entry 1: unknown key 'always'; expected reason, ",
    f"[[known]]\n{REQUIRED}folder = '/'": "{path}, entry 1: unknown key 'folder'; expected reason, ",
    f"[[known]]\n{CAUSE}units = 3": "{path}, entry 1: operators are given with a size; a cause is executed and needs ",
    f"[[known]]\n{CAUSE}pattern = 'p'": "{path}, entry 1: operators and patterns are given; give one of them",
    "[[known]]\noperators = ['a']\nreason = 'r'": "{path}, entry 1: a wrong answer is explained by forward, vjp, ",
    f"[[known]]\n{CAUSE}message = 'm'": "{path}, entry 1: a wrong answer is explained by forward, vjp, arithmetic or ",
    "[[known]]\noperators = ['*']\nreason = 'r'\narithmetic = 'f16'": "{path}, entry 1: operators are '*' without a ",
    f"[[known]]\n{CAUSE}verdict = 'ERROR'": "{path}, entry 1: a fault has no reference to change; give message, ",
    "[[known]]\noperators = ['a']\nreason = 'r'\narithmetic = 'f17'": "{path}, entry 1: arithmetic is 'f17'; expected ",
    f"[[known]]\n{CAUSE}rounding = 'up'": "{path}, entry 1: rounding is 'up'; expected 'truncate', or nothing for ",
    f"[[known]]\n{CAUSE}vjp = 'missing'": "{path}, entry 1: vjp names 'missing', which {path.parent}/causes.py does ",
    f"[[known]]\n{CAUSE}where = {{machine = 1}}": "{path}, entry 1: where is {{'machine': 1}}; expected a Where.",
    f"[[known]]\n{REQUIRED}arithmetic = 'f16'": "{path}, entry 1: arithmetic is given with patterns; a cause ",
    f"[[known]]\n{REQUIRED}verdict = 'HARNESS_ERROR'": "{path}, entry 1: verdict is 'HARNESS_ERROR'; expected one of ",
    f"[[known]]\n{REQUIRED}units = 'few'": "{path}, entry 1: units is 'few'; expected a float.",
    f"[[known]]\n{REQUIRED}units = true": "{path}, entry 1: units is True; expected a float.",
    f"[[known]]\n{REQUIRED}until = 'soon'": "{path}, entry 1: until is 'soon'; expected a date.",
    f"[[known]]\n{REQUIRED}until = 2027-01-01T00:00:00": "{path}, entry 1: until is datetime.datetime(2027, 1, 1, ",
    f"[[known]]\n{REQUIRED}verdict = 'WRONG'": "{path}, entry 1: verdict is 'WRONG'; expected one of CRASH, ERROR, ",
    f"[[known]]\n{REQUIRED}verdicts = ['CRASH', 'WRONG_VALUE']": "{path}, entry 1: verdicts are of faults; ",
    f"[[known]]\n{REQUIRED}verdicts = ['CRASH', 'PASS']": "{path}, entry 1: verdict is 'PASS'; expected one of CRASH, ",
    f"[[known]]\n{REQUIRED}verdict = 'CRASH'\nverdicts = ['ERROR']": "{path}, entry 1: verdict and verdicts are ",
    f"[[known]]\n{REQUIRED}verdict = 'PASS'": "{path}, entry 1: verdict is 'PASS'; expected one of CRASH, ERROR, ",
}


@pytest.mark.parametrize("text", BAD)
def test_bad_ledgers(tmp_path, text):
    path = tmp_path / "known.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=re.escape(BAD[text].format(path=path))):
        read_known(path)


def test_missing_ledger(tmp_path):
    said = f"cannot read the ledger {tmp_path / 'none.toml'}: No such file or directory; give an existing file."
    with pytest.raises(UsageError, match=re.escape(said)):
        read_known(tmp_path / "none.toml")


@pytest.mark.parametrize("pattern", ["relu[*", "*"])
def test_a_fault_may_be_a_whole_operators(pattern):
    assert entry(pattern, units=None, verdict="CRASH").covers(result("relu[x=2,;f32]"))


@pytest.mark.parametrize("path", sorted(LEDGERS.glob("*/known.toml")), ids=lambda p: p.parent.name)
def test_ledgers_of_built_in_backends(path: Path):
    """They can be read, speak of their own backend, and give a reason that is more than a word."""
    found = read_known(path)
    assert found
    assert all(re.split("[:@+]", s)[0] == path.parent.name for e in found for s in e.specs)
    assert {s for e in read_built_in(path.parent.name) for s in e.specs} <= {path.parent.name}
    assert all(len(e.reason.split()) > 1 for e in found)


def answers(known):
    """Of every pattern a case that it covers, as the largest failure that the entry explains."""
    verdict = next(iter(known.failures), "WRONG_VALUE")
    mode = next((m for m in (*known.modes, known.mode) if m), "forward")
    for pattern in known.globs:
        case = pattern.replace("*", "")
        case = case if case.endswith("]") else f"{case}]"
        if known.zeros or known.is_fault:
            yield result(case, mode, verdict, units=None if known.is_fault else 2.0**11, zeros=known.zeros)
        else:
            nonfinite = int(known.nonfinite)
            units = "inf" if nonfinite or known.units is None else known.units
            share = known.share if known.share is not None else 0.5
            size = (
                known.units if known.units is not None else "inf" if known.share is not None and not nonfinite else 0.0
            )
            yield result(case, mode, verdict, units=units, nonfinite=nonfinite, finite_units=size, share=share)


@pytest.mark.parametrize("path", sorted(LEDGERS.glob("*/known.toml")), ids=lambda p: p.parent.name)
def test_no_entry_explains_a_failure_that_got_worse(path):
    """Ten times as large, NaN everywhere, and zeros: none of them is the failure that was seen."""
    for known in read_known(path):
        for seen in answers(replace(known, backends=(), backend="")):
            alone = [replace(known, backends=(), backend="")]
            assert mark(seen, alone).known, known
            wrong = replace(seen, verdict="WRONG_GRADIENT" if seen.mode == "gradient" else "WRONG_VALUE", zeros=False)
            large = 5 * (known.units or 2.0**11)  # half of the limit, times ten
            assert not mark(replace(wrong, units=large, finite_units=large, nonfinite=0), alone).known, known
            if known.share != 1:
                assert not mark(replace(wrong, units="inf", nonfinite=10**6, share=1.0), alone).known, known
            if not known.zeros:
                assert not mark(replace(wrong, units=1.0, zeros=True, nonfinite=0), alone).known, known


def test_backend_without_ledger():
    assert read_built_in("./mine.py") == []


@pytest.mark.parametrize("pattern", ["relu[x=4*", "rel*", "relu*f16*", "*f16]", "relu[*f16]", "re*[x=4x33;f16]"])
def test_an_entry_that_covers_a_case_may_name_its_operator(pattern):
    entry = Known(pattern=pattern, reason="why", verdict=Verdict.CRASH)
    assert entry.covers_case("relu[x=4x33;f16]")
    assert entry.can_name("relu")
    assert entry.can_name("gelu") == pattern.startswith("*")


#: Entries and lines of all lists, and entries of PyTorch's: they may fall.
MAX_ENTRIES = 500
MAX_LINES = 6000
MAX_ENTRIES_OF_PYTORCH = 40
#: Entries of all lists whose cause cannot be executed: the number may only fall.
MAX_WITHOUT_CAUSE = 5


def test_lists_are_of_causes():
    """A pattern with a size is what is left where nothing can be executed, and says why."""
    paths = sorted(LEDGERS.glob("*/known.toml"))
    entries = {path.parent.name: read_known(path) for path in paths}
    patterns = [e for some in entries.values() for e in some if e.globs]
    assert all(e.without_cause for e in patterns), [e.name for e in patterns if not e.without_cause]
    assert len(patterns) <= MAX_WITHOUT_CAUSE
    assert sum(map(len, entries.values())) <= MAX_ENTRIES
    assert len(entries["torch"]) <= MAX_ENTRIES_OF_PYTORCH
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths) <= MAX_LINES


@pytest.mark.parametrize("library", sorted(path.parent.name for path in LEDGERS.glob("*/known.toml")))
def test_every_function_of_a_list_is_named(library):
    """What no entry names goes."""
    path = LEDGERS / library / "causes.py"
    if not path.is_file():
        pytest.skip(f"{library} has no functions of its own")
    entries = read_known(path.parent / "known.toml")
    named = {getattr(e, key) for e in entries for key in FUNCTIONS}
    named |= {f"compose_{op}" for e in entries if e.vjp == "differentiate_steps" for op in e.operators}  # of a table
    text = path.read_text(encoding="utf-8")
    left = [n for n in _list_functions(path) if n not in named and text.count(n) < 2]
    assert left == []


def test_a_message_may_speak_of_every_operator():
    every = Known("no float16 here", operators=("*",), verdict=Verdict.ERROR, message="Failed to materialize")
    said = replace(result("tensordot[a=5x9;b=9x7;axes=1;f16]", verdict="ERROR", units=None), causes=(every.cause,))
    assert every.can_name("tensordot")
    assert mark(said, [every]).known == "no float16 here"
    assert not mark(replace(said, causes=()), [every]).known
    assert not mark(replace(said, verdict=Verdict.CRASH), [every]).known
