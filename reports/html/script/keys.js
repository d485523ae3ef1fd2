// The keyboard: j and k (or the arrows) from case to case, / to search, ? for this list, Escape back.

const KEYS = [["j, ↓", "next case"], ["k, ↑", "previous case"], ["Enter", "open it"], ["j, →", "on a case: the next, better one"],
  ["k, ←", "on a case: the one before, which is worse"], ["/", "search"], ["Escape", "back to the operator, or to all"], ["?", "this list"]];

function makeKeys() {
  const close = h("button", { type: "button", onclick: () => dialog.close() }, "Close");
  const dialog = h("dialog", { id: "keys", "aria-labelledby": "keys-title" }, h("strong", { id: "keys-title" }, "Keys"),
    h("dl", { class: "numbers" }, KEYS.map(([key, text]) => h("div", {}, h("dt", {}, key), h("dd", {}, text)))), close);
  document.body.append(dialog);
  return dialog;
}

// Whether the key was one of these. The tables and pictures take the arrows that are theirs before.
function pressed(event, dialog) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || dialog.open) return false;
  if (event.key === "?") {
    dialog.showModal();
    return true;
  }
  const step = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return false;
  if (current.case) return /^(j|k|ArrowRight|ArrowLeft)$/.test(event.key) && toNeighbour(step);
  return /^(j|k|ArrowDown|ArrowUp)$/.test(event.key) && !current.view && toCase(step, event.key.length > 1);
}

function toNeighbour(step) {
  const link = document.querySelector(`.neighbours a.${step > 0 ? "next" : "previous"}`);
  link?.click();
  return !!link;
}

// The next link to a case in the list of failures; arrows scroll the page as long as none has the focus.
function toCase(step, onlyFromOne) {
  const links = [...document.querySelectorAll(".list .what a")];
  const at = links.indexOf(document.activeElement);
  if (!links.length || (onlyFromOne && at < 0)) return false;
  links[at < 0 ? 0 : Math.min(links.length - 1, Math.max(0, at + step))].focus();
  return true;
}
