// The records by columns, and what is computed from them: numbers, filters, order, groups.

const page = JSON.parse(document.getElementById("data").textContent);
const col = page.columns;
const count = col.case.length;
const [FAILED, KNOWN, DOUBTFUL, UNSUPPORTED, PASSED] = [0, 1, 2, 3, 4];
const several = page.backends.length > 1;

// nan sorts as inf: both are as wrong as can be. No number at all stays NaN.
const asNumber = (v) =>
  typeof v === "number" ? v : v === null ? NaN : v === "nan" ? Infinity : Number(v.replace("inf", "Infinity"));
const units = Float64Array.from(col.units, asNumber);
const seconds = Float64Array.from(col.seconds, asNumber);

const caseOf = (i) => page.cases[col.case[i]];
const opOf = (i) => page.ops[col.op[i]];
const modeOf = (i) => page.modes[col.mode[i]];
const dtypeOf = (i) => page.dtypes[col.dtype[i]];
const backendOf = (i) => page.backends[col.backend[i]];
const nameOf = (i) => page.names[col.backend[i]]; // what to call it: a path by its last part
const verdictOf = (i) => page.verdicts[col.verdict[i]];
// The case id was folded into one character where a text repeats it.
const textOf = (name, i) => page.strings[col[name][i]].replaceAll("\u0001", () => caseOf(i));

// One group for each case and mode: what several backends did with the same thing stands in one row.
const groups = [];
const groupOf = new Int32Array(count);
{
  const seen = new Map();
  for (let i = 0; i < count; i++) {
    const key = col.case[i] * page.modes.length + col.mode[i];
    let g = seen.get(key);
    if (g === undefined) {
      seen.set(key, (g = groups.length));
      groups.push([]);
    }
    groups[g].push(i);
    groupOf[i] = g;
  }
}

const GROWTH = 8;
// What became of a record since the baseline: "", new, broken, fixed or grown.
function changeOf(i) {
  const { kind, units: before } = page.baseline;
  if (kind[i] < 0) return "new";
  const now = col.kind[i] === FAILED;
  if (now !== (kind[i] === FAILED)) return now ? "broken" : "fixed";
  return !now && units[i] > 1 && units[i] > GROWTH * asNumber(before[i]) ? "grown" : "";
}

// Does a verdict filter ("failed", "known" or the name of a verdict) let record i through?
function verdictFits(i, wanted) {
  if (wanted === "failed" || wanted === "known") return page.kinds[col.kind[i]] === wanted;
  return verdictOf(i) === wanted;
}

let lowered; // of the strings and the cases, made at the first search
function searcher(query) {
  const terms = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!terms.length) return () => true;
  lowered ??= [page.strings, page.cases, page.ops, page.backends, page.verdicts, page.modes].map((list) =>
    list.map((t) => t.toLowerCase()));
  const hits = terms.map((t) => lowered.map((list) => list.map((text) => text.includes(t))));
  return (i) => hits.every(([strings, cases, ops, backends, verdicts, modes]) =>
    cases[col.case[i]] || ops[col.op[i]] || verdicts[col.verdict[i]] || modes[col.mode[i]] ||
    backends[col.backend[i]] || strings[col.message[i]] || strings[col.diagnosis[i]] || strings[col.known[i]]);
}

// The numbers of the records that the state's operator and filters let through.
function matching(state) {
  const wanted = [["op", page.ops], ["dtype", page.dtypes], ["mode", page.modes], ["backend", page.backends]]
    .filter(([name]) => state[name])
    .map(([name, list]) => [col[name], list.indexOf(state[name])]);
  const found = searcher(state.q);
  const out = [];
  for (let i = 0; i < count; i++) {
    if (!wanted.every(([column, value]) => column[i] === value)) continue;
    if (state.verdict && !verdictFits(i, state.verdict)) continue;
    if (state.change && page.baseline && changeOf(i) !== state.change) continue;
    if (found(i)) out.push(i);
  }
  return out;
}

// Failures before everything else, then the larger error; a failure without a number counts as the largest.
const badness = (i) => (Number.isNaN(units[i]) ? (col.kind[i] === FAILED ? Infinity : -1) : units[i]);
const byBadness = (a, b) => col.kind[a] - col.kind[b] || (badness(b) > badness(a) ? 1 : badness(b) < badness(a) ? -1 : a - b);

// What a set of records amounts to: the worst kind, its worst record, and how many of each kind.
function summarise(records) {
  const kinds = [0, 0, 0, 0, 0];
  let worst = -1;
  for (const i of records) {
    kinds[col.kind[i]]++;
    // A case that was declined says nothing beside one that ran.
    if (worst < 0 || (col.kind[worst] === UNSUPPORTED) > (col.kind[i] === UNSUPPORTED) ||
        ((col.kind[worst] === UNSUPPORTED) === (col.kind[i] === UNSUPPORTED) && byBadness(i, worst) < 0)) worst = i;
  }
  return { kinds, worst, total: records.length };
}

function groupBy(records, key) {
  const map = new Map();
  for (const i of records) {
    const k = key(i);
    if (map.has(k)) map.get(k).push(i);
    else map.set(k, [i]);
  }
  return map;
}
