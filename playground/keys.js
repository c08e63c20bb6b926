// Keyboard shortcuts, and the list of them.
//
// Keys that act inside one view belong to that view; they are listed here, too.

import { el } from "playground/dom";

const SHORTCUTS = [
  ["1, 2, 3", "Go to Encode, Trace, Train"],
  ["/", "Edit the text or the word"],
  ["o", "Open tokenizer files"],
  ["t", "Switch between dark, light and the system’s colours"],
  ["?", "Show this list"],
  ["Tab, then ← → ↑ ↓", "Move among tokens, and between tokenizers"],
  ["Space on a token", "Undo its merges, one by one"],
  ["Enter on a token", "Trace its merges"],
  ["← →", "Trace and Train: one step back or forward"],
  ["Home, End", "Trace and Train: the first or last step"],
  ["Space", "Trace and Train: play or pause"],
  ["Esc", "Close a list, or leave a text box"],
];

/** Listen to keys; `actions` has `view(name)`, `focus()`, `open()`, `theme()` and `key(event)`. */
export function listen(actions) {
  const dialog = el("dialog", { class: "keys", "aria-labelledby": "keys-title" },
    el("h2", { id: "keys-title", text: "Keyboard shortcuts" }),
    el("dl", {}, ...SHORTCUTS.flatMap(([key, what]) => [el("dt", {}, el("kbd", { text: key })), el("dd", { text: what })])),
    el("form", { method: "dialog" }, el("button", { type: "submit", class: "strong", text: "Close" })));
  document.body.append(dialog);
  const table = {
    1: () => actions.view("encode"), 2: () => actions.view("trace"), 3: () => actions.view("train"),
    "/": () => actions.focus(), o: () => actions.open(), t: () => actions.theme(), "?": () => dialog.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (dialog.open || event.defaultPrevented) return;
    if (event.key === "Escape") return document.activeElement?.blur();
    if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
    if (isWriting(event.target)) return undefined;
    if (!table[event.key]) return actions.key(event);
    event.preventDefault();
    return table[event.key]();
  });
  return { show: () => dialog.showModal() };
}

const isWriting = (target) => target.closest?.("textarea, select, input:not([type=checkbox], [type=radio], [type=range], [type=file])");
