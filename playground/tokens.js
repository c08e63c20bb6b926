// Draws the tokens of a part of a text, for one tokenizer or several, and moves among them.
//
// Each group of tokens is one element. With several tokenizers, each stretch between common cuts
// is a small table with a row for each, so that cuts line up and lines break where they can.

import { el, number } from "playground/dom";
import { areJoined, labelOf, looseText, visible } from "playground/glyphs";

const NEAR = 30; // degrees between hues that look alike
const MOST_TEXT = 1200; // of one group, or of text without tokens
const MOST_IDS = 12;

/** The letters of rows. */
export const letterOf = (row) => String.fromCharCode(65 + (row % 26));

/** Give the hue of some ids. Nothing else decides it, so an id has the same colour in all views and on each visit. */
export const hueOf = (ids) => Math.round((ids.reduce((sum, id) => (Math.imul(sum, 31) + id) >>> 0, 0) * 137.508) % 360);

/** Give the style of some ids. */
export const tint = (...ids) => ({ "--hue": String(hueOf(ids)) });

/** Tell whether two hues look alike, so that neighbours need a line between them. */
export const areNear = (one, other) => Math.min(Math.abs(one - other), 360 - Math.abs(one - other)) < NEAR;

/** Make a chip: a token outside its text, in the colour of its id. */
export const chip = (text, id, kind = "") => el("span", { class: `chip ${kind}${id === null ? " missing" : ""}`, title: id === null ? "no id" : `id ${id}`, style: id === null ? {} : tint(id) }, el("bdi", { text }));

/**
 * Draw stretches. `views` has a tokenizer and its row each; `settings` are spaces, ids, chunk, and the bytes at which lines break.
 * Gives the elements of groups by `row:number`.
 */
export function drawTokens(place, stretches, views, bytes, settings) {
  const drawing = { bytes, settings, views, hues: [], found: new Map() };
  if (settings.layout === "columns" && views.length > 1) drawColumns(place, stretches, drawing);
  else if (views.length > 1) drawTable(place, stretches, drawing);
  else drawFlow(place, stretches, drawing, 0);
  return drawing.found;
}

const newLine = (extra = "") => el("div", { class: `line${extra}`, dir: "auto" });

/** Draw one row as running text. */
function drawFlow(place, stretches, drawing, row) {
  let line = newLine();
  const lines = [line];
  for (const stretch of stretches) {
    if (drawing.settings.breaks.has(stretch.start)) lines.push((line = newLine()));
    drawRow(line, stretch, drawing, row, true);
    if (endsLine(textIn(drawing, stretch.start, stretch.end))) lines.push((line = newLine()));
  }
  place.append(...lines.filter((one) => one.hasChildNodes()));
}

const endsLine = (text) => text.endsWith("\n");

/** Draw rows below each other; each stretch is a table. */
function drawTable(place, stretches, drawing) {
  let line = newLine(" rows");
  const lines = [line];
  let table = null;
  let before = "";
  for (const stretch of stretches) {
    const text = textIn(drawing, stretch.start, stretch.end);
    const isBlank = /^[\r\n]*$/.test(text);
    const breaksBefore = drawing.settings.breaks.has(stretch.start) || (text.startsWith("\n") && !isBlank);
    if (breaksBefore) lines.push((line = newLine(" rows")));
    if (breaksBefore) table = null;
    const isJoined = table && areJoined(before.slice(-1), text.slice(0, 1));
    if (!isJoined) {
      table = el("span", { class: "stretch" }, ...drawing.views.map(() => el("span", { class: "row" })));
      line.append(table);
    }
    drawing.views.forEach((_view, row) => drawRow(table.children[row], stretch, drawing, row, false));
    before = text;
    const breaksAfter = text.includes("\n") && (isBlank || !text.startsWith("\n"));
    if (breaksAfter) lines.push((line = newLine(" rows")));
    if (breaksAfter) table = null;
  }
  place.append(...lines.filter((one) => one.hasChildNodes()));
}

/** Draw a column for each row; lines of the text stand beside each other. */
function drawColumns(place, stretches, drawing) {
  const lines = [[]];
  for (const stretch of stretches) {
    if (drawing.settings.breaks.has(stretch.start)) lines.push([]);
    lines[lines.length - 1].push(stretch);
    if (textIn(drawing, stretch.start, stretch.end).includes("\n")) lines.push([]);
  }
  const grid = el("div", { class: "columns", style: { "--columns": String(drawing.views.length) } });
  drawing.views.forEach((view, row) => grid.append(el("div", { class: "column-head" }, el("b", { class: "letter", text: letterOf(row) }), ` ${view.tokenizer.name}`)));
  for (const some of lines.filter((one) => one.length)) {
    drawing.views.forEach((_view, row) => {
      const line = newLine();
      line.dataset.letter = letterOf(row); // shown where the columns stand below each other
      for (const stretch of some) drawRow(line, stretch, drawing, row, true);
      grid.append(line);
    });
  }
  place.append(grid);
}

function drawRow(place, stretch, drawing, row, hasLineEnds) {
  let at = stretch.start;
  for (const group of stretch.rows[row]) {
    if (group.start > at) place.append(leftOut(drawing, at, group.start));
    place.append(token(drawing, row, group, { isPale: stretch.isShared && drawing.views.length > 1, hasLineEnds }));
    at = Math.max(at, group.end);
  }
  if (at < stretch.end) place.append(stretch.isCut ? el("span", { class: "quiet", text: " …" }) : leftOut(drawing, at, stretch.end));
}

const textIn = ({ bytes }, start, end) => looseText(bytes.subarray(start, Math.min(end, wholeEnd(bytes, start + MOST_TEXT))));

// A cut inside a character would show a sign that the text has not.
function wholeEnd(bytes, end) {
  let place = end;
  while (place > end - 4 && (bytes[place] & 0xc0) === 0x80) place -= 1;
  return place;
}

const leftOut = (drawing, start, end) =>
  el("span", { class: "out", title: "text without a token", text: visible(textIn(drawing, start, end), true) });

function shownText(drawing, group, tokens, hasLineEnds) {
  if (group.start === group.end) return labelOf(tokens[0], { most: 16 });
  const text = visible(textIn(drawing, group.start, group.end), drawing.settings.spaces);
  const rest = group.end - group.start - MOST_TEXT;
  const whole = rest > 0 ? `${text}… (${number(rest)} more bytes)` : text;
  return hasLineEnds ? whole.replaceAll("⏎", "⏎\n") : whole;
}

/** Write the ids of a group; of very many, the first. */
export function idsOf(row, group, most = MOST_IDS) {
  const last = Math.min(group.last, group.first + most);
  const ids = Array.from(row.ids.subarray(group.first, last), String);
  return group.last > last ? `${ids.join(" ")} …` : ids.join(" ");
}

function token(drawing, row, group, { isPale, hasLineEnds }) {
  const { tokenizer, row: answer } = drawing.views[row];
  const { chunk, ids } = drawing.settings;
  const shown = Array.from(answer.ids.subarray(group.first, Math.min(group.last, group.first + MOST_IDS)));
  const known = shown.map((id) => tokenizer.known.get(id));
  const kind = known.some((one) => one?.kind === "unknown") ? " missing" : known.some((one) => one?.kind === "added") ? " added" : "";
  const text = shownText(drawing, group, known, hasLineEnds && !ids);
  const count = group.last - group.first;
  const hue = hueOf(shown);
  const isNear = row in drawing.hues && areNear(hue, drawing.hues[row]);
  drawing.hues[row] = hue;
  const made = el("span", {
    class: `t${isPale ? " pale" : ""}${isNear ? " near" : ""}${kind}${group.start === group.end ? " empty" : ""}`, style: { "--hue": String(hue) },
    role: "option", tabIndex: -1, "aria-selected": "false",
    "aria-label": `${text.trim() || "space"}: ${count === 1 ? "id" : `${count} ids`} ${idsOf(answer, group)}${drawing.views.length > 1 ? `, ${letterOf(row)}` : ""}`,
    data: { row, group: group.number },
  });
  const begun = chunk ? Math.ceil(group.first / chunk) * chunk : 0;
  if (chunk && begun > 0 && begun < group.last && begun >= group.first) {
    made.classList.add("chunk");
    made.dataset.chunk = number(begun / chunk + 1);
  }
  if (ids) {
    made.classList.add("tall");
    made.append(el("span", { class: "x", text }), el("span", { class: "i", dir: "ltr", text: idsOf(answer, group, 6) }));
  } else {
    const end = text.endsWith("\n") ? "\n" : "";
    made.append(end ? text.slice(0, -1) : text);
    if (count > 1) made.append(el("sub", { class: "n", text: `${number(count)}` }));
    if (end) made.append(end);
  }
  drawing.found.set(`${row}:${group.number}`, made);
  return made;
}

/** Write the letter of each row beside each line of the screen; again when the width changes. */
export function drawGutters(place, nRows) {
  for (const old of place.querySelectorAll(".gutter")) old.remove();
  if (nRows < 2) return;
  // All places are read before anything is written, so that the browser lays out once.
  const found = [];
  for (const line of place.querySelectorAll(".line.rows")) {
    const tables = new Map();
    for (const table of line.children) if (!tables.has(table.offsetTop)) tables.set(table.offsetTop, table);
    for (const table of tables.values()) found.push([line, Array.from(table.children, (row) => row.offsetTop)]);
  }
  for (const [line, tops] of found) {
    tops.forEach((top, row) => line.append(el("span", { class: "gutter letter", "aria-hidden": "true", text: letterOf(row), style: { top: `${top}px` } })));
  }
}

/** Find the element to go to from a token by a key, or nothing. */
export function neighbour(from, key, found, views, isRightToLeft) {
  const row = Number(from.dataset.row);
  const group = Number(from.dataset.group);
  const forward = isRightToLeft ? "ArrowLeft" : "ArrowRight";
  const back = isRightToLeft ? "ArrowRight" : "ArrowLeft";
  if (key === forward) return found.get(`${row}:${group + 1}`);
  if (key === back) return found.get(`${row}:${group - 1}`);
  const own = [...found.keys()].filter((one) => one.startsWith(`${row}:`));
  if (key === "Home") return found.get(own[0]);
  if (key === "End") return found.get(own[own.length - 1]);
  const other = row + (key === "ArrowDown" ? 1 : -1);
  if (!["ArrowUp", "ArrowDown"].includes(key) || !views[other]) return undefined;
  const start = views[row].row.starts[views[row].row.groups[group]];
  let best;
  for (const one of found.keys()) {
    const [place, count] = one.split(":").map(Number);
    if (place === other && views[other].row.starts[views[other].row.groups[count]] <= start) best = one;
  }
  return found.get(best ?? [...found.keys()].find((one) => one.startsWith(`${other}:`)));
}
