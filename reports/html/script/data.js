// The records by columns, and what is shown of them: numbers, filters, groups. Kinds, their order and changes come with them.

const page = JSON.parse(document.getElementById("data").textContent);
const col = page.columns;
const count = col.case.length;
const [FAILED, KNOWN, HARNESS_ERROR, NO_EVIDENCE, UNSUPPORTED, PASSED] = page.kinds.keys();
const several = page.backends.length > 1;

// nan sorts as inf: both are as wrong as can be. No number at all stays NaN.
const asNumber = (v) =>
  typeof v === "number" ? v : v === null ? NaN : v === "nan" ? Infinity : Number(v.replace("inf", "Infinity"));
const units = Float64Array.from(col.units, asNumber);
// Units allowed where the largest error is: 0 where the bits must be met.
const limitOf = (i) => col.limit[i] ?? page.constant;
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

// What became of a record since the baseline, by its name.
const changeOf = (i) => page.changes.names[page.changes.change[i]];

// Does a verdict filter (a kind, or the name of a verdict) let record i through?
const verdictFits = (i, wanted) => (page.kinds.includes(wanted) ? page.kinds[col.kind[i]] : verdictOf(i)) === wanted;

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
  const fits = searcher(state.q);
  const out = [];
  for (let i = 0; i < count; i++) {
    if (!wanted.every(([column, value]) => column[i] === value)) continue;
    if (state.verdict && !verdictFits(i, state.verdict)) continue;
    if (state.change && page.changes && changeOf(i) !== state.change) continue;
    if (fits(i)) out.push(i);
  }
  return out;
}

const worstFirst = (a, b) => col.rank[a] - col.rank[b];
// Units as a number to sort and to colour by; a failure without one is beyond all.
const size = (i) => (Number.isNaN(units[i]) ? (col.kind[i] === FAILED ? Infinity : -1) : units[i]);

// What a set of records amounts to: the worst kind, its worst record, and how many of each kind.
function summarise(records) {
  const kinds = page.kinds.map(() => 0);
  let worst = -1;
  for (const i of records) {
    kinds[col.kind[i]]++;
    // A case that was declined says nothing beside one that ran.
    if (worst < 0 || (col.kind[worst] === UNSUPPORTED) > (col.kind[i] === UNSUPPORTED) ||
        ((col.kind[worst] === UNSUPPORTED) === (col.kind[i] === UNSUPPORTED) && worstFirst(i, worst) < 0)) worst = i;
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
