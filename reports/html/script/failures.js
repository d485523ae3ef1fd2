// The failures, first on the page: what was expected, what came, by how much, and how to see it again.

const PER_CAUSE = 2; // shown at first on the overview, of each cause
const CAUSES = 20;
const AT_ONCE = 40;

function failureList(records, state) {
  const causes = byCause(records);
  const [known, own] = [KNOWN, HARNESS_ERROR].map((k) => records.filter((i) => col.kind[i] === k));
  const total = causes.reduce((sum, cause) => sum + cause.some.length, 0);
  const ops = new Set(causes.map((cause) => col.op[cause.some[0]])).size;
  return h("section", { "aria-labelledby": "failures", class: "failures" },
    h("div", { class: "head" }, h("h2", { id: "failures" }, total ? plural(total, "failure") : "No failures"),
      total ? h("p", { class: "hint" }, `${plural(causes.length, "cause")}${state.op ? "" : ` in ${plural(ops, "operator")}`}`) : ""),
    total ? failureTable(causes, state) : "", known.length ? reasonList(known, "known failure", "known", "known") : "",
    own.length ? reasonList(own, "harness error", "message", verdictOf(own[0])) : "");
}

// The causes that all reports have, of these records alone; the smallest case of each comes first.
function byCause(records) {
  const chosen = new Set(records);
  return page.causes.map(([text, list]) => ({ text, first: list[0], some: list.filter((i) => chosen.has(i)) }))
    .filter((cause) => cause.some.length);
}

// "conv2d gradient, WRONG_GRADIENT: 41 records, f32 f16", why, and the picture of the smallest case.
const whyOf = ({ text, first }) => page.strings[text].replaceAll("\u0001", () => caseOf(first));
function causeRow(cause) {
  const { some } = cause;
  const why = whyOf(cause);
  const dtypes = page.dtypes.filter((_, k) => some.some((i) => col.dtype[i] === k)).join(" ");
  const i = some[0];
  const what = `${opOf(i)} ${modeOf(i)}${several ? ` on ${nameOf(i)}` : ""}, ${verdictOf(i)}`;
  const target = { op: opOf(i), mode: modeOf(i), verdict: verdictOf(i), backend: several ? backendOf(i) : "" };
  const [first] = page.evidence[i]?.[2] ?? [];
  return h("tr", { class: "op cause", role: "row" }, h("th", { colspan: 7, scope: "colgroup", role: "rowheader" },
    h("div", { class: "told" }, h("div", {}, h("a", { href: hashOf(target) }, what), `: ${plural(some.length, "record")}, ${dtypes}`,
      why && h("p", { class: "diagnosis" }, why)), first ? h("div", { class: "small", inert: true }, picture(first, modeOf(i), false)) : "")));
}

const HEADS = ["Case", "Element", "Expected", "Got", "Bound", "Units", "Repro"];
function failureTable(causes, state) {
  const body = h("tbody", { role: "rowgroup" });
  const table = h("table", { class: "list", role: "table", "aria-labelledby": "failures" },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, HEADS.map((t, k) =>
      h("th", { scope: "col", role: "columnheader", class: k > 1 && k < 6 && "right" }, t)))), body);
  const left = [...causes];
  const more = h("tr", { role: "row", class: "more" });
  const grow = () => {
    more.remove();
    for (const cause of left.splice(0, CAUSES)) {
      body.append(causeRow(cause));
      rest(body, null, cause.some, state.op ? AT_ONCE : PER_CAUSE, whyOf(cause));
    }
    if (left.length) body.append(more);
    more.replaceChildren(moreCell(plural(left.length, "more cause"), grow));
  };
  grow();
  return table;
}

const moreCell = (text, onclick) => h("td", { colspan: 7, role: "cell" }, h("button", { type: "button", class: "quiet", onclick }, text));

// Add `many` failures after the row `at` (at the end where there is none), and a button for those left.
function rest(body, at, failed, many, told) {
  const rows = failed.slice(0, many).map((i) => failureRow(i, told));
  const left = failed.slice(many);
  if (left.length) {
    const more = h("tr", { role: "row", class: "more" });
    more.append(moreCell(`${left.length.toLocaleString("en")} more`, () => {
      rest(body, more, left, AT_ONCE, told);
      more.nextSibling?.querySelector("a")?.focus();
      more.remove();
    }));
    rows.push(more);
  }
  if (at) at.after(...rows);
  else body.append(...rows);
}

// What was `told` of the cause is not told again of each of its records.
function failureRow(i, told) {
  const w = col.worst[i];
  const cell = (name, ...content) => h("td", { class: name, role: "cell", "data-name": name }, ...content);
  const why = [textOf("message", i), textOf("diagnosis", i)];
  if (!why[0] && !why[1] && !w) why[0] = page.meanings[verdictOf(i)] ?? "";
  return h("tr", { role: "row" },
    cell("case",
      h("div", { class: "what" }, badge(i), " ", h("a", { href: caseLink(i) }, caseOf(i)), " ",
        h("span", { class: "tag" }, modeName(modeOf(i))), several ? h("span", { class: "tag" }, nameOf(i)) : ""),
      h("div", { class: "why" }, why[1] && why[1] !== told ? h("p", { class: "diagnosis" }, why[1]) : "", why[0] && why[0] !== told ? h("p", { class: "message" }, why[0]) : "")),
    cell("element", w ? `${page.strings[w[0]]}[${w[1]}]` : ""),
    cell("expected", w ? numeral(w[3]) : ""),
    cell("got", w ? numeral(w[2]) : ""),
    cell("bound", w ? numeral(w[4], 3) : ""),
    cell("units", h("span", { title: col.limit[i] === null ? null : ofAllowed(col.units[i], col.limit[i]) }, short(col.units[i]))),
    cell("repro", textOf("repro", i) ? copyButton(textOf("repro", i), `repro of ${caseOf(i)}`) : ""));
}

// Records of one kind by why they are of it.
function reasonList(records, noun, column, verdict) {
  const reasons = [...groupBy(records, (i) => textOf(column, i))].sort((a, b) => b[1].length - a[1].length);
  return h("details", { class: "reasons" },
    h("summary", {}, `${plural(records.length, noun)}, for ${plural(reasons.length, "reason")}`),
    h("ul", {}, reasons.slice(0, 200).map(([reason, some]) => h("li", {}, reason, " ",
      h("a", { href: some.length === 1 ? caseLink(some[0]) : hashOf({ verdict, q: "", op: sameOp(some) }) },
        plural(some.length, "record"))))));
}

const sameOp = (records) => (records.every((i) => col.op[i] === col.op[records[0]]) ? opOf(records[0]) : "");
