// What a failure looked like: pictures of its error over the tensor, its worst elements, its inputs in numbers.

function pictures(i) {
  const shown = page.evidence[i]?.[2] ?? [];
  return shown.length ? h("div", {}, shown.map((p, k) => picture(p, modeOf(i), k > 0)), scale(shown)) : "";
}

function evidenceTables(i) {
  const shown = page.evidence[i];
  if (shown === 0) return h("p", { class: "hint" }, "Inputs and pictures are left out of this page, which has too many: see results.jsonl.");
  const [inputs, elements] = shown ?? [[], []];
  return [elements.length ? elementTable(elements) : "", inputs.length ? inputTable(inputs) : ""];
}

function smallTable(title, heads, rows) {
  return h("div", { class: "wide", tabindex: "0", role: "group", "aria-label": title }, h("table", { class: "small" },
    h("caption", {}, title), h("thead", {}, h("tr", {}, heads.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell, k) => (k === 0 ? h("th", { scope: "row" }, cell) : h("td", {}, cell))))))));
}

function elementTable(elements) {
  const times = (got, expected, bound) => (bound === 0 ? "exact" : typeof got === "number" && typeof expected === "number"
    ? `${short(Math.abs(got - expected) / bound)} ×` : "");
  return smallTable("Worst elements", ["Element", "Expected", "Got", "Bound", "Error / bound"],
    elements.map(([tensor, index, got, expected, bound]) => [`${tensor}[${index.join(", ")}]`, numeral(expected), numeral(got),
      numeral(bound, 3), times(got, expected, bound)]));
}

function inputTable(inputs) {
  const value = (x) => (x === null ? "" : numeral(x, 4));
  const odd = (nans, infs) => [nans && `${nans} nan`, infs && `${infs} inf`].filter(Boolean).join(", ") || "all";
  return smallTable("Inputs", ["Tensor", "Shape", "Dtype", "Layout (strides)", "Fill", "Min", "Max", "Mean |x|", "Finite", "First elements"],
    inputs.map(([name, shape, dtype, layout, strides, fill, low, high, mean, nans, infs, first]) => [name, shape.join(" × ") || "scalar",
      dtype, `${layout} (${strides.join(", ")})`, fill, value(low), value(high), value(mean), odd(nans, infs),
      first.map((x, k) => [k ? ", " : "", numeral(x, 4)])]));
}
