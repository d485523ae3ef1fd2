"""opproof history: what is kept of runs, the page, the badge, the index."""

import json
import shutil
from dataclasses import replace

import pytest
import report_samples as samples
from _runs import opproof, write_run

from opproof.core.errors import ResultsError
from opproof.reports import Result
from opproof.reports.history import kept, page
from opproof.reports.history.badge import render_badge

SHA = [f"{k:x}" * 40 for k in range(1, 10)]


def result(op, case, verdict="PASS", **more):
    return Result(case=f"{op}[x={case};f32]", op=op, dtype="f32", backend="torch", mode="forward", verdict=verdict,
                  **{"units": 1.5, "limit": 16.0, "rms": 0.3, "bias": 0.0, **more})  # fmt: skip


def run(folder, day, results):
    return write_run(folder, results, started=f"2026-01-{day:02}T10:00:00+00:00")


@pytest.fixture
def history(tmp_path, capsys):
    """Three runs: all passes; gelu fails; the failure is known."""
    good = [result("relu", n) for n in (1, 2, 3)] + [result("gelu", n) for n in (1, 2)]
    bad = [*good[:-1], result("gelu", 2, "WRONG_VALUE", units=99.0, rms=None)]
    known = [*bad[:-1], replace(bad[-1], known="<b>an issue</b>")]
    for day, (results, sha) in enumerate(zip((good, bad, known), SHA, strict=False), 1):
        folder = run(tmp_path / f"run{day}", day, results)
        status, out, err = opproof(capsys, "history", "add", folder, tmp_path / "h", "--commit", sha)
        assert status == 0, err
        assert out.splitlines()[-1] == str(tmp_path / "h" / "index.html")
        badges = (tmp_path / "h" / "badge.svg").read_text("utf-8")
        said = ("100 % of 5", "1 of 5 fail", "80 % of 5, 1 known")[day - 1]
        assert f"<title>opproof: {said}</title>" in badges
    return tmp_path / "h"


def test_files(history, tmp_path, capsys):
    assert sorted(p.name for p in history.iterdir()) == ["badge.svg", "index.html", "index.json", "runs"]
    index = json.loads((history / "index.json").read_text("utf-8"))
    assert [(r["commit"], r["passed"], r["judged"], r["failed"]) for r in index] == [
        (SHA[0], 5, 5, 0), (SHA[1], 4, 5, 1), (SHA[2], 4, 5, 0),
    ]  # fmt: skip
    assert all((history / r["file"]).is_file() for r in index)
    before = {p: p.read_bytes() for p in history.rglob("*.*")}
    assert opproof(capsys, "history", "add", tmp_path / "run3", history, "--commit", SHA[2])[0] == 0
    assert {p: p.read_bytes() for p in history.rglob("*.*")} == before  # the same run is the same run
    assert all(len(data) < 20_000 for data in before.values())


def test_series(history):
    runs = kept.read(history)
    whole, *ops = page.list_series(runs[:2], "torch")
    assert [(s.op, s.rate.last, s.worse) for s in ops] == [("gelu", "50 %", True), ("relu", "100 %", False)]
    assert (whole.rate.last, whole.judged, whole.share.last, whole.rms.last) == ("80 %", 5, "0.094", "0.3")
    assert ops[0].rate.points[0].y < ops[0].rate.points[1].y
    assert [p.bad for p in ops[0].rate.points] == [False, True]
    assert ops[0].rate.points[1].title == f"{SHA[1][:12]}: 50 %"
    assert not any(s.worse for s in page.list_series(runs, "torch"))


def test_a_run_without_the_operator_breaks_the_stroke(history, tmp_path, capsys):
    for day in (4, 5, 6):
        results = [result("relu", 1), *[result("gelu", 1)] * (day > 4)]
        opproof(capsys, "history", "add", run(tmp_path / f"run{day}", day, results), history, "--commit", SHA[day])
    gelu = next(s for s in page.list_series(kept.read(history), "torch") if s.op == "gelu")
    assert [len(stroke.split()) for stroke in gelu.rate.strokes] == [3, 2]
    assert len(gelu.rate.points) == 5


def test_nothing_of_a_backend_reaches_the_page_unescaped(tmp_path, capsys):
    results = [replace(result("relu", 1), backend="<script>alert(1)</script>")]
    opproof(capsys, "history", "add", run(tmp_path / "r", 1, results), tmp_path / "h", "--commit", "<img>")
    text = (tmp_path / "h" / "index.html").read_text("utf-8")
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "<img>" not in text


def test_badge_of_what_is_no_success():
    header = samples.header(2)
    nothing = kept.make_history_run(header, [result("relu", 1, "UNSUPPORTED", units=None)] * 2, "")
    assert "opproof: no evidence" in render_badge(nothing)
    assert "opproof: incomplete" in render_badge(kept.make_history_run(header, [result("relu", 1)], ""))


def test_wrong_calls_are_one_sentence(history, tmp_path, capsys):
    with pytest.raises(ResultsError, match="holds no run: add one with `opproof history add RUN"):
        kept.read(tmp_path)
    (history / "runs" / "0.json").write_text("{}", encoding="utf-8")
    added = run(tmp_path / "r", 1, [result("relu", 1)])
    status, _, err = opproof(capsys, "history", "add", added, history, "--commit", SHA[0])
    assert (status, "is no run of a history" in err, err.count("\n")) == (2, True, 1)


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no Chromium")
def test_the_page_in_a_browser(history):
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as api:
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
        browser = api.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        view = browser.new_page(viewport={"width": 1000, "height": 700})
        errors = []
        view.on("console", lambda message: errors.append(message.text))
        view.goto((history / "index.html").as_uri())
        assert view.locator("h2").all_inner_texts() == ["torch", "Runs"]
        assert view.locator("tbody tr").count() == 3 + 3
        assert view.locator("svg").first.bounding_box()["width"] == 120
        assert view.evaluate("document.querySelector('h1 img').naturalWidth") > 100
        assert view.evaluate("document.documentElement.scrollWidth <= innerWidth")
        view.screenshot(path=history / "page.png", full_page=True)
        assert errors == []
        browser.close()
