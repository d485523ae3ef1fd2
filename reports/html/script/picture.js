// The picture of an error over a tensor: its last axis across, all others down, a letter for a cell (Picture in _record.py).

const [WITHIN, OUT, NO_NUMBER] = [2, 3, 25];
const DECADES = 6; // from the bound to the deepest colour

const levelsOf = (cells) => [...cells.matchAll(/([a-z])(\d*)/g)].flatMap(([, letter, times]) =>
  Array(Number(times || 1)).fill(letter.charCodeAt(0) - 97));
const levelClass = (level) => (level === NO_NUMBER ? "none" : level < OUT ? `in${level}` : "out");
const levelDepth = (level) => Math.min(1, (level - OUT) / (2 * DECADES - 1)).toFixed(3);

function levelText(level) {
  if (level === NO_NUMBER) return "nan, inf, or an exact value missed";
  if (level < OUT) return ["no error", "up to 1 unit", "within its bound"][level];
  const times = (half) => short(10 ** (half / 2));
  return level === 22 ? `more than ${times(19)} bounds` : `${times(level - OUT)} to ${times(level - OUT + 1)} bounds`;
}

// Cell k of h holds the rows from at(k) up to at(k + 1).
const edge = (k, [from, to], cells) => from + Math.floor((k * (to - from)) / cells);
const lines = (noun, a, b) => (a === b ? `${noun} ${a}` : `${noun}s ${a}–${b}`);

function picture([tensor, shape, rows, columns, [tall, wide], text], mode, close) {
  const levels = levelsOf(text);
  const name = mode === "gradient" ? `the gradient of ${tensor}` : tensor;
  const part = (noun, k, range, cells) => lines(noun, edge(k, range, cells), edge(k + 1, range, cells) - 1);
  const whole = `${name}, ${shape.join(" × ") || "a scalar"}`;
  const title = close ? `Close-up of ${lines("row", rows[0], rows[1] - 1)}, ${lines("column", columns[0], columns[1] - 1)}` : `Error over ${whole}`;
  const caption = pattern(levels, tall, wide, rows, columns);
  const single = tall === rows[1] - rows[0] && wide === columns[1] - columns[0];
  const place = (r, c) => (single ? `${tensor}[${indexOf(edge(r, rows, tall), edge(c, columns, wide), shape).join(", ")}]`
    : [part("row", r, rows, tall), part("column", c, columns, wide)].join(", "));
  const long = shape.filter((n) => n > 1).length;
  const axes = long < 2 ? "" : long === 2 ? "rows down, columns across" : "last axis across, all others down";
  return h("figure", { class: "picture", "--wide": wide, "--tall": tall },
    h("figcaption", {}, h("span", {}, title), h("span", { class: "hint" }, axes), h("p", {}, caption)),
    drawing(levels, tall, wide, `${title}. ${caption}`, (r, c) => `${place(r, c)}: ${levelText(levels[r * wide + c])}`),
    h("p", { class: "ends", "aria-hidden": "true" }, h("span", {}, columns[0]), h("span", {}, columns[1] - 1)));
}

// The index in its own axes of an element of the folded tensor.
function indexOf(row, column, shape) {
  let left = row * (shape.findLast((n) => n > 1) ?? 1) + column;
  const index = [];
  for (const n of shape.toReversed()) {
    index.unshift(left % n);
    left = Math.floor(left / n);
  }
  return index;
}

// Where the failing cells are, in words: the picture's text alternative, and a caption for all.
function pattern(levels, tall, wide, rows, columns) {
  const bad = [...levels.keys()].filter((k) => levels[k] >= OUT);
  const what = tall === rows[1] - rows[0] && wide === columns[1] - columns[0] ? "elements" : "blocks";
  if (!bad.length) return `None of ${levels.length} ${what} is outside its bound.`;
  if (bad.length === levels.length) return levels.length === 1 ? "It is outside its bound." : `All ${levels.length} ${what} are outside their bound.`;
  const head = `${bad.length} of ${levels.length} ${what} outside their bound`;
  const parity = (k) => (Math.floor(k / wide) + (k % wide)) % 2;
  if (tall > 1 && wide > 1 && what === "elements" && levels.every((level, k) => (level >= OUT) === (parity(k) === parity(bad[0])))) {
    return `${head}: a checkerboard.`;
  }
  const axes = [["row", new Set(bad.map((k) => Math.floor(k / wide))), rows, tall], ["column", new Set(bad.map((k) => k % wide)), columns, wide]];
  const parts = axes.filter(([, , , cells]) => cells > 1).map(([noun, set, range, cells]) => some(noun, [...set].sort((a, b) => a - b), range, cells));
  return `${head}, in ${parts.join(" and ")}.`;
}

// "row 0", "columns 24–32", "every 8th column from 3", "5 of 33 columns"
function some(noun, list, range, cells) {
  const [first, last] = [list[0], list.at(-1)];
  if (list.length === cells) return `all ${noun}s`;
  if (last - first + 1 === list.length) return lines(noun, edge(first, range, cells), edge(last + 1, range, cells) - 1);
  const step = list[1] - first;
  const even = cells === range[1] - range[0] && list.length > 2 && list.every((k, at) => k === first + at * step);
  const nth = { 2: "2nd", 3: "3rd" }[step] ?? `${step}th`;
  return even && last + step >= cells ? `every ${nth} ${noun} from ${edge(first, range, cells)}`
    : `${list.length} of ${cells} ${noun}s, between ${edge(first, range, cells)} and ${edge(last + 1, range, cells) - 1}`;
}

// One path for each level, however many cells it has; a tip under the pointer, or where the arrow keys are.
function drawing(levels, tall, wide, title, tell) {
  const paths = [...groupBy([...levels.keys()], (k) => levels[k])].map(([level, cells]) => h("path", {
    class: levelClass(level), "--p": levelDepth(level), d: cells.map((k) => `M${k % wide} ${Math.floor(k / wide)}h1v1h-1z`).join("") }));
  const mark = h("rect", { class: "mark-cell", width: 1, height: 1, visibility: "hidden" });
  const tip = h("p", { class: "tip", role: "status" });
  const svg = h("svg", { viewBox: `0 0 ${wide} ${tall}`, preserveAspectRatio: "none", role: "img", "aria-label": title }, paths, mark);
  let [r, c] = [-1, -1];
  const point = (row, column) => {
    [r, c] = [Math.min(tall - 1, Math.max(0, row)), Math.min(wide - 1, Math.max(0, column))];
    mark.setAttribute("x", c);
    mark.setAttribute("y", r);
    mark.setAttribute("visibility", "visible");
    tip.textContent = tell(r, c);
    const x = (100 * svg.clientWidth * (c + 0.5)) / wide / tip.parentNode.clientWidth;
    tip.style.cssText = `left: ${x}%; top: ${(100 * r) / tall}%; transform: translate(${-x}%, -100%)`;
  };
  const leave = () => {
    mark.setAttribute("visibility", "hidden");
    tip.textContent = "";
  };
  const under = (event) => {
    const box = svg.getBoundingClientRect();
    point(Math.floor(((event.clientY - box.top) / box.height) * tall), Math.floor(((event.clientX - box.left) / box.width) * wide));
  };
  const move = (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    if (r < 0) point(0, 0);
    else point(r + step[0], c + step[1]);
  };
  return h("div", { class: "drawing" }, h("div", { class: "cells", tabindex: "0", role: "group", onkeydown: move, onblur: leave,
    "aria-label": "Cells of the picture; the arrow keys read them", onpointermove: under, onpointerdown: under, onpointerleave: leave },
  svg), tip);
}

// What the colours mean; one scale for all pictures, so that they compare.
function scale(pictures) {
  const seen = new Set(pictures.flatMap((p) => levelsOf(p.at(-1))));
  const swatch = (style, text, p) => h("span", {}, h("i", { class: style, "--p": p }), text);
  const steps = [...seen].some((level) => level >= OUT && level < NO_NUMBER) ? [0, 2, 4, DECADES] : [];
  return h("p", { class: "scale" }, [...seen].some((level) => level < OUT) ? swatch("in1", "within the bound") : "",
    steps.map((d) => swatch("out", d ? `${short(10 ** d)} bounds` : "1 bound", (d / DECADES).toFixed(3))),
    seen.has(NO_NUMBER) ? swatch("none", "nan, inf, or an exact value missed") : "");
}
