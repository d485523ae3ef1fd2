// The failures, first on the page: what was expected, what came, by how much, and how to see it again.

const PER_OP = 3; // shown at first on the overview, of each operator
const AT_ONCE = 40;

function failureList(records, state) {
  const failed = byOperator(records.filter((i) => col.kind[i] === FAILED));
  const [known, own] = [KNOWN, HARNESS_ERROR].map((k) => records.filter((i) => col.kind[i] === k));
  const total = [...failed.values()].reduce((sum, some) => sum + some.length, 0);
  return h("section", { "aria-labelledby": "failures", class: "failures" },
    h("div", { class: "head" }, h("h2", { id: "failures" }, total ? plural(total, "failure") : "No failures"),
      total && !state.op ? h("p", { class: "hint" }, `in ${plural(failed.size, "operator")}`) : ""),
    total ? failureTable(failed, state) : "", known.length ? reasonList(known, "known failure", "known", "known") : "",
    own.length ? reasonList(own, "harness error", "message", verdictOf(own[0])) : "");
}

// Failures by operator. Of each kind of failure the worst comes first, so that the first few tell the most.
function byOperator(failed) {
  const ops = new Map([...groupBy(failed, (i) => col.op[i])].sort(([a], [b]) => a - b));
  for (const [op, some] of ops) {
    const seen = new Map();
    const turn = new Map(some.sort(worstFirst).map((i) => {
      const kind = [col.verdict[i], col.mode[i], col.backend[i], col.diagnosis[i]].join();
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
      return [i, seen.get(kind)];
    }));
    ops.set(op, some.sort((a, b) => turn.get(a) - turn.get(b) || worstFirst(a, b)));
  }
  return ops;
}

const HEADS = ["Case", "Element", "Expected", "Got", "Bound", "Units", "Repro"];
function failureTable(failed, state) {
  const body = h("tbody", { role: "rowgroup" });
  const table = h("table", { class: "list", role: "table", "aria-labelledby": "failures" },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, HEADS.map((t, k) =>
      h("th", { scope: "col", role: "columnheader", class: k > 1 && k < 6 && "right" }, t)))), body);
  if (state.op) {
    for (const some of failed.values()) rest(body, null, some, AT_ONCE);
    return table;
  }
  const ops = [...failed];
  const more = h("tr", { role: "row", class: "more" });
  const grow = () => {
    more.remove();
    for (const [op, some] of ops.splice(0, 20)) {
      body.append(h("tr", { class: "op", role: "row" }, h("th", { colspan: 7, scope: "colgroup", role: "rowheader" },
        h("a", { href: hashOf({ op: page.ops[op], verdict: "failed" }) }, page.ops[op]), ` ${plural(some.length, "failure")}`)));
      rest(body, null, some, PER_OP);
    }
    if (ops.length) body.append(more);
    more.replaceChildren(moreCell(`${plural(ops.length, "more operator")} with failures`, grow));
  };
  grow();
  return table;
}

const moreCell = (text, onclick) => h("td", { colspan: 7, role: "cell" }, h("button", { type: "button", class: "quiet", onclick }, text));

// Add `many` failures after the row `at` (at the end where there is none), and a button for those left.
function rest(body, at, failed, many) {
  const rows = failed.slice(0, many).map(failureRow);
  const left = failed.slice(many);
  if (left.length) {
    const more = h("tr", { role: "row", class: "more" });
    more.append(moreCell(`${left.length.toLocaleString("en")} more`, () => {
      rest(body, more, left, AT_ONCE);
      more.nextSibling?.querySelector("a")?.focus();
      more.remove();
    }));
    rows.push(more);
  }
  if (at) at.after(...rows);
  else body.append(...rows);
}

function failureRow(i) {
  const w = col.worst[i];
  const cell = (name, ...content) => h("td", { class: name, role: "cell", "data-name": name }, ...content);
  const why = [textOf("message", i), textOf("diagnosis", i)];
  if (!why[0] && !why[1] && !w) why[0] = page.meanings[verdictOf(i)] ?? "";
  return h("tr", { role: "row" },
    cell("case",
      h("div", { class: "what" }, badge(i), " ", h("a", { href: caseLink(i) }, caseOf(i)), " ",
        h("span", { class: "tag" }, modeName(modeOf(i))), several ? h("span", { class: "tag" }, nameOf(i)) : ""),
      h("div", { class: "why" }, why[1] && h("p", { class: "diagnosis" }, why[1]), why[0] && h("p", { class: "message" }, why[0]))),
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
