// The heat map: operators down, dtypes and modes across, once for each backend.

let heatWidth = 0; // blocks side by side when last drawn

function heatMap(records, state) {
  const cells = groupBy(records, (i) => [col.op[i], col.backend[i], col.dtype[i], col.mode[i]].join());
  const used = (name) => [...new Set(records.map((i) => col[name][i]))].sort((a, b) => a - b);
  const [backends, dtypes, modes] = ["backend", "dtype", "mode"].map(used);
  let ops = used("op");
  if (heatOrder === "worst") {
    const worst = new Map([...groupBy(records, (i) => col.op[i])].map(([op, some]) => [op, summarise(some).worst]));
    ops = ops.sort((a, b) => worstFirst(worst.get(a), worst.get(b)));
  }
  const columns = backends.flatMap((b) => dtypes.flatMap((d) => modes.map((m) => [b, d, m])));
  const box = h("div", { class: "heat", onkeydown: moveInHeat });
  const longest = Math.max(0, ...ops.map((op) => page.ops[op].length));
  const draw = () => {
    heatWidth = blocksThatFit(box, columns.length, modes.length, ops.length);
    box.style.setProperty("--name-wide", `${nameWidth(box, longest, heatWidth * widthOf(box, columns.length, modes.length))}px`);
    const rows = Math.ceil(ops.length / heatWidth);
    box.replaceChildren();
    for (let k = 0; k < ops.length; k += rows) box.append(block(ops.slice(k, k + rows)));
    box.querySelector("a")?.setAttribute("tabindex", "0");
  };
  const block = (some) => h("table", {},
    h("caption", { class: "hidden" }, "Largest error in units of honest rounding, by operator, dtype and mode"),
    h("colgroup", {}, h("col", { class: "name" }), columns.map((_, at) => h("col", { class: at % modes.length ? "cell-col" : "cell-col gap" }))),
    h("thead", {}, heatHead(backends, dtypes, modes)),
    h("tbody", {}, some.map((op) => h("tr", {},
      h("th", { scope: "row" }, h("a", { href: hashOf({ op: page.ops[op] }), tabindex: "-1", title: page.ops[op] }, page.ops[op])),
      columns.map(([b, d, m], at) => heatCell(cells.get([op, b, d, m].join()), op, b, d, m, at % modes.length === 0))))));
  new ResizeObserver(() => {
    if (box.isConnected && blocksThatFit(box, columns.length, modes.length, ops.length) !== heatWidth) draw();
  }).observe(box);
  queueMicrotask(draw); // once the box is on the page and has a width
  return h("section", { "aria-labelledby": "heat" },
    h("div", { class: "head" }, h("h2", { id: "heat" }, "Operators"),
      h("p", { class: "hint" }, "Largest error in units of honest rounding; 1 is as good as it gets. ",
        limits()),
      legend(), orderButton(state)),
    box);
}

// How many units are allowed, in words.
function limits() {
  let [least, most] = [Infinity, 0];
  for (let i = 0; i < count; i++) {
    const limit = limitOf(i);
    if (limit > 0) [least, most] = [Math.min(least, limit), Math.max(most, limit)];
  }
  const [low, high] = [number(least, 2), number(most, 2)];
  return !most ? "" : low === high ? `More than ${high} fail.` : `Each element has a limit of its own, from ${low} to ${high}, by which it is coloured.`;
}

let heatOrder = "name";
function orderButton(state) {
  const names = { name: "Order: by name", worst: "Order: worst first" };
  return h("button", { type: "button", class: "quiet", onclick: () => {
    heatOrder = heatOrder === "name" ? "worst" : "name";
    show(state, true);
    document.querySelector(".heat")?.previousSibling.querySelector("button")?.focus();
  } }, names[heatOrder]);
}

const widthOf = (box, columns, modes) => {
  const [name, cell] = ["--name", "--cell"].map((v) => parseFloat(getComputedStyle(box).getPropertyValue(v)));
  return name + columns * cell + 6 * (columns / modes) + 28; // with the gaps of page.css
};
const blocksThatFit = (box, columns, modes, ops) =>
  Math.max(1, Math.min(Math.floor((box.clientWidth + 28) / widthOf(box, columns, modes)), Math.ceil(ops / 4)));

// The free space goes to the names, as far as the longest needs it.
function nameWidth(box, longest, used) {
  const least = parseFloat(getComputedStyle(box).getPropertyValue("--name"));
  const free = Math.max(0, box.clientWidth + 28 - used) / heatWidth;
  return Math.floor(Math.min(Math.max(least, longest * 7.6 + 8), least + free));
}

function heatHead(backends, dtypes, modes) {
  const rows = [];
  if (several) {
    rows.push(h("tr", {}, h("td", {}), backends.map((b) =>
      h("th", { scope: "colgroup", colspan: dtypes.length * modes.length, class: "first", title: page.backends[b] }, page.names[b]))));
  }
  rows.push(h("tr", {}, h("td", {}), backends.flatMap(() => dtypes.map((d) =>
    h("th", { scope: "colgroup", colspan: modes.length, class: "first" }, page.dtypes[d])))));
  rows.push(h("tr", { class: "modes" }, h("td", {}), backends.flatMap(() => dtypes.flatMap(() => modes.map((m, k) =>
    h("th", { scope: "col", class: k === 0 && "first" }, modeName(page.modes[m])))))));
  return rows;
}

function heatCell(records, op, b, d, m, first) {
  if (!records) return h("td", { class: first && "first" });
  const { kinds, worst } = summarise(records);
  const title = `${page.ops[op]} ${page.dtypes[d]} ${modeName(page.modes[m])}${several ? ` ${page.names[b]}` : ""}: ` +
    `${kindCounts(kinds)}; worst ${verdictOf(worst)}${col.units[worst] === null ? "" : `, ${ofAllowed(col.units[worst], col.limit[worst])}`}`;
  // Records that were not judged colour the cell, but what the others measured is worth more than a word.
  const open = [HARNESS_ERROR, NO_EVIDENCE].includes(col.kind[worst]);
  const measured = open ? records.filter((i) => col.kind[i] === PASSED).sort(worstFirst)[0] : undefined;
  const text = measured === undefined ? label(worst) : SIGN[col.kind[worst]] + label(measured);
  const target = { op: page.ops[op], dtype: page.dtypes[d], mode: page.modes[m], backend: several ? page.backends[b] : "" };
  return h("td", { class: first && "first" }, h("a", {
    href: hashOf(target), title, tabindex: "-1", class: cellClass(worst, text), "--p": depth(worst),
  }, text));
}

function legend() {
  const steps = [[0.125, short(0.125)], [0.5, short(0.5)], [1, "1"], [page.constant, "limit"]];
  return h("p", { class: "legend" },
    steps.map(([u, text]) => h("span", { class: "cell passed", "--p": heat(u, page.constant).toFixed(3) }, text)),
    [["✕", FAILED], ["†", KNOWN], ["!", HARNESS_ERROR], ["?", NO_EVIDENCE], ["–", UNSUPPORTED]].map(([sign, k]) =>
      h("span", { class: `cell ${page.kinds[k]}`, "--p": "0.5" }, `${sign} ${page.labels[k]}`)));
}

// One tab stop for the map; the arrow keys move in it.
function moveInHeat(event) {
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  const from = event.target.closest("td, th");
  if (!step || !from) return;
  event.preventDefault();
  const rows = [...event.currentTarget.querySelectorAll("tbody tr")];
  let y = rows.indexOf(from.parentNode);
  let x = from.cellIndex;
  do {
    y += step[0];
    x += step[1];
  } while (rows[y]?.cells[x] && !rows[y].cells[x].firstChild);
  const to = rows[y]?.cells[x]?.querySelector("a");
  if (!to) return;
  event.currentTarget.querySelector("a[tabindex='0']")?.setAttribute("tabindex", "-1");
  to.setAttribute("tabindex", "0");
  to.focus();
}
