// Draws the merge tree of a piece: symbols in a row, and above them the token of each merge.
//
// Merges after the current step are drawn pale. Knows the answer of `trace`, and no more.

import { isStill, svg } from "playground/dom";
import { cutUpTo } from "playground/order";
import { tint } from "playground/tokens";

const LETTER = 8.4; // the width of a letter in the font of the drawing
const HEIGHT = 24;
const LEVEL = 50;
const GAP = 10;

/** The most symbols of a tree that is drawn. */
export const MOST_LEAVES = 120;

/** Build the tree: nodes `{id, text, place, start, end, step, level, parts, rank}`; leaves come first. */
export function treeOf(trace, label) {
  const nodes = trace.symbols.map(([id, start, end], place) => ({ id, text: label(id, place), place, start, end, step: 0, level: 0, parts: [] }));
  const row = nodes.map((node, place) => ({ node, place }));
  trace.steps.forEach((step, index) => {
    const left = row.findIndex((one) => one.place === step.place);
    const parts = [row[left].node, row[left + 1].node];
    const node = { id: step.token, start: parts[0].start, end: parts[1].end, text: label(step.token), place: step.place, step: index + 1, level: Math.max(...parts.map((one) => one.level)) + 1, parts, rank: step.rank };
    nodes.push(node);
    row.splice(left, 2, { node, place: step.place });
  });
  return { nodes, leaves: trace.symbols.length, roots: row.map((one) => one.node) };
}

function placed({ nodes, leaves }, cuts) {
  let reach = GAP;
  for (const leaf of orderOf(nodes.slice(0, leaves), cuts)) {
    leaf.width = widthOf(leaf.text);
    leaf.x = reach + leaf.width / 2;
    reach += leaf.width + GAP;
  }
  for (const node of nodes.slice(leaves)) {
    node.width = widthOf(node.text);
    node.x = (node.parts[0].x + node.parts[1].x) / 2;
  }
  // A long token above short symbols may be wider than they are.
  const widest = Math.max(reach, ...nodes.map((node) => node.x + node.width / 2 + GAP));
  const least = Math.min(0, ...nodes.map((node) => node.x - node.width / 2 - GAP));
  for (const node of nodes) node.x -= least;
  return widest - least;
}

// In right-to-left text, the characters stand from right to left, and the bytes of a character from left to right.
const orderOf = (leaves, cuts) => (cuts ? [...Map.groupBy(leaves, ({ start }) => cutUpTo(cuts, start)).values()].reverse().flat() : leaves);

const widthOf = (text) => Math.max(26, Array.from(text).reduce((sum, letter) => sum + (/[\u1100-\uffdc\u{1f000}-\u{3ffff}]/u.test(letter) ? 16 : LETTER), 14));

/** Draw the tree up to a step; `cuts` are those of right-to-left text, and `onstep` is called with the step of a node that is clicked. */
export function drawTree(tree, step, { cuts, onstep }) {
  const width = placed(tree, cuts);
  const top = Math.max(...tree.nodes.map((node) => node.level));
  const height = top * LEVEL + HEIGHT + 24;
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: `tree${isStill() ? " still" : ""}`, role: "img", "aria-label": describe(tree, step) });
  const y = (node) => height - HEIGHT - 6 - node.level * LEVEL;
  for (const node of tree.nodes) {
    for (const part of node.parts) {
      const path = `M${part.x} ${y(part)} C${part.x} ${y(part) - 16} ${node.x} ${y(node) + HEIGHT + 16} ${node.x} ${y(node) + HEIGHT}`;
      drawing.append(svg("path", { d: path, class: stateOf(node, step) }));
    }
  }
  for (const node of tree.nodes) {
    const group = svg("g", { class: `node ${stateOf(node, step)}${tree.roots.includes(node) ? " root" : ""}`, onclick: () => node.step && onstep(node.step) });
    group.append(
      svg("rect", { x: node.x - node.width / 2, y: y(node), width: node.width, height: HEIGHT, rx: 5, style: node.id === null ? {} : tint(node.id) }),
      svg("text", { x: node.x, y: y(node) + 16.5, "text-anchor": "middle", text: node.text }));
    if (node.step) group.append(svg("text", { x: node.x + node.width / 2 + 3, y: y(node) + 8, class: "small", text: String(node.step) }));
    drawing.append(group);
  }
  return drawing;
}

function stateOf(node, step) {
  if (node.step > step) return "later";
  return node.step === step && step > 0 ? "now" : "done";
}

const describe = (tree, step) => `Merge tree after step ${step}: ${tree.roots.length} of ${tree.leaves} symbols remain at the end; the tokens are ${tree.roots.map((node) => node.text).join(", ")}.`;
