// The panel beside the tokens: a token, its id and its bytes, and the ids and bytes around it.
//
// Pointing at one of the three marks the other two. Shows what the page of tokens shows, no more.

import { copy, el, number, reveal } from "playground/dom";
import { hex, labelOf } from "playground/glyphs";
import { idsOf, tint } from "playground/tokens";

const MOST = 64;

/** Make the panel. `actions.trace(tokenizer, place)` goes to the merges of a token, and `undo` is the box that takes tokens apart. */
export function inspector(actions, undo) {
  const body = el("div");
  const card = el("div", { class: "card detail" }, body, undo.place);
  const title = el("h3", { text: "Ids" });
  const ids = el("div", { class: "strip ids", "aria-label": "Ids of these tokens" });
  const bytes = el("div", { class: "strip bytes", "aria-label": "Bytes of these tokens" });
  const place = el("aside", { class: "inspector", "aria-label": "Token, id and bytes" },
    card, title, ids, el("h3", { text: "Bytes" }), bytes);
  const marks = new Map();
  for (const strip of [ids, bytes]) {
    strip.addEventListener("mouseover", ({ target }) => {
      const group = target.closest("[data-group]")?.dataset.group;
      if (group !== undefined) actions.point(Number(group));
    });
  }

  /** Show the ids and bytes of one row. */
  function showRow(view, groups) {
    marks.clear();
    title.textContent = `Ids · ${view.tokenizer.name}`;
    ids.replaceChildren();
    bytes.replaceChildren();
    for (const group of groups) {
      const last = Math.min(group.last, group.first + MOST);
      const own = [];
      for (let token = group.first; token < last; token++) {
        const id = view.row.ids[token];
        const known = view.tokenizer.known.get(id);
        const text = known?.bytes.length ? hex(known.bytes.slice(0, MOST)) : "–";
        own.push([el("span", { text: String(id), style: tint(id), data: { group: group.number } }), el("span", { text, data: { group: group.number } })]);
      }
      for (const [id, byte] of own) {
        ids.append(id, " ");
        bytes.append(byte, " ");
      }
      marks.set(group.number, own.flat());
    }
  }

  /** Mark a group in both strips and describe it. */
  function show(view, group) {
    for (const old of place.querySelectorAll(".on")) old.classList.remove("on");
    const own = marks.get(group.number) ?? [];
    for (const mark of own) mark.classList.add("on");
    reveal(ids, own[0]);
    reveal(bytes, own[1]);
    const known = Array.from(view.row.ids.subarray(group.first, Math.min(group.last, group.first + 8)), (id) => view.tokenizer.known.get(id));
    const count = group.last - group.first;
    const range = `${number(group.start)}–${number(group.end)}`;
    body.replaceChildren(
      el("button", { type: "button", class: "icon dismiss", text: "✕", "aria-label": "Close", onclick: () => { clear(); undo.clear(); } }),
      el("p", { class: "big" }, el("bdi", { text: known.map((one) => labelOf(one)).join("  ") })),
      el("dl", {},
        ...row(count === 1 ? "id" : "ids", idsOf(view.row, group, 8)),
        ...row("bytes", known.map((one) => (one?.bytes.length ? hex(one.bytes.slice(0, 24)) : "none")).join(" | ")),
        ...row("kind", [...new Set(known.map((one) => one?.kind ?? "?"))].join(", ")),
        ...row("token", `${number(group.first + 1)}${count > 1 ? `–${number(group.last)}` : ""} of ${number(view.row.ids.length)}`),
        ...row("in the text", group.start === group.end ? `at byte ${number(group.start)}` : `bytes ${range}`)),
      el("p", { class: "buttons" },
        el("button", { type: "button", text: "Trace its merges", onclick: () => actions.trace(view.tokenizer, group.start) }),
        el("button", { type: "button", text: "Copy id", onclick: () => copy(idsOf(view.row, group, Infinity), count === 1 ? "the id" : "the ids") })));
  }

  function clear() {
    body.replaceChildren(el("p", { class: "quiet", text: "Point at a token, or move to it with Tab and the arrow keys, to see its id and bytes. Click it, or press Space, to undo its merges one by one; press Enter to trace them." }));
  }
  clear();
  return { place, show, showRow, clear };
}

const row = (name, value) => [el("dt", { text: name }), el("dd", { text: value })];
