"""The HTML report in a real browser: Debian's or Chrome's own Chromium, never a downloaded one."""

import os
import re
import shutil
from pathlib import Path

import pytest
import report_samples as samples

from opproof.reports import html

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
# Playwright's browser lives in one process, so these tests stay together under xdist.
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the path"),
    pytest.mark.xdist_group("browser"),
]
ARGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
ARGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
AXE = Path(os.environ.get("AXE_CORE", "node_modules/axe-core/axe.min.js"))

ONE = samples.run(4)
TWO = samples.run(2, ("mylib", "torch"))
DOCS = {"softmax": "softmax(x, *, dim)\n\nexp(x - max x) / sum of the same. Source: Bridle 1990."}
BROKEN = next(r for r in ONE if r.op == "softmax" and r.verdict == "WRONG_GRADIENT")
CASE = f"#softmax/{BROKEN.case}/gradient"
ROWS = "table.records tbody tr[data-at]"


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    odd = samples.oddities()
    script = {BROKEN.case: "import numpy as np\n"}
    before = samples.run(2, ("mylib", "torch"), broken=False)
    few = [r for r in samples.run(2, ("mylib", "torch")) if r.op in ("softmax", "mul", "rope", "where", "sign", "sum")]
    pages = {
        "one": html.render(samples.header(len(ONE)), ONE, docs=DOCS, scripts=script),
        "two": html.render(samples.header(len(TWO), ("mylib", "torch")), TWO, baseline=before),
        "few": html.render(samples.header(len(few), ("mylib", "torch")), few, docs=DOCS, baseline=before),
        "odd": html.render(samples.header(len(odd)), odd),
        "none": html.render(samples.header(3), []),
    }
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def visit(browser, files):
    """Opens a page of `files` at a deep link; afterwards there must have been no error and no request."""
    contexts, troubles = [], []

    def visit(name, link="", **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: troubles.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("request", lambda request: request.url.startswith(("file:", "data:")) or troubles.append(request.url))
        page.goto(f"{(files / f'{name}.html').as_uri()}{link}")
        page.wait_for_selector("html[data-ready]")
        return page

    yield visit
    for context in contexts:
        context.close()
    assert troubles == []


def count(page):
    return int(page.inner_text("#count").split(" ")[0].replace(",", ""))


def address(page):
    return page.evaluate("decodeURIComponent(location.hash)")


@pytest.mark.parametrize("name", ["one", "two", "odd", "none"])
def test_each_page_opens(visit, name):
    page = visit(name)
    assert page.inner_text("h1")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_failure_is_listed_with_its_numbers_and_repro(visit):
    page = visit("one", "#softmax")
    failed = [r for r in ONE if r.op == "softmax" and r.verdict == "WRONG_GRADIENT"]
    assert page.inner_text("#failures") == f"{len(failed)} failures"
    row = page.locator("table.list tr", has=page.get_by_text(BROKEN.case, exact=True))
    worst = BROKEN.worst
    for name, value in (("expected", worst.expected), ("got", worst.got), ("bound", worst.bound)):
        assert float(row.locator(f"td.{name} span").get_attribute("title")) == value
    assert row.locator("td.units").inner_text()
    assert BROKEN.diagnosis in row.inner_text()
    assert row.get_by_role("button", name="Copy repro").count() == 1


def test_every_failure_can_be_unfolded(visit):
    page = visit("one")
    while page.locator("table.list .more button").count():
        page.locator("table.list .more button").first.click()
    failed = sum(r.verdict not in ("PASS", "UNSUPPORTED", "MISTRUSTED") and not r.known for r in ONE)
    assert page.locator("table.list td.case").count() == failed


def test_filters(visit):
    page = visit("one")
    assert count(page) == len(ONE)
    for name, value, keep in (
        ("dtype", "f16", lambda r: r.dtype == "f16"),
        ("mode", "gradient", lambda r: r.mode == "gradient"),
        ("verdict", "failed", lambda r: r.verdict not in ("PASS", "UNSUPPORTED", "MISTRUSTED") and not r.known),
        ("op", "softmax", lambda r: r.op == "softmax"),
    ):
        page.select_option(f"#tools [name={name}]", value)
        expected = sum(map(keep, ONE))
        assert count(page) == expected
        assert f"{value}" in address(page)
        page.click("#clear")
        assert count(page) == len(ONE)


def test_filters_combine_and_survive_a_reload(visit):
    page = visit("one")
    page.select_option("#tools [name=dtype]", "bf16")
    page.select_option("#tools [name=verdict]", "PASS")
    expected = sum(r.dtype == "bf16" and r.verdict == "PASS" for r in ONE)
    assert count(page) == expected
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert count(page) == expected
    assert page.input_value("#tools [name=dtype]") == "bf16"


def test_a_verdict_of_the_tally_is_a_filter(visit):
    page = visit("one")
    page.locator(".tally a", has_text="CRASH").click()
    assert count(page) == sum(r.verdict == "CRASH" for r in ONE)
    assert page.locator(".tally a[aria-current]").inner_text().endswith("CRASH")


def test_search_finds_cases_messages_and_diagnoses(visit):
    page = visit("one")
    page.keyboard.press("/")
    page.keyboard.type("only at TIES bf16")
    found = sum(r.diagnosis == "only at ties" and "bf16" in r.case for r in ONE)
    sync_api.expect(page.locator("#count")).to_have_text(f"{found} of {len(ONE):,} records")
    page.fill("#tools input", "nothing like this")
    page.wait_for_selector(".empty")
    assert page.locator(ROWS).count() == 0


def test_columns_sort_both_ways(visit):
    page = visit("one", "#?verdict=PASS")
    header = page.locator("th:has(> [data-sort=units])")
    assert header.get_attribute("aria-sort") == "none"
    for order, best in (("ascending", max), ("descending", min)):
        page.click("[data-sort=units]")
        assert header.get_attribute("aria-sort") == order
        units = float(page.locator(f"{ROWS} .bar").first.inner_text())
        assert units == pytest.approx(best(r.units for r in ONE if r.verdict == "PASS"), rel=0.06)
    page.click("[data-sort=case]")
    assert page.locator(f"{ROWS} a").first.inner_text() == min(r.case for r in ONE if r.verdict == "PASS")


def test_deep_links_and_the_way_back(visit):
    page = visit("one", CASE)
    assert page.inner_text("h2") == BROKEN.case
    article = page.inner_text("article")
    for text in (BROKEN.verdict, BROKEN.message, BROKEN.diagnosis, BROKEN.repro, repr(BROKEN.worst.got)):
        assert text in article
    page.get_by_text("A standalone script").click()
    assert "import numpy" in page.inner_text(".script")
    page.click(".crumbs a:text-is('softmax')")
    assert address(page) == "#softmax"
    assert "Bridle 1990" in page.inner_text("pre.doc")
    assert page.locator(".charts svg").count() == 6
    page.go_back()
    sync_api.expect(page.locator("h2")).to_have_text(BROKEN.case)


def test_deep_links_to_odd_cases(visit):
    odd = samples.oddities()[-1]
    page = visit("odd")
    page.locator("table.records a", has_text=odd.case).click()
    assert page.inner_text("h2") == odd.case
    assert odd.verdict in page.inner_text("article")
    page.reload()
    assert page.inner_text("h2") == odd.case


@pytest.mark.parametrize("link", ["#nothing", "#softmax/softmax[x=0]/forward", "#%", "#softmax/%/%"])
def test_a_link_to_nothing_says_so(visit, link):
    assert page_text(visit("one", link)).startswith("Not in this report")


def page_text(page):
    return page.inner_text("main").strip()


def test_the_heat_map_leads_to_the_cases(visit):
    page = visit("one")
    cell = page.locator(".heat a[title^='softmax f32 gradient']")
    assert "failed" in cell.get_attribute("title")
    assert cell.inner_text().startswith("✕")
    cell.click()
    assert address(page) == "#softmax?dtype=f32&mode=gradient"
    assert count(page) == 4


def test_the_heat_map_by_keyboard(visit):
    page = visit("one")
    page.focus(".heat a[tabindex='0']")
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.title").startswith("add f32 gradient")
    page.keyboard.press("Enter")
    assert address(page).startswith("#add?")
    assert page.evaluate("document.activeElement.id") == "operator"
    page.keyboard.press("Escape")
    assert address(page) in ("", "#")


def test_the_heat_map_worst_first(visit):
    page = visit("one")
    page.click("text=Order: by name")
    failing = {r.op for r in ONE if (r.op, r.mode) in samples.BROKEN and r.verdict != "PASS"}
    assert page.locator(".heat tbody th").first.inner_text() in failing


def test_rows_by_keyboard_and_scrolling(visit):
    page = visit("one")
    assert page.locator(ROWS).count() < 100
    page.locator(f"{ROWS} a").first.focus()
    at = "document.activeElement.closest('tr')?.dataset.at"
    for row in range(1, 121):  # at a person's pace: a press that outruns the drawing of rows is lost
        page.keyboard.press("ArrowDown")
        page.wait_for_function(f"{at} === '{row}'")
    assert page.evaluate(at) == "120"
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    page.wait_for_selector(f"{ROWS[:-9]}[data-at='{len(ONE) - 1}']")
    assert page.locator(ROWS).count() < 100


def test_skip_link_is_the_first_stop(visit):
    page = visit("one")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_theme_follows_the_system_until_it_is_chosen(visit, scheme):
    page = visit("one", color_scheme=scheme)

    def bright():
        return int(re.findall(r"\d+", page.evaluate("getComputedStyle(document.body).backgroundColor"))[0]) > 128

    assert bright() == (scheme == "light")
    page.click("#theme")
    assert bright()
    page.click("#theme")
    assert not bright()
    page.reload()
    assert not bright()


def test_the_repro_is_copied(visit):
    page = visit("one", CASE, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy repro").click()
    page.wait_for_selector("text=Copied")
    assert page.evaluate("navigator.clipboard.readText()") == BROKEN.repro


def test_backends_side_by_side(visit):
    page = visit("two")
    assert count(page) == len(TWO)
    assert page.locator("table.records thead th.of").all_inner_texts() == ["mylib", "torch"]
    assert page.locator(".heat thead").first.inner_text().split()[:3] == ["mylib", "torch", "f32"]
    broken = next(r for r in TWO if r.op == "softmax" and r.verdict == "WRONG_GRADIENT")
    page.evaluate(f"location.hash = {f'#softmax/{broken.case}/gradient'!r}")
    page.wait_for_selector("article >> nth=1")
    assert [a[:5] for a in page.locator("article h3").all_inner_texts()] == ["WRONG", "PASS\n"]
    page.select_option("#tools [name=backend]", "torch")
    assert count(page) == sum(r.op == "softmax" and r.backend == "torch" for r in TWO)
    assert page.locator("table.records thead th.of").all_inner_texts() == ["torch"]


def test_comparison_with_a_baseline(visit):
    page = visit("two")
    failed = sum(r.verdict not in ("PASS", "UNSUPPORTED", "MISTRUSTED") and not r.known for r in TWO)
    page.click("a:has-text('newly failing')")
    assert count(page) == failed


@pytest.mark.parametrize("link", ["", "#softmax", CASE])
def test_on_a_phone_nothing_is_cut_off(visit, link):
    page = visit("one", link, viewport={"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.skipif(not AXE.exists(), reason=f"axe-core is not at {AXE}: npm install axe-core, or set AXE_CORE")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize(("name", "link"), [("few", ""), ("few", "#softmax"), ("one", CASE), ("odd", "")])
def test_axe_finds_nothing(visit, name, link, width, scheme):
    page = visit(name, link, color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    found = page.evaluate("rules => axe.run(document, {runOnly: rules})", rules)
    assert [(v["id"], v["impact"], [n["html"] for n in v["nodes"]][:3]) for v in found["violations"]] == []
