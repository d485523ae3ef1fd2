// Elements and texts. Everything of a backend's reaches the page as text, never as HTML.

function h(tag, attributes, ...children) {
  const svg = ["svg", "rect", "line", "path", "circle", "text"].includes(tag);
  const e = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) e.style.setProperty(name, value);
    else e.setAttribute(name, value === true ? "" : value);
  }
  e.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== ""));
  return e;
}

// Units in three characters or so: .31, 1.4, 27, 480, 2e5
function short(u) {
  if (u === "nan") return "nan";
  const x = asNumber(u);
  if (Number.isNaN(x)) return "";
  if (x === Infinity) return "inf";
  if (x === 0) return "0";
  if (x < 0.01) return x.toExponential(0);
  if (x < 1) return x.toPrecision(2).replace(/^0(?=\.)/, "");
  if (x < 10) return x.toPrecision(2);
  return x < 999.5 ? String(Math.round(x)) : x.toExponential(0).replace("+", "");
}

// A number of a record: up to 9 digits here, all of them in its title.
function number(value, digits = 9) {
  if (typeof value !== "number") return String(value);
  const size = Math.abs(value);
  const text = value.toPrecision(digits);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return Number(text).toExponential().replace("e+", "e");
  return Object.is(value, -0) ? "-0" : String(Number(text));
}

const numeral = (value, digits) => h("span", { class: "num", title: String(value) }, number(value, digits));

const modeName = (mode) => mode; // the command's word

// One word for a failure that has no error to show.
const WORD = {
  WRONG_SHAPE: "shape", WRONG_DTYPE: "dtype", NOT_WRITTEN: "unset", OUT_OF_BOUNDS: "oob",
  INPUT_CHANGED: "input", NOT_REPEATABLE: "flaky", ERROR: "error", CRASH: "crash", TIMEOUT: "hang",
  OUT_OF_MEMORY: "oom", UNSUPPORTED: "–",
};
// The kind in a sign, so that colour is never alone.
const SIGN = { [FAILED]: "✕\u2009", [KNOWN]: "†\u2009", [HARNESS_ERROR]: "!\u2009", [NO_EVIDENCE]: "?\u2009", [UNSUPPORTED]: "", [PASSED]: "" };

// "2 fail, 1 no evidence, 111 pass"
const kindCounts = (kinds) => page.labels.map((name, k) => kinds[k] && `${kinds[k].toLocaleString("en")} ${name}`)
  .filter(Boolean).join(", ");

function label(i) {
  const measured = col.kind[i] === PASSED || verdictOf(i) === "WRONG_VALUE" || verdictOf(i) === "WRONG_GRADIENT";
  if ([HARNESS_ERROR, NO_EVIDENCE].includes(col.kind[i])) return SIGN[col.kind[i]].trim(); // not judged: no figure, no word
  const value = measured ? short(col.units[i]) : WORD[verdictOf(i)] ?? verdictOf(i).toLowerCase();
  return SIGN[col.kind[i]] + (value || (col.kind[i] === PASSED ? "✓" : WORD[verdictOf(i)] ?? "fail"));
}

// Where an error of u units stands, of c allowed: 0 at one unit, 4 at the limit whatever it is, an octave each elsewhere.
const octaves = (u, c) => (u <= 1 ? Math.log2(u) : u <= c ? (4 * Math.log2(u)) / Math.log2(c) : 4 + Math.log2(u / c));
// The same from 1/8 unit to the limit, and beyond it by powers of ten, from 0 to 1.
// The colour stays calm up to a few units, which is where honest backends are.
const heat = (u, c) => Math.min(1, Math.max(0, (3 + octaves(u, c)) / 7)) || 0;
const excess = (u, c) => (u === Infinity || Number.isNaN(u) || !c ? 1 : Math.min(1, Math.max(0, Math.log10(u / c) / 6)));
// "2.7 units of 2 allowed"
const ofAllowed = (u, c) => `${short(u)} units${c === null ? "" : ` of ${number(c, 3)} allowed`}`;

// A coloured cell, as in the heat map; of an element of its own or of a link.
const depth = (i) => (col.kind[i] === FAILED ? excess(size(i), limitOf(i)) : heat(units[i], limitOf(i))).toFixed(3);
const cellClass = (i, text = label(i)) => `cell ${kindName(i)}${/[a-z]{4}/.test(text) ? " long" : ""}`;
const kindName = (i) => page.kinds[col.kind[i]];
const badge = (i) => h("span", { class: `badge ${kindName(i)}`, title: page.meanings[verdictOf(i)] },
  verdictOf(i) + (col.kind[i] === KNOWN ? " (known)" : ""));

const plural = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

function announce(text) {
  document.getElementById("say").textContent = text;
}

function copyButton(text, what = "repro") {
  const button = h("button", { type: "button", class: "copy", "aria-label": `Copy ${what}` }, "Copy");
  button.addEventListener("click", async () => {
    await copy(text);
    button.textContent = "Copied";
    announce(`Copied ${what}`);
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  return button;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // No permission, or a page that is not a secure context: the old way, through a selection.
    const area = h("textarea", { class: "hidden" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

const code = (text, what) => h("div", { class: "code" }, h("pre", { tabindex: "0" }, h("code", {}, text)), copyButton(text, what));
