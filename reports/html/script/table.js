// The table of all records. Only the rows in sight exist, so 20,000 cost as much as 50.

const COLUMNS = [
  ["case", "Case", (g) => page.cases[col.case[g[0]]], (g) => h("a", { href: caseLink(g[0]), title: caseOf(g[0]) }, caseOf(g[0]))],
  ["op", "Operator", (g) => opOf(g[0]), (g) => opOf(g[0])],
  ["dtype", "Dtype", (g) => col.dtype[g[0]], (g) => dtypeOf(g[0])],
  ["mode", "Mode", (g) => modeOf(g[0]), (g) => modeName(modeOf(g[0]))],
];
const SINGLE = [
  ["verdict", "Verdict", (g) => col.kind[g[0]] * 100 + col.verdict[g[0]], (g) => badge(g[0])],
  ["units", "Units", (g) => -size(g[0]), (g) => bar(g[0])],
  ["ulp", "ULP", (g) => -ulpOf(g[0]), (g) => h("span", { title: ulpText(g[0]) }, ulpOf(g[0]) < 0 ? "" : short(col.ulp[g[0]][0]))],
  ["seconds", "Time", (g) => -seconds[g[0]], (g) => time(seconds[g[0]])],
];

// Our verdict and the standard's stand side by side, where a standard was asked (--profile).
const STANDARD = ["standard", "Standard", (g) => -standardShare(g[0]), (g) => h("span", { title: standardText(g[0]) }, standardWord(g[0]))];
const ulpOf = (i) => (col.ulp[i] ? asNumber(col.ulp[i][0]) : -1);
const ulpText = (i) => (col.ulp[i] ? `${short(col.ulp[i][0])} at ${page.strings[col.ulp[i][1]]}` : "");
const standardWord = (i) => (col.standard[i] ? { silent: "–" }[page.strings[col.standard[i][0]]] ?? page.strings[col.standard[i][0]] : "");
const standardShare = (i) => (col.standard[i] && col.standard[i][1] !== null ? asNumber(col.standard[i][1]) : -1);
function standardText(i) {
  const s = col.standard[i];
  if (!s) return "";
  if (s[1] === null) return "The standard says nothing of it";
  return `${page.strings[s[0]]}: ${short(s[1])} times the limit (${page.strings[s[2]]}) at ${page.strings[s[4]]} (${page.strings[s[3]]})`;
}

function bar(i) {
  const failed = col.kind[i] === FAILED;
  const wide = Number.isNaN(units[i]) ? 0 : failed ? 1 : heat(units[i], limitOf(i));
  return h("span", { class: `bar ${kindName(i)}`, "--p": wide.toFixed(3) }, h("span", {}, short(col.units[i])));
}

// What the baseline had: its verdict and error, coloured as in the run.
function was(i) {
  const { verdict, units: before } = page.changes;
  if (i === undefined || verdict[i] < 0) return "";
  const name = page.verdicts[verdict[i]];
  const style = name === "PASS" ? "passed" : name === "UNSUPPORTED" ? "unsupported" : "was";
  const text = name === "PASS" ? short(before[i]) || "✓" : WORD[name] ?? (short(before[i]) || name.toLowerCase());
  return h("span", { class: `cell ${style}`, "--p": heat(asNumber(before[i]), limitOf(i)).toFixed(3), title: baselineText(i) }, text);
}
const wasSize = (i) => (i === undefined || page.changes.verdict[i] < 0 ? Infinity : -asNumber(page.changes.units[i]) || 0);

const chip = (i) => h("span", { class: cellClass(i), "--p": depth(i), title: verdictOf(i) }, label(i));

const time = (s) => (Number.isNaN(s) ? "" : s < 0.9995 ? `${number(s * 1000, 2)} ms` : `${number(s, 3)} s`);

const columnClass = (key) => (key.startsWith("@") ? "of" : key.split("@")[0]);

function columnsOf(state) {
  if (!several) {
    const before = page.changes ? [["was", "Baseline", (g) => wasSize(g[0]), (g) => was(g[0])]] : [];
    const standard = col.standard.some((s) => s) ? [STANDARD] : [];
    return [SINGLE[0], ...standard, ...COLUMNS, SINGLE[1], ...before, SINGLE[2], SINGLE[3]];
  }
  const shown = page.backends.map((name, b) => [name, b]).filter(([name]) => !state.backend || name === state.backend);
  const of = (g, b) => g.findLast((i) => col.backend[i] === b);
  // The case begins with its operator; the room goes to the backends.
  return [...COLUMNS.filter(([key]) => key !== "op"), ...shown.flatMap(([name, b]) => [
    [`@${name}`, page.names[b], (g) => (of(g, b) === undefined ? Infinity : col.rank[of(g, b)]),
      (g) => (of(g, b) === undefined ? "" : [h("span", { class: "word" }, verdictOf(of(g, b))), chip(of(g, b))])],
    ...(page.changes ? [[`was@${name}`, "Baseline", (g) => wasSize(of(g, b)), (g) => was(of(g, b))]] : []),
  ])];
}

function recordTable(records, state) {
  const columns = columnsOf(state);
  // Several records of one case, mode and backend (a run resumed by hand) stay several rows where there is one backend.
  const rows = several ? [...new Set(records.map((i) => groupOf[i]))].map((g) => groups[g]) : records.map((i) => [i]);
  sortRows(rows, columns, state.sort);
  const body = h("tbody", {});
  const head = h("tr", { "aria-rowindex": 1 }, columns.map((c) => headCell(c, state)));
  const table = h("table", { class: `records${several ? " several" : ""}`, "aria-labelledby": "records", "aria-rowcount": rows.length + 1,
    tabindex: "-1" }, h("colgroup", {}, columns.map(([key]) => h("col", { class: columnClass(key) }))),
    h("thead", {}, head), body);
  virtualise(table, body, rows, columns);
  return h("section", { "aria-labelledby": "records" },
    h("div", { class: "head" }, h("h2", { id: "records" }, "Records"), h("p", { class: "hint", id: "count" },
      `${records.length.toLocaleString("en")} of ${count.toLocaleString("en")} records` +
      (several ? `, ${rows.length.toLocaleString("en")} rows` : ""))),
    rows.length ? table : h("p", { class: "empty" }, "Nothing matches. ", h("a", { href: "#" }, "Clear the filters")));
}

function sortRows(rows, columns, sort) {
  const down = sort.startsWith("-");
  const column = columns.find(([key]) => key === (down ? sort.slice(1) : sort));
  const worst = (g) => g.reduce((a, b) => (worstFirst(a, b) <= 0 ? a : b));
  if (!column) return void rows.sort((a, b) => worstFirst(worst(a), worst(b)));
  const keyed = rows.map((g, at) => [column[2](g), at, g]);
  const compare = (a, b) => (typeof a === "string" ? (a < b ? -1 : a > b ? 1 : 0) : a === b ? 0 : a < b ? -1 : 1);
  keyed.sort((a, b) => (down ? -1 : 1) * compare(a[0], b[0]) || a[1] - b[1]);
  keyed.forEach(([, , g], at) => (rows[at] = g));
}

function headCell([key, name], state) {
  const order = state.sort === key ? "ascending" : state.sort === `-${key}` ? "descending" : "none";
  const next = order === "ascending" ? `-${key}` : key;
  return h("th", { scope: "col", "aria-sort": order, class: columnClass(key) },
    h("button", { type: "button", "data-sort": key, onclick: () => {
      replace({ ...state, sort: next });
      document.querySelector(`[data-sort="${CSS.escape(key)}"]`)?.focus();
    } }, name, h("span", { "aria-hidden": "true" }, { ascending: " ↑", descending: " ↓", none: "" }[order])));
}

// Rows are of one height, so a row's number gives its place; two spacer rows stand for those out of sight.
let watching = null;
function virtualise(table, body, rows, columns) {
  const [above, below] = [0, 0].map(() => h("tr", { class: "space", "aria-hidden": "true" }, h("td", {})));
  const live = new Map();
  const row = (at) => h("tr", { "aria-rowindex": at + 2, "data-at": at, class: at % 2 ? "odd" : null },
    columns.map(([key, , , cell]) => h("td", { class: columnClass(key) }, cell(rows[at]))));
  const tall = () => parseFloat(getComputedStyle(table).getPropertyValue("--row"));
  const draw = () => {
    if (!table.isConnected) return;
    const height = tall();
    const top = body.getBoundingClientRect().top;
    const from = Math.max(0, Math.min(rows.length, Math.floor(-top / height) - 12));
    const to = Math.min(rows.length, from + Math.ceil(innerHeight / height) + 24);
    const focused = document.activeElement;
    for (const [at, tr] of live) if (at < from || at >= to) tr.remove(), live.delete(at);
    let before = above;
    for (let at = from; at < to; at++) {
      if (!live.has(at)) {
        live.set(at, row(at));
        before.after(live.get(at));
      }
      before = live.get(at);
    }
    above.firstChild.style.height = `${from * height}px`;
    below.firstChild.style.height = `${(rows.length - to) * height}px`;
    // A focused row that was scrolled out of sight leaves the focus to its table, whose keys go on from there.
    if (focused !== document.activeElement) table.focus({ preventScroll: true });
  };
  body.append(above, below);
  if (watching) watching.abort();
  watching = new AbortController();
  let queued = false;
  const later = () => {
    if (!queued) requestAnimationFrame(() => { queued = false; draw(); });
    queued = true;
  };
  for (const event of ["scroll", "resize"]) addEventListener(event, later, { passive: true, signal: watching.signal });
  // The arrow keys move by a row's number, whether or not it is drawn: presses outrun the frames.
  let current = 0;
  table.addEventListener("focusin", ({ target }) => { current = Number(target.closest("tbody tr")?.dataset.at ?? current); });
  table.addEventListener("keydown", (event) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step || event.target.closest("thead")) return;
    event.preventDefault();
    const to = Math.min(rows.length - 1, Math.max(0, current + step));
    if (!live.has(to)) {
      scrollBy(0, body.getBoundingClientRect().top + to * tall() - innerHeight / 2);
      draw();
    }
    const link = live.get(to).querySelector("a");
    link.focus({ preventScroll: true });
    link.scrollIntoView({ block: "nearest" });
  });
  queueMicrotask(draw);
}
