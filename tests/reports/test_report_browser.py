"""The HTML report in a real browser: Debian's or Chrome's own Chromium, never a downloaded one."""

import os
import re
import shutil
import time
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
import report_samples as samples
from _deep import few
from test_reports_agree import AFTER, BEFORE

from opproof.core.verdicts import Mode
from opproof.reports import Evidence, Input, Picture, Worst, html
from opproof.reports._kinds import ResultKind, result_kind_of, sort_worst_first
from opproof.reports.changes import TITLES, Change, compare_runs
from opproof.reports.changes.text import summarise_changes
from opproof.reports.support import make_matrix

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on the path")
ARGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
ARGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
BESIDE = Path(__file__).parents[1] / "browser"
AXE = Path(os.environ.get("AXE_CORE", BESIDE / "node_modules" / "axe-core" / "axe.min.js"))

#: Milliseconds that anything awaited may take: a busy machine is not a defect.
PATIENCE = 30_000
#: How red the page is, as JavaScript tells: the dark one hardly.
RED = "Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])"
expect.set_options(timeout=PATIENCE)

ONE = samples.run(4)
TWO = samples.run(2, ("mylib", "torch"))
DOCS = {"softmax": "softmax(x, *, dim)\n\nexp(x - max x) / sum of the same. Source: Bridle 1990."}
BROKEN = next(r for r in ONE if r.op == "softmax" and r.verdict == "WRONG_GRADIENT")
CASE = f"#softmax/{BROKEN.case}/gradient"
TAIL, LARGE, ERROR = (f"relu[x={shape};f32]" for shape in ("4x33", "64x128", "7x9"))
FEW = ("softmax", "mul", "rope", "where", "sign", "sum")
EARLIER = {(r.case, r.mode): r for r in samples.run(4, broken=False)}
ROWS = "table.records tbody tr[data-at]"


def pictured():
    """A failure of the tail alone, one that is shown in blocks and close up, one with inputs alone; and a pass."""
    x = Input(name="x", shape=(4, 33), dtype="f32", layout="transposed", strides=(1, 4), fill="special", low=-3.25,
              high=2.5, size=0.75, nans=2, infs=1, first=(0.5, "nan", -1.25, "inf"))  # fmt: skip
    elements = tuple(Worst(tensor="y", index=(r, 32), got=2.0 + r, expected=2.0, bound=0.5) for r in (3, 2, 1))
    tail = Picture(tensor="y", shape=(4, 33), rows=(0, 4), columns=(0, 33), grid=(4, 33), cells="a32e" * 4)
    whole = Picture(tensor="y", shape=(64, 128), rows=(0, 64), columns=(0, 128), grid=(48, 48), cells="z48b2256")
    lines = ("da" * 16 + "ad" * 16) * 16
    close = Picture(tensor="y", shape=(64, 128), rows=(0, 32), columns=(96, 128), grid=(32, 32), cells=lines)
    wrong = {"verdict": "WRONG_VALUE", "units": 64.0, "worst": elements[0]}
    return [
        samples.result(TAIL, "forward", **wrong, evidence=Evidence(inputs=(x,), elements=elements, pictures=(tail,))),
        samples.result(LARGE, "forward", **wrong, evidence=Evidence(pictures=(whole, close))),
        samples.result(ERROR, "forward", verdict="ERROR", message="no", evidence=Evidence(inputs=(x,))),
        samples.result("relu[x=3,;f32]", "forward", units=1.0),
    ]


FAULT = samples.result("relu[x=5,;f32]", "forward", verdict="HARNESS_ERROR", message="the reference raised KeyError")
PASS = samples.result("relu[x=3,;f32]", "forward", units=1.0, in_process=True)
OPEN = samples.result("relu[x=7,;f32]", "forward", verdict="VACUOUS", units=0.5)
OWN = [FAULT, replace(FAULT, mode=Mode.GRADIENT), PASS, OPEN]


def since(before, after):
    return compare_runs((samples.header(), before), (samples.header(len(after)), after))


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
    few = [r for r in TWO if r.op in FEW]
    pages = {
        "one": html.render(samples.header(len(ONE)), ONE, docs=DOCS, scripts=script),
        "again": html.render(samples.header(len(ONE)), ONE, changes=since(list(EARLIER.values()), ONE)),
        "two": html.render(samples.header(len(TWO), ("mylib", "torch")), TWO, changes=since(before, TWO)),
        "few": html.render(samples.header(len(few), ("mylib", "torch")), few, docs=DOCS, changes=since(before, few)),
        "odd": html.render(samples.header(len(odd)), odd),
        "seen": html.render(samples.header(4), pictured()),
        "own": html.render(samples.header(4), OWN),
        "agree": html.render(samples.header(len(AFTER), ("mylib", "torch")), AFTER, changes=since(BEFORE, AFTER)),
        "none": html.render(samples.header(3), []),
    }
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return folder


SIZE = {"width": 1280, "height": 900}


class Pages:
    """A page for each set of a context's options, visited by one test after another.

    A new one would be a process each, which takes three times what the report itself does.
    """

    def __init__(self, browser):
        self._browser, self._made, self.troubles = browser, {}, []

    def visit(self, url, **options):
        options = {"viewport": SIZE, **options}
        page = self._made.get(repr(sorted(options.items()))) or self._make(options)
        page.goto("about:blank")  # from a page to its own links nothing would be loaded
        page.set_viewport_size(options["viewport"])
        page.goto(url)
        page.wait_for_selector("html[data-ready]")
        return page

    def _make(self, options):
        page = self._browser.new_context(**options).new_page()
        page.set_default_timeout(PATIENCE)
        told = self.troubles.append
        page.on("console", lambda message: told(f"console: {message.text}"))
        page.on("pageerror", lambda error: told(f"error: {error}"))
        page.on("request", lambda request: request.url.startswith(("file:", "data:", "about:")) or told(request.url))
        self._made[repr(sorted(options.items()))] = page
        return page


@pytest.fixture(scope="module")
def pages(browser):
    return Pages(browser)


@pytest.fixture
def visit(pages, files):
    """Opens a page of `files` at a deep link; afterwards there must have been no error and no request."""
    pages.troubles.clear()
    yield lambda name, link="", **options: pages.visit(f"{(files / f'{name}.html').as_uri()}{link}", **options)
    assert pages.troubles == []


def holds(page, expression, argument=None):
    """Waits until the JavaScript `expression` is true: a page answers a click or a key when it gets to it.

    Playwright's wait_for_function asks again by eval inside the page, which the report's security policy forbids.
    """
    end = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(expression, argument):
        assert time.monotonic() < end, f"never true: {expression} {argument}"
        page.wait_for_timeout(20)


def expect_count(page, number):
    """Waits until `number` records are said to be shown."""
    expect(page.locator("#count")).to_have_text(re.compile(rf"^{number:,} of "))


def expect_address(page, wanted):
    holds(page, "wanted => decodeURIComponent(location.hash) === wanted", wanted)


def expect_focus(page, wanted):
    holds(page, "wanted => document.activeElement.id === wanted", wanted)


def is_failure(r):
    return result_kind_of(r) is ResultKind.FAILED


@pytest.mark.parametrize("name", ["one", "two", "odd", "none"])
def test_each_page_opens(visit, name):
    page = visit(name)
    expect(page.locator("h1")).not_to_be_empty()
    holds(page, "document.documentElement.scrollWidth <= innerWidth")


def test_a_failure_is_listed_with_its_numbers_and_repro(visit):
    page = visit("one", "#softmax")
    failed = [r for r in ONE if r.op == "softmax" and r.verdict == "WRONG_GRADIENT"]
    expect(page.locator("#failures")).to_have_text(f"{len(failed)} failures")
    row = page.locator("table.list tr", has=page.get_by_text(BROKEN.case, exact=True))
    worst = BROKEN.worst
    for name, value in (("expected", worst.expected), ("got", worst.got), ("bound", worst.bound)):
        assert float(row.locator(f"td.{name} span").get_attribute("title")) == value
    expect(row.locator("td.units")).not_to_be_empty()
    expect(page.locator("tr.cause", has_text=BROKEN.diagnosis)).to_contain_text("softmax gradient, WRONG_GRADIENT: ")
    expect(row).not_to_contain_text("Diagnosis")  # which stands once, at its cause
    expect(row.get_by_role("button", name="Copy repro")).to_have_count(1)


def test_every_failure_can_be_unfolded(visit):
    page = visit("one")
    more = page.locator("table.list .more button")
    cases = "document.querySelectorAll('table.list td.case').length"
    while more.count():
        before = page.evaluate(cases)
        more.first.click()
        holds(page, f"before => {cases} > before", before)
    expect(page.locator("table.list td.case")).to_have_count(sum(map(is_failure, ONE)))


def test_filters(visit):
    page = visit("one")
    expect_count(page, len(ONE))
    for name, value, keep in (
        ("dtype", "f16", lambda r: r.dtype == "f16"),
        ("mode", "gradient", lambda r: r.mode == "gradient"),
        ("verdict", "failed", is_failure),
        ("op", "softmax", lambda r: r.op == "softmax"),
    ):
        page.select_option(f"#tools [name={name}]", value)
        expect_count(page, sum(map(keep, ONE)))
        holds(page, "value => decodeURIComponent(location.hash).includes(value)", value)
        page.click("#clear")
        expect_count(page, len(ONE))


def test_filters_combine_and_survive_a_reload(visit):
    page = visit("one")
    page.select_option("#tools [name=dtype]", "bf16")
    page.select_option("#tools [name=verdict]", "PASS")
    expected = sum(r.dtype == "bf16" and r.verdict == "PASS" for r in ONE)
    expect_count(page, expected)
    page.reload()
    expect_count(page, expected)
    expect(page.locator("#tools [name=dtype]")).to_have_value("bf16")


def test_a_verdict_of_the_tally_is_a_filter(visit):
    page = visit("one")
    page.locator(".tally a", has_text="CRASH").click()
    expect_count(page, sum(r.verdict == "CRASH" for r in ONE))
    expect(page.locator(".tally a[aria-current]")).to_have_text(re.compile("CRASH$"))


def test_search_finds_cases_messages_and_diagnoses(visit):
    page = visit("one")
    page.keyboard.press("/")
    expect(page.locator("#tools input")).to_be_focused()
    page.keyboard.type("only at TIES bf16")
    expect_count(page, sum(r.diagnosis == "only at ties" and "bf16" in r.case for r in ONE))
    page.fill("#tools input", "nothing like this")
    expect(page.locator(".empty")).to_be_visible()
    expect(page.locator(ROWS)).to_have_count(0)


def test_columns_sort_both_ways(visit):
    page = visit("one", "#?verdict=PASS")
    header = page.locator("th:has(> [data-sort=units])")
    expect(header).to_have_attribute("aria-sort", "none")
    for order, best in (("ascending", max), ("descending", min)):
        page.click("[data-sort=units]")
        expect(header).to_have_attribute("aria-sort", order)
        units = best(r.units for r in ONE if r.verdict == "PASS")
        first = "([bar, units]) => Math.abs(parseFloat(document.querySelector(bar)?.innerText) - units) <= .06 * units"
        holds(page, first, [f"{ROWS} .bar", units])
    page.click("[data-sort=case]")
    expect(page.locator(f"{ROWS} a").first).to_have_text(min(r.case for r in ONE if r.verdict == "PASS"))


def test_deep_links_and_the_way_back(visit):
    page = visit("one", CASE)
    expect(page.locator("h2#case")).to_have_text(BROKEN.case)
    for text in (BROKEN.verdict, BROKEN.message, BROKEN.diagnosis, BROKEN.repro, repr(BROKEN.worst.got)):
        expect(page.locator("article")).to_contain_text(text)
    page.get_by_text("A standalone script").click()
    expect(page.locator(".script")).to_contain_text("import numpy")
    page.click(".crumbs a:text-is('softmax')")
    expect_address(page, "#softmax")
    expect(page.locator("pre.doc")).to_contain_text("Bridle 1990")
    expect(page.locator(".charts svg")).to_have_count(6)
    page.go_back()
    expect(page.locator("h2#case")).to_have_text(BROKEN.case)


def test_deep_links_to_odd_cases(visit):
    odd = samples.oddities()[-1]
    page = visit("odd")
    page.locator("table.records a", has_text=odd.case).click()
    expect(page.locator("h2#case")).to_have_text(odd.case)
    expect(page.locator("article")).to_contain_text(odd.verdict)
    page.reload()
    expect(page.locator("h2#case")).to_have_text(odd.case)


@pytest.mark.parametrize("link", ["#nothing", "#softmax/softmax[x=0]/forward", "#%", "#softmax/%/%"])
def test_a_link_to_nothing_says_so(visit, link):
    expect(visit("one", link).locator("main")).to_have_text(re.compile("^Not in this report"))


def test_the_heat_map_leads_to_the_cases(visit):
    page = visit("one")
    cell = page.locator(".heat a[title^='softmax f32 gradient']")
    expect(cell).to_have_attribute("title", re.compile(r"\d fail"))
    expect(cell).to_have_text(re.compile("^✕"))
    cell.click()
    expect_address(page, "#softmax?dtype=f32&mode=gradient")
    expect_count(page, 4)


def test_the_heat_map_by_keyboard(visit):
    page = visit("one")
    page.focus(".heat a[tabindex='0']")
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    holds(page, "document.activeElement.title.startsWith('add f32 gradient')")
    page.keyboard.press("Enter")
    expect_address(page, "#add?dtype=f32&mode=gradient")
    expect_focus(page, "operator")
    page.keyboard.press("Escape")
    expect_address(page, "")


def test_the_heat_map_worst_first(visit):
    page = visit("one")
    page.click("text=Order: by name")
    failing = {r.op for r in ONE if (r.op, r.mode) in samples.BROKEN and r.verdict != "PASS"}
    first = page.locator(".heat tbody th").first
    expect(first).to_have_text(re.compile(f"^({'|'.join(failing)})$"))


ROW_IN_FOCUS = "document.activeElement.closest('tr')?.dataset.at"


def test_rows_by_keyboard_and_scrolling(visit):
    page = visit("one")
    drawn = f"document.querySelectorAll({ROWS!r}).length"
    holds(page, f"{drawn} > 0 && {drawn} < 100")
    page.locator(f"{ROWS} a").first.focus()
    for _ in range(120):  # without waiting for any row to be drawn
        page.keyboard.press("ArrowDown")
    holds(page, f"{ROW_IN_FOCUS} === '120'")
    for _ in range(20):
        page.keyboard.press("ArrowUp")
    holds(page, f"{ROW_IN_FOCUS} === '100'")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    page.wait_for_selector(f"{ROWS[:-9]}[data-at='{len(ONE) - 1}']")
    holds(page, f"{drawn} < 100")


def test_keys_pressed_between_two_frames_are_not_lost(visit):
    page = visit("one")
    page.locator(f"{ROWS} a").first.focus()
    press = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowDown', bubbles: true}))"
    page.evaluate(f"for (let n = 0; n < 200; n++) {press}")
    holds(page, f"{ROW_IN_FOCUS} === '200'")
    holds(page, "(() => { const at = document.activeElement.getBoundingClientRect(); "
          "return at.top >= 0 && at.bottom <= innerHeight; })()")  # fmt: skip


def test_a_row_scrolled_out_of_sight_is_where_the_keys_go_on(visit):
    page = visit("one")
    page.locator(f"{ROWS} a").first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    holds(page, f"{ROW_IN_FOCUS} === '3'")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    page.wait_for_selector(f"{ROWS[:-9]}[data-at='{len(ONE) - 1}']")
    page.keyboard.press("ArrowDown")
    holds(page, f"{ROW_IN_FOCUS} === '4'")


def test_skip_link_is_the_first_stop(visit):
    page = visit("one")
    page.keyboard.press("Tab")
    expect_focus(page, "skip")
    page.keyboard.press("Enter")
    expect_focus(page, "main")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_theme_follows_the_system_until_it_is_chosen(visit, scheme):
    page = visit("one", color_scheme=scheme)

    def expect_theme(name):
        holds(page, f"{RED} {'>' if name == 'light' else '<'} 128")

    expect_theme(scheme)
    page.click("#theme")
    expect_theme("light")
    page.click("#theme")
    expect_theme("dark")
    end = time.monotonic() + PATIENCE / 1000
    page.reload()
    while not page.evaluate(f"{RED} < 128") and time.monotonic() < end:
        page.reload()  # Chromium keeps what is stored in another process, which may not have heard of it yet
    expect_theme("dark")


def test_the_repro_is_copied(visit):
    page = visit("one", CASE, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy repro").click()
    expect(page.get_by_text("Copied", exact=True)).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == BROKEN.repro


def test_backends_side_by_side(visit):
    page = visit("two")
    expect_count(page, len(TWO))
    heads = page.locator("table.records thead th.of")
    expect(heads).to_have_text(["mylib", "torch"])
    expect(page.locator(".heat thead").first).to_have_text(re.compile(r"^\s*mylib\s*torch\s*f32"))
    broken = next(r for r in TWO if r.op == "softmax" and r.verdict == "WRONG_GRADIENT")
    page.evaluate(f"location.hash = {f'#softmax/{broken.case}/gradient'!r}")
    expect(page.locator("article h3")).to_have_text([re.compile("^WRONG"), re.compile("^PASS")])
    page.select_option("#tools [name=backend]", "torch")
    expect_count(page, sum(r.op == "softmax" and r.backend == "torch" for r in TWO))
    expect(heads).to_have_text(["torch"])


def test_comparison_with_a_baseline(visit):
    page = visit("two")
    page.click("a:has-text('newly failing')")
    expect_count(page, sum(map(is_failure, TWO)))


@pytest.mark.parametrize("width", [1280, 390])
def test_two_runs_side_by_side(visit, width):
    """Each record has the baseline's verdict and error beside its own, in the table and on its page."""
    page = visit("again", "#?verdict=WRONG_GRADIENT", viewport={"width": width, "height": 800})
    page.wait_for_selector(f"{ROWS} a")
    for row in page.locator(ROWS).all():
        old = EARLIER[row.locator("a").inner_text(), "gradient"]
        expect(row.locator(".was .cell")).to_have_attribute("title", re.compile(f"^{old.verdict}, "))
    holds(page, "document.documentElement.scrollWidth <= innerWidth")
    page.click("[data-sort=was]")
    largest = max((EARLIER[r.case, "gradient"] for r in ONE if r.verdict == "WRONG_GRADIENT"), key=lambda r: r.units)
    expect(page.locator(f"{ROWS} a").first).to_have_text(largest.case)
    page.locator(f"{ROWS} a").first.click()
    expect(page.locator("dl.numbers div", has_text="Baseline")).to_contain_text(f"{largest.verdict}, ")


def test_two_runs_of_two_backends_side_by_side(visit):
    page = visit("few")
    expect(page.locator("table.records thead th")).to_have_text(
        ["Case", "Dtype", "Mode", "mylib", "Baseline", "torch", "Baseline"]
    )
    page.set_viewport_size({"width": 390, "height": 800})  # where only what ran now has room
    expect(page.locator("table.records thead th:visible")).to_have_text(["Case", "Mode", "mylib", "torch"])


def test_a_link_to_a_case_goes_with_the_file(visit, files):
    elsewhere = files / "sent to a colleague #1"
    elsewhere.mkdir(exist_ok=True)
    shutil.copy(files / "one.html", elsewhere / "moved.html")
    page = visit("sent to a colleague #1/moved", CASE)
    expect(page.locator("h2#case")).to_have_text(BROKEN.case)
    page.locator(".neighbours a").first.click()
    expect(page.locator("h2#case")).not_to_have_text(BROKEN.case)
    assert "moved.html#softmax/" in page.url


def test_the_words_and_counts_are_those_of_the_command(visit):
    page = visit("few")
    expect(page.locator(".heat .modes th")).to_have_text(["forward", "gradient"] * 6)
    few = [r for r in TWO if r.op in FEW]
    count = len({r.op for r in few})
    expect(page.locator(".facts")).to_contain_text(f"{count} operators")
    page.click("nav >> text=Support")
    expect(page.locator(".sentences")).to_contain_text(f"of {count} operators")
    expect(page.locator(".support thead tr").last).to_have_text(re.compile("Operator(forwardgradientdtypes){2}"))


def test_names_are_whole_where_there_is_room(visit):
    """Of operators in the heat map, on a desk; the longest is scaled_dot_product_attention."""
    page = visit("one")
    holds(page, "[...document.querySelectorAll('.heat tbody th a')].every(a => a.scrollWidth <= a.clientWidth)")


def test_changes_are_those_of_all_reports(visit):
    """Titles, counts and records: nothing of a comparison is computed in the page."""
    found = since(BEFORE, AFTER)
    page = visit("agree")
    expect(page.locator(".changes .outcome")).to_have_text(f"Against the baseline: {summarise_changes(found)}")
    shown = [f"{len(found.of(c)):,} {title}" for c, title in TITLES.items() if c is not Change.SAME]
    expect(page.locator(".changes .chip")).to_have_text(shown)
    for change in (c for c in TITLES if c is not Change.SAME):
        page.select_option("#tools [name=change]", change.value)
        expect_count(page, len(found.of(change)))


def test_the_worst_come_first_as_in_all_reports(visit):
    page = visit("one")
    order = [ONE[place].case for place in sort_worst_first(ONE)]
    page.wait_for_selector(f"{ROWS} a")
    shown = page.locator(f"{ROWS} a").all_inner_texts()
    assert len(shown) > 20
    assert shown == order[: len(shown)]


def test_what_opproof_failed_on_is_told_apart(visit):
    page = visit("own")
    head = "torch passes 1 of 2 records in 1 operator, its largest error 1 of 16 units allowed (1 no evidence)"
    expect(page.locator("h1")).to_have_text(f"{head}; opproof itself failed on 2 records: {FAULT.message}.")
    expect(page.locator("h1")).to_have_class("verdict harness_error")
    expect(page.locator(".remark")).to_have_text(
        re.compile("^In 1 of 4 records the backend ran in opproof's own process")
    )
    expect(page.locator("#failures")).to_have_text("No failures")
    expect(page.locator(".reasons summary")).to_have_text("2 harness errors, for 1 reason")
    page.click(".reasons summary")
    expect(page.locator(".reasons li")).to_have_text("the reference raised KeyError 2 records")
    page.click(".reasons li a")
    expect_count(page, 2)
    page.click("#clear")
    expect(page.locator(".heat tbody a.cell")).to_have_text([re.compile(r"^!\s1\.0$"), "!"])
    expect(page.locator(".legend")).to_contain_text("! harness error? no evidence")


def test_a_failure_shows_its_picture_its_worst_elements_and_its_inputs(visit):
    page = visit("seen", f"#relu/{TAIL}/forward")
    expect(page.locator(".picture")).to_have_count(1)
    said = "4 of 132 elements outside their bound, in all rows and column 32."
    expect(page.locator(".picture")).to_contain_text(said)
    expect(page.get_by_role("img", name=said)).to_be_visible()
    elements, inputs = page.locator("table.small").all()
    expect(elements.locator("tbody tr")).to_have_text([re.compile(rf"y\[{r}, 32\]2{2 + r}0.52?\D?") for r in (3, 2, 1)])
    expect(elements.locator("tbody tr").first.locator("td").last).to_have_text("6.0 ×")
    for text in ("4 × 33", "transposed (1, 4)", "special", "-3.25", "0.75", "2 nan, 1 inf", "0.5, nan, -1.25, inf"):
        expect(inputs).to_contain_text(text)


def test_the_cells_of_a_picture_tell_their_index_and_error(visit):
    page = visit("seen", f"#relu/{TAIL}/forward")
    cells, tip = page.locator(".cells"), page.locator(".tip")
    box = cells.locator("svg").bounding_box()
    cells.hover(position={"x": box["width"] - 4, "y": box["height"] * 0.6})
    expect(tip).to_have_text("y[2, 32]: 3.2 to 10 bounds")
    page.mouse.move(5, 5)
    expect(tip).to_be_hidden()
    cells.focus()
    for key in ("ArrowRight", "ArrowUp", "ArrowLeft"):  # the first is at the edge already
        page.keyboard.press(key)
    expect(tip).to_have_text("y[1, 31]: no error")


def test_a_large_tensor_in_blocks_and_close_up(visit):
    page = visit("seen", f"#relu/{LARGE}/forward")
    blocks, close = page.locator(".picture").all()
    expect(blocks).to_contain_text("48 of 2304 blocks outside their bound, in row 0 and all columns.")
    expect(close).to_contain_text("Close-up of rows 0–31, columns 96–127")
    expect(close).to_contain_text("512 of 1024 elements outside their bound: a checkerboard.")
    blocks.locator(".cells").focus()
    page.keyboard.press("ArrowDown")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(blocks.locator(".tip")).to_have_text("row 0, columns 5–7: nan, inf, or an exact value missed")
    close.locator(".cells").focus()
    page.keyboard.press("ArrowDown")
    expect(close.locator(".tip")).to_have_text("y[0, 96]: 1.0 to 3.2 bounds")


def test_an_error_shows_its_inputs_alone_and_a_pass_nothing(visit):
    page = visit("seen", f"#relu/{ERROR}/forward")
    expect(page.locator("table.small caption")).to_have_text(["Inputs"])
    expect(page.locator(".picture")).to_have_count(0)
    page.evaluate("location.hash = '#relu/relu[x=3,;f32]/forward'")
    expect(page.locator("h2#case")).to_have_text("relu[x=3,;f32]")
    expect(page.locator(".picture, table.small")).to_have_count(0)


def test_the_support_matrix(visit):
    page = visit("two")
    page.click("nav >> text=Support")
    expect_address(page, "#support")
    expect_focus(page, "matrix")
    expect(page.locator("nav [aria-current=page]")).to_have_text("Support")
    cells = make_matrix(TWO)
    expect(page.locator(".support tbody tr")).to_have_count(len(cells))
    row = page.locator(".support tbody tr", has=page.get_by_role("link", name="softmax", exact=True))
    mine, other = cells["softmax"].values()
    signs = {"FAIL": "✕\u2009FAIL", "pass": "pass", "–": "–"}
    said = [text for c in (mine, other) for text in (signs[c.value], signs[c.gradient], " ".join(c.dtypes))]
    assert "✕\u2009FAIL" in said
    expect(row.locator("td")).to_have_text([re.compile(f"^{text}$".replace("\u2009", r"\s")) for text in said])
    row.locator("td a", has_text="FAIL").click()
    expect_count(page, sum(r.op == "softmax" and r.mode == "gradient" and r.backend == "mylib" for r in TWO))
    page.go_back()
    expect(page.locator("h2#matrix")).to_have_text("Support matrix")
    page.select_option("#tools [name=dtype]", "f16")
    expect_count(page, sum(r.dtype == "f16" for r in TWO))


def test_a_search_in_the_support_matrix_stays_there(visit):
    page = visit("few", "#support")
    page.keyboard.press("/")
    page.keyboard.type("soft")
    expect(page.locator(".support tbody tr")).to_have_count(1)
    expect_address(page, "#support?q=soft")
    expect(page.locator("#tools input")).to_be_focused()
    page.reload()
    expect(page.locator(".support tbody tr")).to_have_count(1)
    page.fill("#tools input", "nothing")
    expect(page.locator(".empty")).to_have_text("No operator has nothing in its name.")


def test_keys_go_from_case_to_case(visit):
    page = visit("one", "#softmax")
    links = page.locator(".list .what a")
    page.keyboard.press("j")
    expect(links.nth(0)).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    expect(links.nth(2)).to_be_focused()
    page.keyboard.press("k")
    expect(links.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    case = page.locator("h2#case")
    expect(case).to_be_visible()
    before = case.inner_text()
    page.keyboard.press("j")
    expect(case).not_to_have_text(before)
    page.keyboard.press("ArrowLeft")
    expect(case).to_have_text(before)


def test_a_question_mark_lists_the_keys(visit):
    page = visit("one")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    expect(page.locator("#keys")).to_contain_text("next case")
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    page.keyboard.press("/")
    page.keyboard.type("j?k")
    expect(page.locator("#tools input")).to_have_value("j?k")
    expect(page.locator("#keys")).to_be_hidden()


def test_the_support_matrix_by_its_link(visit):
    page = visit("few", "#support")
    expect(page.locator("h2#matrix")).to_have_text("Support matrix")
    expect(page.locator(".sentences")).to_contain_text("torch answers")
    holds(page, "scrollY === 0")
    page.keyboard.press("Escape")
    expect_address(page, "")


ODD = samples.oddities()[-1]
PAGES = [("one", ""), ("one", "#softmax"), ("one", CASE), ("two", "#support"), ("seen", f"#relu/{LARGE}/forward")]
PAGES += [
    ("seen", f"#relu/{TAIL}/forward"),
    ("again", CASE),
    ("few", ""),
    ("odd", f"#{quote(ODD.op)}/{quote(ODD.case)}/{ODD.mode}"),
]


@pytest.mark.parametrize("width", few([360, 390]))
@pytest.mark.parametrize(("name", "link"), PAGES)
def test_on_a_phone_nothing_is_cut_off(visit, name, link, width):
    page = visit(name, link, viewport={"width": width, "height": 740})
    holds(page, "width => document.documentElement.scrollWidth <= width", width)


AXED = [
    ("few", ""),
    ("few", "#softmax"),
    ("few", "#support"),
    ("one", CASE),
    ("seen", f"#relu/{LARGE}/forward"),
    ("odd", ""),
    ("own", ""),
]


@pytest.mark.skipif(not AXE.exists(), reason=f"axe-core is not at {AXE}: npm ci in {BESIDE}, or set AXE_CORE")
@pytest.mark.parametrize(("width", "scheme"), few([(1280, "light"), (390, "dark"), (1280, "dark"), (390, "light")], 2))
@pytest.mark.parametrize(("name", "link"), AXED)
def test_axe_finds_nothing(visit, name, link, width, scheme):
    page = visit(name, link, color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    found = page.evaluate("rules => axe.run(document, {runOnly: rules})", rules)
    assert [(v["id"], v["impact"], [n["html"] for n in v["nodes"]][:3]) for v in found["violations"]] == []
