// The order of tokens in right-to-left text: characters from right to left, the bytes of a character from left to right.
//
// Knows spans in bytes; what is drawn for each is made elsewhere.

import { el } from "playground/dom";

/** Find the places between characters where no token of a part of a character goes on. */
export function cutsOf(bytes, spans) {
  const isStart = (at) => at >= bytes.length || (bytes[at] & 0xc0) !== 0x80;
  const parts = spans.filter(({ start, end }) => !isStart(start) || !isStart(end));
  const cuts = [];
  for (let at = 0; at <= bytes.length; at++) {
    if (isStart(at) && !parts.some(({ start, end }) => start < at && at < end)) cuts.push(at);
  }
  return cuts;
}

/** Give the last cut up to a place. */
export const cutUpTo = (cuts, at) => cuts.findLast((cut) => cut <= at);

/** Give the elements of items `{start, end, made}` for a row; with cuts, parts of characters stand together and read from left to right. */
export function inOrder(items, cuts) {
  if (!cuts) return items.map(({ made }) => made);
  const row = [];
  let open = null;
  for (const { start, end, made } of items) {
    const cut = cutUpTo(cuts, start);
    const isWhole = cut === start && cuts.includes(end);
    if (isWhole) row.push(made);
    else if (cut === open) row.at(-1).append(made);
    else row.push(el("span", { class: "symbols", dir: "ltr" }, made));
    open = isWhole ? null : cut;
  }
  return row;
}
