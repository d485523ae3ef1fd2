"""Baselines are small sorted files that change only when what was found does."""

from dataclasses import replace
from pathlib import Path

import pytest
import report_samples as samples
from _runs import CASE, opproof, write_run

from opproof.core.errors import ResultsError
from opproof.reports.baseline import read_baseline, write_baseline

RUN = samples.run(2)
PASS = samples.result(CASE, "forward", units=0.8, seconds=1.0)


@pytest.fixture
def call(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *args: opproof(capsys, "baseline", *args)


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def test_save_and_compare(call, tmp_path, capsys):
    write_run(tmp_path / "run", RUN)
    assert call("save", "run", "base") == (0, f"base: {len(RUN):,} records\n", "")
    texts = contents(tmp_path / "base")
    assert set(texts) == {"baseline.json", *(f"{op}.txt" for op in samples.OPS)}
    assert sum(map(len, texts.values())) < 100 * len(RUN)
    status, out, _ = opproof(capsys, "compare", "base", "run")
    assert (status, out) == (0, f"No regression in {len(RUN)} records compared.\n")


def test_no_noise_where_nothing_changed(call, tmp_path):
    write_run(tmp_path / "a", RUN)
    again = [replace(r, seconds=r.seconds * 3, message="at 0xdeadbeef") for r in reversed(RUN)]
    write_run(tmp_path / "b", again, started="2030-01-01T00:00:00Z", host={"system": "Other", "cpus": "99"})
    call("save", "a", "base")
    before = contents(tmp_path / "base")
    assert call("save", "b", "base")[0] == 0
    assert contents(tmp_path / "base") == before
    assert call("update", "b", "base")[0] == 0
    assert contents(tmp_path / "base") == before


def test_the_old_word_of_a_verdict_is_read(tmp_path):
    write_baseline(tmp_path / "base", samples.header(), [replace(PASS, verdict="VACUOUS")])
    (file,) = (tmp_path / "base").glob("*.txt")
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("VACUOUS", "MISTRUSTED"), encoding="utf-8")
    _, (read,) = read_baseline(tmp_path / "base")
    assert read.verdict == "VACUOUS"
    assert "VACUOUS" in text


def test_what_is_written_reads_back(tmp_path):
    results = list({(r.case, r.mode, r.backend): r for r in [*RUN, *samples.oddities()]}.values())
    write_baseline(tmp_path / "base", samples.header(), results)
    header, found = read_baseline(tmp_path / "base")
    assert (header.constant, header.opproof, header.cases) == (16.0, "0.1.0", len(results))
    key = lambda r: (r.case, r.mode, r.backend)  # noqa: E731
    for a, b in zip(sorted(results, key=key), sorted(found, key=key), strict=True):
        assert (a.op, a.dtype, a.verdict, bool(a.known)) == (b.op, b.dtype, b.verdict, bool(b.known))
        assert (a.units is None) == (b.units is None)
        if a.units not in (None, "nan"):
            assert float(b.units) == pytest.approx(float(a.units), rel=0.05)
        for name in ("limit", "rms", "bias"):
            was, read = getattr(a, name), getattr(b, name)
            assert read == (None if was is None else pytest.approx(was, rel=0.05))
    assert header.host == {}
    assert header.started == ""


def test_update_keeps_steady_figures_and_what_was_not_tried(call, tmp_path):
    other = replace(PASS, case=CASE.replace("4x33", "9x33"))
    gone = replace(PASS, mode="gradient")
    write_run(tmp_path / "a", [PASS, other, gone])
    write_run(tmp_path / "b", [replace(PASS, units=1.5), replace(other, units=1.7)])
    call("save", "a", "base")
    status, out, _ = call("update", "b", "base")
    assert status == 0
    assert "1 vanished" in out
    assert (tmp_path / "base" / "softmax.txt").read_text(encoding="utf-8").splitlines() == [
        "# backend torch",
        f"PASS 0.8 - - forward {CASE}",
        f"PASS 0.8 - - gradient {CASE}",
        f"PASS 1.7 - - forward {other.case}",
    ]
    call("update", "b", "base", "--prune")
    assert "gradient" not in (tmp_path / "base" / "softmax.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        ({"units": 1.5, "rms": 0.7, "bias": -0.5}, "0.8/16 0.4 -0.3"),
        ({"units": 1.5, "limit": 4.0}, "1.5/4 0.4 -0.3"),
        ({"rms": 0.9}, "0.8/16 0.9 -0.3"),
        ({"bias": -0.7}, "0.8/16 0.4 -0.7"),
        ({"bias": 0.3}, "0.8/16 0.4 0.3"),
        ({"rms": None, "bias": None}, "0.8/16 - -"),
    ],
)
def test_figures_are_steady_each(call, tmp_path, changes, kept):
    one = replace(PASS, limit=16.0, rms=0.4, bias=-0.3)
    write_run(tmp_path / "a", [one])
    write_run(tmp_path / "b", [replace(one, **changes)])
    call("save", "a", "base")
    text = (tmp_path / "base" / "softmax.txt").read_text(encoding="utf-8")
    assert text == f"# backend torch\nPASS 0.8/16 0.4 -0.3 forward {CASE}\n"
    assert call("update", "b", "base")[0] == 0
    assert f"PASS {kept} forward {CASE}" in (tmp_path / "base" / "softmax.txt").read_text(encoding="utf-8")


def test_small_figures_are_all_alike(call, tmp_path):
    one = replace(PASS, limit=16.0, rms=0.02, bias=-0.01)
    write_run(tmp_path / "a", [one])
    write_run(tmp_path / "b", [replace(one, rms=0.2, bias=0.12)])
    call("save", "a", "base")
    before = contents(tmp_path / "base")
    call("update", "b", "base")
    assert contents(tmp_path / "base") == before


def test_a_whole_array_that_grew_since_a_baseline_is_worse(call, tmp_path, capsys):
    one = replace(PASS, limit=16.0, rms=0.4, bias=-0.1)
    write_run(tmp_path / "a", [one])
    write_run(tmp_path / "b", [replace(one, rms=1.9)])
    call("save", "a", "base")
    status, out, _ = opproof(capsys, "compare", "base", "b")
    assert status == 1
    assert "RMS 0.4 → 1.9" in out
    assert opproof(capsys, "compare", "base", "a")[0] == 0


def test_operators_that_are_gone_leave_no_file(call, tmp_path):
    write_run(tmp_path / "a", RUN)
    write_run(tmp_path / "b", [PASS])
    call("save", "a", "base")
    call("save", "b", "base")
    assert sorted(contents(tmp_path / "base")) == ["baseline.json", "softmax.txt"]


def test_a_baseline_is_replaced_whole_or_not_at_all(call, tmp_path, monkeypatch):
    write_run(tmp_path / "a", [PASS])
    write_run(tmp_path / "b", RUN)
    call("save", "a", "base")
    before = contents(tmp_path / "base")
    real, count = Path.write_text, iter(range(99))

    def write_text(path, *arguments, **named):
        if next(count) == 7:
            raise OSError(28, "No space left on device")
        return real(path, *arguments, **named)

    monkeypatch.setattr(Path, "write_text", write_text)
    status, _, err = call("save", "b", "base")
    assert status == 2
    assert "No space left on device" in err
    assert contents(tmp_path / "base") == before


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("save", "nothing", "base"), "cannot read nothing"),
        (("save", "short", "base"), "short holds 1 of 5 records; finish it with `opproof run --resume short` first."),
        (("save", "run", "run"), "run holds other files and no baseline"),
        (("update", "run", "nothing"), "cannot read nothing/baseline.json"),
        (("update", "newer", "base"), "they come from opproof 0.1.0 and 9.9"),
    ],
)
def test_bad_input_is_one_sentence(call, tmp_path, args, said):
    write_run(tmp_path / "run", [PASS])
    write_run(tmp_path / "short", [PASS], cases=5)
    write_run(tmp_path / "newer", [PASS], opproof="9.9")
    call("save", "run", "base")
    status, out, err = call(*args)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert said in err


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("baseline.json", "{", "is not JSON"),
        ("baseline.json", "[]", "has versions (None, None)"),
        ("softmax.txt", "PASS 0.8 - - forward x[f32]\n", "line 1: expected `VERDICT UNITS/LIMIT RMS BIAS MODE CASE`"),
        ("softmax.txt", "# backend b\nPASS 0.8 forward x[f32]\n", "line 2: expected `VERDICT"),
        ("softmax.txt", "# backend b\nFINE 0.8 - - forward x[f32]\n", "line 2: unknown verdict 'FINE'"),
        ("softmax.txt", "# backend b\nPASS some - - forward x[f32]\n", "line 2: 'some' is no number"),
        ("softmax.txt", "# backend b\nPASS 1/few - - forward x[f32]\n", "line 2: 'few' is no number"),
        ("softmax.txt", "# backend b\nPASS 1 inf - forward x[f32]\n", "line 2: 'inf' is no finite number"),
        ("softmax.txt", "# backend b\nPASS 0.8 - - sideways x[f32]\n", "line 2: unknown mode 'sideways'"),
        ("softmax.txt", "# backend b\n<<<<<<< HEAD\n", "line 2: expected"),
    ],
)
def test_a_spoilt_baseline_is_one_sentence(tmp_path, name, text, said):
    write_baseline(tmp_path, samples.header(), [PASS])
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ResultsError, match=said.replace("(", r"\(").replace(")", r"\)")):
        read_baseline(tmp_path)
