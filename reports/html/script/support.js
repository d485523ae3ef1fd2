// The support matrix: what each backend does with each operator. Its cells were computed where all reports get them.

const KIND_OF = Object.fromEntries(page.support.states.map((text, k) => [text, k]));

function supportPage(query) {
  const { sentences, rows } = page.support;
  const terms = query.toLowerCase().split(/\s+/).filter(Boolean);
  const ops = Object.keys(rows).filter((op) => terms.every((term) => op.toLowerCase().includes(term)));
  announce(plural(ops.length, "operator"));
  return h("section", { "aria-labelledby": "matrix", class: "support" },
    h("p", { class: "crumbs" }, h("a", { href: "#" }, "All operators")),
    h("h2", { id: "matrix", tabindex: "-1" }, "Support matrix"),
    h("ul", { class: "sentences" }, sentences.map((text) => h("li", {}, text))),
    h("p", { class: "hint" }, "dtypes: those in which every record of the operator passes. † known: a failure with an entry in a ledger. " +
      "–: declined. Empty: not run."),
    ops.length ? h("div", { class: "wide", tabindex: "0", role: "group", "aria-labelledby": "matrix" }, supportTable(ops, rows))
      : h("p", { class: "empty" }, query ? `No operator has ${query} in its name.` : "No record."));
}

function supportTable(ops, rows) {
  const heads = ["forward", "gradient", "dtypes"];
  const cells = (op) => page.backends.map((backend, b) => {
    const [value, gradient, dtypes] = rows[op][b];
    const target = { op, backend: several ? backend : "" };
    return [supportCell(value, { ...target, mode: "forward" }, "first"), supportCell(gradient, { ...target, mode: "gradient" }),
      h("td", { class: "dtypes" }, dtypes)];
  });
  return h("table", { "aria-labelledby": "matrix" },
    h("thead", {}, several ? h("tr", {}, h("td", {}), page.backends.map((backend, b) =>
      h("th", { scope: "colgroup", colspan: 3, class: "first", title: backend }, page.names[b]))) : "",
    h("tr", {}, h("th", { scope: "col" }, "Operator"), page.backends.flatMap(() => heads.map((name, k) =>
      h("th", { scope: "col", class: k === 0 && "first" }, name))))),
    h("tbody", {}, ops.map((op) => h("tr", {}, h("th", { scope: "row" }, h("a", { href: hashOf({ op }) }, op)), cells(op)))));
}

const supportCell = (text, target, style) => h("td", { class: style }, text &&
  h("a", { class: `badge ${page.kinds[KIND_OF[text]]}`, href: hashOf(target) }, SIGN[KIND_OF[text]] + text));
