// Takes tokens of "Encode" apart: undoes their merges, the last one first, down to the bytes.
//
// The core says which merges made them, and they are read backwards here. Nothing is encoded again.

import { windowOf } from "playground/align";
import { counted, el, number } from "playground/dom";
import { hex, isRightToLeft, labelOf, looseText } from "playground/glyphs";
import { cutsOf, inOrder } from "playground/order";
import { state } from "playground/state";
import { takeKnown } from "playground/tokenizers";
import { chip } from "playground/tokens";
import { treeOf } from "playground/tree";

const MOST_PIECES = 20;

/** Make the box. `show(view, group, bytes)` begins with whole tokens, and `undo()` undoes one more merge. */
export function undoer() {
  const row = el("div", { class: "symbols" });
  const said = el("p", { class: "quiet", "aria-live": "polite" });
  const undoButton = el("button", { type: "button", text: "Undo a merge", onclick: () => go(step + 1) });
  const redoButton = el("button", { type: "button", text: "Redo", onclick: () => go(step - 1) });
  const place = el("div", { class: "undo", hidden: true }, el("h3", { text: "Merges" }), row, said, el("p", { class: "buttons" }, undoButton, redoButton));
  let course = null;
  let step = 0;
  let version = 0;

  async function show(view, group, bytes) {
    clear();
    const own = version;
    const found = await courseOf(view.tokenizer, group, bytes).catch((error) => ({ problem: error.message }));
    if (own !== version) return;
    course = found;
    place.hidden = false;
    go(0);
  }

  function clear() {
    version += 1;
    course = null;
    place.hidden = true;
  }

  function go(to) {
    const { problem, merges = [] } = course;
    step = Math.min(Math.max(to, 0), merges.length + 1);
    row.hidden = undoButton.parentElement.hidden = problem !== undefined;
    said.textContent = problem ?? sentence(merges);
    if (problem) return;
    undoButton.disabled = step > merges.length;
    undoButton.textContent = step === merges.length ? "Show its bytes" : "Undo a merge";
    redoButton.disabled = step === 0;
    draw();
  }

  function sentence(merges) {
    if (step > merges.length) return "These are the bytes in UTF-8.";
    const last = merges[step - 1];
    if (last) return `Undone: ${last.parts.map((part) => part.text).join(" + ")}, rank ${number(last.rank)}.`;
    return merges.length ? `${counted(merges.length, "merge")} made this. Click it again to undo the last one.` : "No merge made this. Click it again to see its bytes.";
  }

  function draw() {
    const { merges, roots, bytes, cuts } = course;
    const undone = new Set(merges.slice(0, step));
    const partsOf = (node) => (undone.has(node) ? node.parts.flatMap(partsOf) : [node]);
    const ofBytes = ({ start, end }) => Array.from({ length: end - start }, (_, at) => ({ start: start + at, end: start + at + 1, made: chip(hex([bytes[start + at]]), null, "byte") }));
    const items = step > merges.length ? roots.flatMap(ofBytes) : roots.flatMap(partsOf).map((node) => ({ ...node, made: chip(node.text, node.id) }));
    row.dir = cuts ? "rtl" : "ltr";
    row.replaceChildren(...inOrder(items, cuts));
  }

  return { place, show, clear, undo: () => course && go(step + 1) };
}

/** Find the tokens of a group with their merges, the last one first; a group can reach over several pieces. */
async function courseOf(tokenizer, group, text) {
  const { bytes: part, start } = windowOf(text, group.start);
  const course = { bytes: [], roots: [], merges: [], cuts: null };
  const nodes = [];
  for (let at = group.start - start, count = 0; at < group.end - start && count < MOST_PIECES; count++) {
    const trace = await tokenizer.core.ask({ op: "trace", at, special: state.special, payload: part.slice() });
    if (trace.kind === "added") return { problem: "This is an added token: it is found before the text is split, and no merge made it." };
    takeKnown(tokenizer, trace.known);
    const tree = treeOf(trace, (id, place) => (id === null ? hex(trace.bytes.slice(...trace.symbols[place].slice(1))) : labelOf(tokenizer.known.get(id))));
    if (tree.roots.length !== trace.tokens.length) return { problem: "No merge made this: the piece is in the vocabulary as a whole." };
    for (const node of tree.nodes) Object.assign(node, { start: node.start + course.bytes.length, end: node.end + course.bytes.length });
    const roots = tree.roots.filter((_root, place) => trace.tokens[place][1] >= group.start - start && trace.tokens[place][2] <= group.end - start);
    course.roots.push(...roots);
    course.merges.unshift(...mergesOf(roots));
    course.bytes.push(...trace.bytes);
    nodes.push(...tree.nodes);
    at = Math.max(at + 1, trace.end);
  }
  if (!course.roots.length) return { problem: "The merges of this cannot be told apart from those around it." };
  if (isRightToLeft(looseText(Uint8Array.from(course.bytes)))) course.cuts = cutsOf(course.bytes, nodes);
  return course;
}

function mergesOf(roots) {
  const all = (node) => (node.step ? [node, ...node.parts.flatMap(all)] : []);
  return roots.flatMap(all).sort((one, other) => other.step - one.step);
}
