// The state of the page is its address: #softmax, #softmax/<case id>/<mode>, with ?filters behind either; or #support.

const BLANK = { view: "", op: "", case: "", caseMode: "", dtype: "", mode: "", backend: "", verdict: "", change: "", q: "", sort: "" };
const FILTERS = ["dtype", "mode", "backend", "verdict", "change", "q", "sort"];
const main = document.getElementById("main");

// Brackets, semicolons and the like stay readable in an address; ? and / and % do not.
const escapePart = (text) => encodeURIComponent(text).replace(/%(5B|5D|3B|3D|2C|3A|40)/g, decodeURIComponent);
function unescapePart(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // typed by hand, with a lone %
  }
}

function hashOf(state) {
  const path = state.view ? [state.view] : state.case ? [state.op, state.case, state.caseMode] : state.op ? [state.op] : [];
  const query = new URLSearchParams(FILTERS.filter((f) => state[f]).map((f) => [f, state[f]])).toString();
  return `#${path.map(escapePart).join("/")}${query && `?${query}`}`;
}

function stateOf(hash) {
  const [path, query] = hash.replace(/^#/, "").split(/\?(.*)/s);
  const state = { ...BLANK, ...Object.fromEntries([...new URLSearchParams(query ?? "")].filter(([f]) => FILTERS.includes(f))) };
  if (path === "support" && !page.ops.includes(path)) return { ...state, view: path };
  const first = path.indexOf("/");
  if (first < 0) return { ...state, op: unescapePart(path) };
  const last = path.lastIndexOf("/");
  const end = last === first ? path.length : last;
  return { ...state, op: unescapePart(path.slice(0, first)), case: unescapePart(path.slice(first + 1, end)),
    caseMode: unescapePart(path.slice(end + 1)) };
}

let current = null;
function show(state, keep = false) {
  const moved = current && !keep && (current.view !== state.view || current.op !== state.op || current.case !== state.case || current.caseMode !== state.caseMode);
  current = state;
  watching?.abort();
  document.body.toggleAttribute("data-view", !!(state.op || state.view)); // less of the run's header beside one operator
  syncTools(state);
  for (const a of document.querySelectorAll(".mast nav a")) {
    if (stateOf(a.hash).view === state.view) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  if (state.view) main.replaceChildren(supportPage(state.q));
  else if (state.case) main.replaceChildren(...casePage(state));
  else if (state.op && !page.ops.includes(state.op)) main.replaceChildren(missing(`This run has no operator named ${state.op}.`));
  else main.replaceChildren(...listPage(state));
  document.querySelectorAll(".tally a").forEach((a) =>
    a.toggleAttribute("aria-current", !!state.verdict && stateOf(a.hash).verdict === state.verdict));
  return moved;
}

function listPage(state) {
  const records = matching(state);
  announce(plural(records.length, "record"));
  const heads = state.op ? [operatorHead(records, state)] : [changes(state)];
  const sections = [failureList(records, state), ...(records.length && !state.op ? [heatMap(records, state)] : [])];
  return [...heads, ...sections, recordTable(records, state)].filter(Boolean);
}

// The changes that occur, but for none at all.
const changeKinds = () => [...page.changes.names.keys()].filter((k) => page.changes.counts[k] && k !== page.changes.same);
const changeClass = (k) => (page.changes.worse[k] ? "failed" : page.kinds.includes(page.changes.names[k]) ? page.changes.names[k]
  : "passed");

// The comparison with the baseline: what every rendering says of it.
function changes(state) {
  if (!page.changes) return null;
  const { sentence, notes, counts, names, titles } = page.changes;
  const links = changeKinds().map((k) => h("li", {}, h("a", { class: `chip ${changeClass(k)}`, href: hashOf({ change: names[k] }),
    "aria-current": state.change === names[k] ? "true" : null }, h("b", {}, counts[k].toLocaleString("en")), ` ${titles[k]}`)));
  return h("section", { class: "changes", "aria-label": "Comparison with the baseline" },
    h("p", { class: "outcome" }, `Against the baseline: ${sentence}`), h("ul", { class: "tally" }, links),
    notes.map((text) => h("p", { class: "hint" }, text)));
}

// Filters change the address without a new entry in the history; links make one.
function replace(state) {
  history.replaceState(null, "", hashOf(state) === "#" ? "#" : hashOf(state));
  show(state, true);
}

function makeTools() {
  const tools = document.getElementById("tools");
  const search = h("input", { type: "search", name: "q", placeholder: "Search cases and messages", "aria-label": "Search", "aria-keyshortcuts": "/",
    autocomplete: "off", spellcheck: "false" });
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => replace({ ...current, case: "", caseMode: "", q: search.value }), 90); // the matrix is searched too
  });
  const select = (name, title, options) => h("select", { name, "aria-label": title, onchange: (event) =>
    replace({ ...current, view: "", case: "", caseMode: "", [name]: event.target.value }) },
    h("option", { value: "" }, `Any ${title.toLowerCase()}`), options.map(([value, text]) => h("option", { value }, text)));
  const plain = (list) => list.map((value) => [value, value]);
  const used = page.verdicts.filter((_, k) => col.verdict.includes(k));
  const verdicts = [["failed", "unexpected failures"], ["known", "known failures"], ...plain(used)];
  tools.append(search, select("op", "Operator", plain(page.ops)), select("dtype", "Dtype", plain(page.dtypes)),
    select("mode", "Mode", page.modes.map((m) => [m, modeName(m)])), select("verdict", "Verdict", verdicts));
  if (several) tools.append(select("backend", "Backend", page.backends.map((b, k) => [b, page.names[k]])));
  if (page.changes) tools.append(select("change", "Change", changeKinds().map((k) => [page.changes.names[k], page.changes.titles[k]])));
  tools.append(h("button", { type: "button", class: "quiet", id: "clear", onclick: () => {
    replace(BLANK);
    search.focus();
  } }, "Clear"));
}

function syncTools(state) {
  for (const field of document.querySelectorAll("#tools [name]")) {
    if (document.activeElement !== field || field.tagName === "SELECT") field.value = state[field.name];
    field.classList.toggle("set", !!state[field.name]);
  }
  document.getElementById("clear").hidden = !Object.keys(BLANK).some((name) => name !== "sort" && state[name]);
}

function makeTheme() {
  const button = document.getElementById("theme");
  const themes = ["system", "light", "dark"];
  const store = { // a page in a sandboxed frame has no storage
    get: () => { try { return localStorage.getItem("opproof-theme"); } catch { return null; } },
    set: (name) => { try { localStorage.setItem("opproof-theme", name); } catch { /* not kept */ } },
  };
  const apply = (name) => {
    document.documentElement.dataset.theme = name;
    button.textContent = `Theme: ${name}`;
  };
  apply(themes.includes(store.get()) ? store.get() : "system");
  button.addEventListener("click", () => {
    const next = themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % themes.length];
    apply(next);
    store.set(next);
  });
}

function start() {
  makeTheme();
  makeTools();
  const tools = document.getElementById("tools");
  new ResizeObserver(() => document.documentElement.style.setProperty("--tools", `${tools.offsetHeight}px`)).observe(tools);
  history.scrollRestoration = "manual";
  const places = new Map(); // where each address was scrolled to, for the way back
  let clicked = false;
  addEventListener("scroll", () => places.set(hashOf(current), scrollY), { passive: true });
  document.addEventListener("click", (event) => { clicked = !!event.target.closest?.("a[href^='#']"); });
  addEventListener("hashchange", () => {
    const state = stateOf(location.hash);
    const back = clicked ? undefined : places.get(hashOf(state));
    clicked = false;
    if (!show(state) && back === undefined) return;
    main.querySelector("h2[tabindex]")?.focus({ preventScroll: true });
    const top = main.getBoundingClientRect().top + scrollY - tools.offsetHeight - 12;
    // After the rows have been drawn, which happens in a microtask.
    requestAnimationFrame(() => scrollTo(0, back ?? (state.op || state.view ? top : 0)));
  });
  document.getElementById("skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  const keys = makeKeys();
  document.addEventListener("keydown", (event) => {
    const typing = /^(input|textarea|select)$/i.test(event.target.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      document.querySelector("#tools input").focus();
    } else if (!typing && pressed(event, keys)) {
      event.preventDefault();
    } else if (event.key === "Escape" && !typing && !keys.open && (current.op || current.view)) {
      location.hash = hashOf(current.case ? { op: current.op } : {});
    }
  });
  show(stateOf(location.hash));
  document.documentElement.dataset.ready = "";
}

start();
