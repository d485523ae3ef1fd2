// One operator: its docstring and the distribution of its errors. One case: everything in its records.

function operatorHead(records, state) {
  const doc = page.docs[state.op];
  const { kinds, worst } = summarise(records);
  return h("section", { "aria-labelledby": "operator" },
    h("p", { class: "crumbs" }, h("a", { href: "#" }, "All operators")),
    h("div", { class: "head" }, h("h2", { id: "operator", tabindex: "-1" }, state.op),
      h("p", { class: "hint" }, worst < 0 ? "no records" : `${plural(records.length, "record")}: ${kindCounts(kinds)}`)),
    doc && docstring(doc),
    records.length ? distributions(records) : "");
}

// The first lines are the formula; a long rest is folded.
function docstring(doc) {
  const text = doc.trim();
  const cut = text.length < 1200 ? -1 : text.indexOf("\n\n", 600);
  if (cut < 0) return h("pre", { class: "doc", tabindex: "0" }, text);
  return h("div", {}, h("pre", { class: "doc", tabindex: "0" }, text.slice(0, cut)),
    h("details", {}, h("summary", {}, "More of its definition"), h("pre", { class: "doc", tabindex: "0" }, text.slice(cut + 2))));
}

function distributions(records) {
  const kinds = [...groupBy(records, (i) => [col.backend[i], col.mode[i], col.dtype[i]].join())];
  kinds.sort(([a], [b]) => (a < b ? -1 : 1));
  const charts = kinds.filter(([, some]) => some.some((i) => !Number.isNaN(units[i]))).map(([, some]) => {
    const i = some[0];
    const name = `${dtypeOf(i)} ${modeName(modeOf(i))}${several ? ` ${nameOf(i)}` : ""}`;
    const filter = { op: opOf(i), dtype: dtypeOf(i), mode: modeOf(i), backend: several ? backendOf(i) : "" };
    return h("figure", {}, h("figcaption", {}, h("a", { href: hashOf(filter) }, name), median(some)), histogram(some, name));
  });
  return charts.length ? h("div", { class: "charts", "--k": new Set(records.map((i) => col.dtype[i])).size, "aria-label": "Distribution of errors", role: "group" }, charts) : "";
}

function median(some) {
  const sorted = some.map((i) => units[i]).filter((u) => !Number.isNaN(u)).sort((a, b) => a - b);
  const text = `median ${short(sorted[sorted.length >> 1])}, max ${short(sorted.at(-1))}`;
  return h("span", { class: "hint" }, text);
}

// Half octaves from 1/16 unit to 8 times its own limit, each record; what lies outside stands in the first and last bar.
function histogram(some, name) {
  const [low, high] = [-4, 7];
  const bins = Array.from({ length: 2 * (high - low) }, () => [0, 0]);
  for (const i of some) {
    if (Number.isNaN(units[i])) continue;
    const at = Math.floor(2 * (octaves(Math.max(units[i], 1e-30), limitOf(i)) - low));
    bins[Math.min(bins.length - 1, Math.max(0, at))][col.kind[i] === FAILED ? 1 : 0]++;
  }
  const most = Math.max(1, ...bins.map(([a, b]) => a + b));
  const [wide, tall] = [bins.length * 9, 52];
  const x = (octave) => 18 * (octave - low);
  const bars = bins.flatMap(([good, bad], k) => [
    good ? h("rect", { x: k * 9 + 1, width: 8, y: tall - (tall * good) / most, height: (tall * good) / most, class: "good" }) : "",
    bad ? h("rect", { x: k * 9 + 1, width: 8, y: tall - (tall * (good + bad)) / most, height: (tall * bad) / most, class: "bad" }) : "",
  ]);
  const mark = (octave, text) => [
    h("line", { x1: x(octave), x2: x(octave), y1: 0, y2: tall + 4, class: "mark" }),
    h("text", { x: x(octave), y: tall + 14, "text-anchor": "middle" }, text),
  ];
  return h("svg", { viewBox: `0 -2 ${wide} ${tall + 19}`, role: "img", "aria-label":
    `Errors of ${name}: ${median(some).textContent} units, over ${plural(some.length, "record")}` },
    bars, h("line", { x1: 0, x2: wide, y1: tall, y2: tall, class: "axis" }), mark(0, "1"), mark(4, "limit"));
}

const caseLink = (i) => hashOf({ op: opOf(i), case: caseOf(i), caseMode: modeOf(i) });

function casePage(state) {
  const same = [];
  for (let i = 0; i < count; i++) {
    if (caseOf(i) === state.case && (!state.caseMode || modeOf(i) === state.caseMode)) same.push(i);
  }
  if (!same.length) return [missing(`This run has no record of ${state.case} ${state.caseMode}.`)];
  const i = same[0];
  const script = page.scripts[state.case];
  return [h("section", { "aria-labelledby": "case", class: "case-page" },
    h("p", { class: "crumbs" }, h("a", { href: "#" }, "All operators"), " / ", h("a", { href: hashOf({ op: opOf(i) }) }, opOf(i)),
      neighbours(i)),
    h("h2", { id: "case", tabindex: "-1" }, caseOf(i)),
    parts(caseOf(i)),
    relatives(i),
    h("div", { class: "sides" }, same.map((j) => record(j))),
    script && h("details", { class: "script" }, h("summary", {}, "A standalone script that reproduces the numbers"),
      code(script, "script")))];
}

const missing = (text) => h("section", {}, h("h2", { id: "case", tabindex: "-1" }, "Not in this report"),
  h("p", {}, text, " ", h("a", { href: "#" }, "All operators")));

// The parts of a case id, one by one: softmax[x=4x33;dim=-1;f32] has three.
function parts(id) {
  const body = id.slice(id.indexOf("[") + 1, id.endsWith("]") ? -1 : undefined);
  if (body === id) return "";
  return h("ul", { class: "parts", "aria-label": "Parts of the case" }, body.split(/;(?![^(]*\))/).map((part) => {
    const at = part.indexOf("=");
    return h("li", {}, at < 0 ? part : [h("span", {}, part.slice(0, at)), part.slice(at + 1)]);
  }));
}

// The same case in the other mode and in other dtypes.
function relatives(i) {
  const bare = (id, dtype) => id.replace(`;${dtype}`, "");
  const mine = bare(caseOf(i), dtypeOf(i));
  const seen = new Map();
  for (let j = 0; j < count; j++) {
    if (col.op[j] !== col.op[i] || bare(caseOf(j), dtypeOf(j)) !== mine) continue;
    const name = `${dtypeOf(j)} ${modeName(modeOf(j))}`;
    if (!seen.has(name) || worstFirst(j, seen.get(name)) < 0) seen.set(name, j);
  }
  if (seen.size < 2) return "";
  return h("nav", { class: "relatives", "aria-label": "The same case in other dtypes and modes" }, [...seen].map(([name, j]) =>
    h("a", { href: caseLink(j), class: cellClass(j), "--p": depth(j),
      "aria-current": col.case[j] === col.case[i] && col.mode[j] === col.mode[i] ? "page" : null },
    h("span", {}, name), label(j))));
}

function neighbours(i) {
  const order = [...new Set(matching({ ...BLANK, op: opOf(i) }).sort(worstFirst).map((j) => groupOf[j]))];
  const at = order.indexOf(groupOf[i]);
  const link = (g, text, name) => (g === undefined ? "" : h("a", { href: caseLink(groups[g][0]), class: name }, text));
  return h("span", { class: "neighbours" }, link(order[at - 1], "← Worse", "previous"), ` ${at + 1} of ${order.length} `, link(order[at + 1], "Better →", "next"));
}

function record(i) {
  const w = col.worst[i];
  const rows = [];
  if (w) {
    const off = typeof w[2] === "number" && typeof w[3] === "number" ? Math.abs(w[2] - w[3]) : null;
    rows.push(["Worst element", `${page.strings[w[0]]}[${w[1]}]`], ["Expected", numeral(w[3], 17)], ["Got", numeral(w[2], 17)],
      ...(off === null ? [] : [["Difference", numeral(off, 4)]]), ["Bound", numeral(w[4], 4)]);
  }
  if (col.units[i] !== null) rows.push(["Units", [numeral(col.units[i], 4), col.limit[i] === null ? "" : ` of ${number(col.limit[i], 4)} allowed`]]);
  if (col.ulp[i]) rows.push(["ULP", ulpText(i)]);
  if (col.standard[i]) rows.push(["By the standard", standardText(i)]);
  if (col.rms[i] !== null) rows.push(["RMS", numeral(col.rms[i], 3)], ["Bias", numeral(col.bias[i], 3)]);
  if (page.strings[col.declared[i]]) rows.push(["Judged as declared", page.strings[col.declared[i]]]);
  if (page.strings[col.rounding[i]]) rows.push(["Rounding", page.strings[col.rounding[i]]]);
  if (col.nonfinite[i]) rows.push(["Not finite", plural(col.nonfinite[i], "element")]);
  rows.push(["Time", time(seconds[i])]);
  if (col.judging[i] !== null) rows.push(["Judging", time(col.judging[i])]);
  if (page.changes) rows.push(["Baseline", baselineText(i)]);
  const texts = [["message", "message"], ["diagnosis", "diagnosis"], ["known", "known"]].filter(([name]) => textOf(name, i));
  return h("article", { "aria-label": `${nameOf(i)}: ${verdictOf(i)}` },
    h("h3", {}, badge(i), " ", modeName(modeOf(i)), h("span", { class: "tag", title: backendOf(i) }, nameOf(i))),
    texts.length ? texts.map(([name, style]) => h("p", { class: style }, (name === "known" ? "Known: " : "") + textOf(name, i)))
      : h("p", { class: "hint" }, page.meanings[verdictOf(i)] ?? ""),
    h("div", { class: "measured" }, h("div", {}, gauge(i), h("dl", { class: "numbers" }, rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))))),
      pictures(i)),
    evidenceTables(i),
    textOf("repro", i) ? code(textOf("repro", i), "repro") : "");
}

function baselineText(i) {
  const { verdict, units: before, limit, rms, bias } = page.changes;
  if (verdict[i] < 0) return "not in it";
  const arrays = rms[i] === null || bias[i] === null ? "" : `, RMS ${number(rms[i], 3)}, bias ${number(bias[i], 3)}`;
  return page.verdicts[verdict[i]] + (before[i] === null ? "" : `, ${ofAllowed(before[i], limit[i])}`) + arrays;
}

// Where the error stands on a log scale between 1/16 unit and far beyond its limit; none where bits must be met.
function gauge(i) {
  const u = units[i];
  const c = limitOf(i);
  if (Number.isNaN(u) || !c) return "";
  const [low, high] = [-4, Math.log2(Math.max(c * 64, u === Infinity ? 0 : u * 4))];
  const x = (v) => (400 * (Math.log2(Math.min(Math.max(v, 2 ** low), 2 ** high)) - low)) / (high - low);
  const mark = (v, text) => [h("line", { x1: x(v), x2: x(v), y1: 6, y2: 22, class: "mark" }),
    h("text", { x: x(v), y: 34, "text-anchor": "middle" }, text)];
  return h("svg", { class: "gauge", viewBox: "-8 0 416 38", role: "img", "aria-label":
    `${short(col.units[i])} units, where 1 is honest rounding and ${number(c, 3)} are allowed` },
    h("rect", { x: 0, y: 10, width: x(c), height: 8, class: "inside" }),
    h("rect", { x: x(c), y: 10, width: 400 - x(c), height: 8, class: "outside" }),
    mark(1, "1"), mark(c, number(c, 3)), h("circle", { cx: x(u), cy: 14, r: 5.5, class: kindName(i) }));
}
