// The view "Trace": the merges of one piece of a text, step by step, with the tree and the reasons.
//
// The text is that of "Encode", or a word typed here. The core says what happens; nothing is merged here.

import { groupAt, rowOf, windowOf } from "playground/align";
import { counted, el, number, reveal } from "playground/dom";
import { hex, isRightToLeft, labelOf, looseText, textOf, visible } from "playground/glyphs";
import { cutUpTo, cutsOf, inOrder } from "playground/order";
import { player } from "playground/player";
import { change, state } from "playground/state";
import { learn, named, open, takeKnown } from "playground/tokenizers";
import { areNear, chip, hueOf } from "playground/tokens";
import { MOST_LEAVES, drawTree, treeOf } from "playground/tree";

const AROUND = 160; // bytes of the text beside the piece
const MOST_ROWS = 400;
const encoder = new TextEncoder();

/** Make the view. `actions.text()` gives the text of "Encode". */
export function traceView(actions) {
  const select = el("select", { id: "trace-tokenizer", onchange: () => { current.name = select.value; load(); } });
  const word = el("input", { id: "trace-word", type: "text", spellcheck: false, autocomplete: "off", dir: "auto", placeholder: "Type a word, such as unhappiness", oninput: () => { change({ word: word.value || null }); current.at = 0; later(); } });
  const strip = el("div", { class: "tokens strip-text", dir: "auto", role: "group", "aria-label": "Choose a token of the text" });
  const said = el("p", { class: "lead", role: "status", "aria-live": "polite" });
  const problem = el("p", { class: "problem", role: "alert", hidden: true });
  const row = el("div", { class: "symbols" });
  const reason = el("p", { class: "reason", "aria-live": "polite" });
  const others = el("table", { class: "others" });
  const picture = el("div", { class: "picture scrolls", tabIndex: 0, role: "region", "aria-label": "Merge tree" });
  const isCut = el("p", { class: "quiet", text: "The tree is wider than its box: scroll it sideways." });
  const rows = el("ol", { class: "rows-of-merges", start: 0 });
  const steps = player((step) => drawStep(step), "Merge");
  const body = el("div", { class: "trace-body" },
    said, el("div", { class: "card" }, steps.place, row, reason),
    el("div", { class: "pair" },
      el("section", { class: "card", "aria-label": "Merge tree" }, el("h3", { text: "Merge tree" }), picture, isCut),
      el("section", { class: "card", "aria-label": "All pairs at this step" }, el("h3", { text: "Why this pair" }), el("div", { class: "scroll scrolls", tabIndex: 0, role: "region", "aria-label": "Pairs at this step" }, others))),
    el("section", { class: "card", "aria-label": "The piece after each merge" }, el("h3", { text: "After each merge" }), rows));
  const place = el("section", { id: "trace", "aria-labelledby": "tab-trace" },
    el("div", { class: "head fields" },
      el("label", { class: "field", for: "trace-tokenizer" }, el("span", { text: "Tokenizer" }), select),
      el("label", { class: "field grow", for: "trace-word" }, el("span", { text: "Word" }), word)),
    el("p", { class: "quiet", text: "Click a token of the text to see how it was merged, or type your own word above." }),
    strip, problem, body);
  const current = { name: null, at: 0, start: 0, trace: null, tree: null, rows: [] };

  const text = () => state.word ?? actions.text();
  const tokenizer = () => named(current.name) ?? open[0];

  function later() {
    clearTimeout(later.timer);
    later.timer = setTimeout(load, 80);
  }

  /** Go to the merges at a byte of the text of "Encode". */
  function show(one, at) {
    current.name = one.name;
    change({ word: null });
    current.at = at;
  }

  let version = 0;
  async function load() {
    version += 1;
    const own = version;
    const one = tokenizer();
    if (word.value !== (state.word ?? "")) word.value = state.word ?? "";
    drawSelect();
    problem.hidden = true;
    body.hidden = !one;
    if (!one) return fail("No tokenizer is open. Open one in “Encode”.");
    const whole = encoder.encode(text());
    if (current.at >= whole.length) current.at = 0; // of a longer text, which is gone
    const { bytes, start } = windowOf(whole, current.at);
    const at = current.at - start;
    current.start = start;
    if (!bytes.length) {
      strip.replaceChildren();
      return fail("There is no text to trace. Type a word above.");
    }
    try {
      const answer = rowOf(await one.core.ask({ op: "encode", special: state.special, payload: bytes.slice() }));
      const place_ = nearest(answer, at);
      const trace = place_ === undefined
        ? { kind: "none", message: "This tokenizer drops all of this text, so there is nothing to trace." }
        : await one.core.ask({ op: "trace", at: place_, special: state.special, payload: bytes.slice() }).catch((error) => ({ kind: "none", message: error.message }));
      if (own !== version) return;
      takeKnown(one, trace.known);
      const drawn = await stripOf(one, answer, bytes, trace);
      if (own !== version) return;
      strip.replaceChildren(...drawn);
      if (trace.kind === "none") return fail(trace.message);
      current.trace = trace;
      draw(one, trace, bytes);
    } catch (error) {
      if (own !== version) return;
      strip.replaceChildren();
      fail(error.message);
    }
    return undefined;
  }

  function fail(message) {
    problem.textContent = message;
    problem.hidden = false;
    body.hidden = true;
    steps.reset(0);
  }

  function drawSelect() {
    select.replaceChildren(...open.map((one) => el("option", { value: one.name, text: one.name, selected: one === tokenizer() })));
  }

  async function stripOf(one, answer, bytes, trace) {
    const at = current.at - current.start;
    const from = Math.max(0, (trace.start ?? at) - AROUND);
    const to = Math.min(bytes.length, (trace.end ?? at) + AROUND);
    const groups = [];
    for (let count = firstGroup(answer, from); count < answer.groups.length && groups.length < 200; count++) {
      const group = groupAt(answer, count);
      if (group.start >= to) break;
      groups.push(group);
    }
    await learn(one, groups.flatMap((group) => Array.from(answer.ids.subarray(group.first, Math.min(group.last, group.first + 8)))));
    const drawn = [from > 0 ? "… " : ""];
    let reached = groups[0]?.start ?? 0;
    let before = null;
    for (const group of groups) {
      if (group.start > reached) drawn.push(el("span", { class: "out", text: visible(looseText(bytes.subarray(reached, group.start)), true) }));
      reached = Math.max(reached, group.end);
      const isHere = group.start < trace.end && group.end > trace.start;
      const shown = group.start === group.end ? labelOf(one.known.get(answer.ids[group.first])) : visible(looseText(bytes.subarray(group.start, Math.min(group.end, group.start + 200))), state.spaces).replaceAll("⏎", "⏎\n"); // each line has its own direction
      // No <button>: that is a box of its own, in which Arabic letters lose their neighbours.
      const go = () => { current.at = group.start + current.start; load(); };
      const hue = hueOf(Array.from(answer.ids.subarray(group.first, Math.min(group.last, group.first + 12))));
      const isNear = before !== null && areNear(hue, before);
      before = hue;
      drawn.push(el("span", {
        class: `t${isNear ? " near" : ""}${isHere ? " here" : ""}`, style: { "--hue": String(hue) }, text: shown, role: "button", tabIndex: 0,
        "aria-pressed": String(isHere), "aria-label": `Trace ${shown.trim() || "space"}`,
        onclick: go, onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); go(); } },
      }));
    }
    drawn.push(to < bytes.length ? " …" : "");
    return drawn;
  }

  function draw(one, trace, bytes) {
    const source = visible(looseText(bytes.subarray(trace.start, trace.end)), true);
    if (trace.kind === "added") {
      said.replaceChildren(bdi(source), ` is an added token with the id ${trace.id}. Added tokens are found before the text is split, so nothing is merged.`);
      body.classList.add("is-added");
      steps.reset(0);
      return;
    }
    body.classList.remove("is-added");
    body.hidden = false;
    const piece = textOf(trace.bytes);
    const written = piece === null ? hex(trace.bytes) : visible(piece, true);
    const n = trace.symbols.length;
    said.replaceChildren("The piece ", bdi(written), written === source ? "" : " (in the text ", written === source ? "" : bdi(source), written === source ? "" : ")",
      trace.is_whole && trace.steps.length === 0
        ? " is itself a token, so nothing is merged."
        : ` has ${counted(n, "symbol")}. After ${counted(trace.steps.length, "merge")}, ${counted(trace.tokens.length, "token is", "tokens are")} left.`);
    current.rows = rowsOf(trace);
    current.cuts = isRightToLeft(looseText(Uint8Array.from(trace.bytes))) ? cutsOf(trace.bytes, [...new Set(current.rows.flat())]) : null;
    row.dir = rows.dir = current.cuts ? "rtl" : "ltr";
    current.tree = n <= MOST_LEAVES ? treeOf(trace, (id, at) => label(one, trace, id, at)) : null;
    current.one = one;
    drawRows(one, trace);
    steps.reset(trace.steps.length, trace.steps.length ? 1 : 0);
  }

  function drawStep(step) {
    const { trace, one, tree } = current;
    if (!trace || trace.kind !== "piece" || !one) return;
    const merge = trace.steps[step - 1];
    const before = current.rows[Math.max(step - 1, 0)];
    row.replaceChildren(...inOrder(before.map((symbol, place) => ({ ...symbol, made: chipOf(one, trace, symbol, isIn(merge, before, place)) })), current.cuts));
    if (merge) row.append(el("span", { class: "arrow", text: "→", "aria-hidden": "true" }), chip(label(one, trace, merge.token), merge.token, "new"));
    reason.replaceChildren(...sentence(one, trace, merge, step));
    drawOthers(one, trace, merge, before);
    picture.replaceChildren(tree ? drawTree(tree, step, { cuts: current.cuts, onstep: (to) => steps.go(to) }) : el("p", { class: "quiet", text: `The piece has more than ${MOST_LEAVES} symbols; its tree is not drawn.` }));
    isCut.hidden = picture.scrollWidth <= picture.clientWidth;
    picture.classList.toggle("is-cut", !isCut.hidden);
    for (const [number_, line] of [...rows.children].entries()) {
      line.classList.toggle("on", number_ === step);
      line.classList.toggle("later", number_ > step);
    }
    reveal(picture, picture.querySelector(".node.now"));
    reveal(others.parentElement, others.querySelector(".chosen"));
    reveal(rows, rows.querySelector(".on"));
  }

  // A pair stands as its tokens do in the row before the step.
  function pairOf(one, trace, before, { place: at, left, right }) {
    const first = before.findIndex((symbol) => symbol.place === at);
    const [cut, next] = current.cuts ? [before[first], before[first + 1]].map(({ start }) => cutUpTo(current.cuts, start)) : [0, 0];
    return el("span", { class: "pair-of", dir: cut === next ? "ltr" : "rtl" }, bdi(label(one, trace, left)), " + ", bdi(label(one, trace, right)));
  }

  function sentence(one, trace, merge, step) {
    if (!merge) return [trace.steps.length ? "Before any merge. Each step joins the pair of neighbours with the lowest rank." : "There is nothing to merge: no merge joins any two neighbours."];
    const parts = [`Merge ${step}: `, pairOf(one, trace, current.rows[step - 1], merge), " → ", bdi(label(one, trace, merge.token)), `, rank ${number(merge.rank)}, id ${merge.token}.`];
    if (merge.count !== null && merge.count !== undefined) parts.push(` In training, the pair occurred ${counted(merge.count, "time")} when it was merged.`);
    return parts;
  }

  function drawOthers(one, trace, merge, before) {
    const list = (merge?.others ?? []).slice(0, MOST_ROWS);
    const head = el("thead", {}, el("tr", {}, ...["Pair", "Result", "Rank", ""].map((text_) => el("th", { scope: "col", text: text_ }))));
    const body_ = el("tbody", {}, ...list.map(([at, left, right, rank, token]) => {
      const isChosen = at === merge.place;
      return el("tr", { class: isChosen ? "chosen" : rank === null ? "never" : "" },
        el("td", {}, pairOf(one, trace, before, { place: at, left, right })),
        el("td", {}, token === null ? "–" : bdi(label(one, trace, token))),
        el("td", { class: "number", text: rank === null ? "–" : number(rank) }),
        el("td", { text: whyOf(merge, at, rank) }));
    }));
    others.replaceChildren(head, body_);
    others.parentElement.hidden = !list.length;
  }

  function drawRows(one, trace) {
    rows.replaceChildren(...current.rows.slice(0, MOST_ROWS).map((symbols, step) => {
      const merge = trace.steps[step - 1];
      const note = merge ? `rank ${number(merge.rank)}` : "symbols";
      return el("li", {}, el("button", { type: "button", onclick: () => steps.go(step), "aria-label": `Go to merge ${step}` },
        el("span", { class: "symbols" }, ...inOrder(symbols.map((symbol) => ({ ...symbol, made: chipOf(one, trace, symbol, merge && symbol.step === step ? "new" : "") })), current.cuts)),
        el("span", { class: "note", text: note })));
    }));
  }

  return {
    place, show, refresh: load, leave: () => steps.stop(),
    key: (event) => steps.key(event), focus: () => word.focus(),
  };
}

const bdi = (text) => el("bdi", { class: "code", text });

/** Give a place that a token stands for: this one, else the next, else the last; nothing if all is left out. */
function nearest(answer, at) {
  const isShown = (group) => group.start < group.end;
  let before;
  for (let count = firstGroup(answer, at + 1) - 1; count >= 0 && !before; count--) {
    const group = groupAt(answer, count);
    if (isShown(group)) before = group;
  }
  if (before && before.end > at) return at;
  for (let count = firstGroup(answer, at + 1); count < answer.groups.length; count++) {
    const group = groupAt(answer, count);
    if (isShown(group)) return group.start;
  }
  return before?.start;
}

function firstGroup(answer, from) {
  let low = 0;
  let high = answer.groups.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (answer.starts[answer.groups[middle]] < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Give the symbols before any merge, and after each: each with its span in the piece and the step that made it. */
function rowsOf(trace) {
  let row = trace.symbols.map(([id, start, end], place) => ({ id, place, start, end, step: 0 }));
  const rows = [row];
  trace.steps.forEach((step, index) => {
    const left = row.findIndex((one) => one.place === step.place);
    const made = { id: step.token, place: step.place, start: row[left].start, end: row[left + 1].end, step: index + 1 };
    row = [...row.slice(0, left), made, ...row.slice(left + 2)];
    rows.push(row);
  });
  return rows;
}

function isIn(merge, row, place) {
  if (!merge) return "";
  const left = row.findIndex((one) => one.place === merge.place);
  return place === left || place === left + 1 ? "chosen" : "";
}

function label(one, trace, id, place) {
  if (id !== null && id !== undefined) return labelOf(one.known.get(id));
  const [, start, end] = trace.symbols[place] ?? [null, 0, 0];
  const bytes = trace.bytes.slice(start, end);
  return visible(textOf(bytes) ?? hex(bytes), true) || "?";
}

const chipOf = (one, trace, { id, place }, kind) => chip(label(one, trace, id, place), id, kind);

function whyOf(merge, at, rank) {
  if (at === merge.place) return "chosen: the lowest rank";
  if (rank === null) return "no merge joins them";
  if (rank === merge.rank) return at > merge.place ? "same rank, further right" : "same rank";
  return "higher rank";
}
