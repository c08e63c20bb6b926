// Text boxes of which a long text shows only the beginning.
//
// A browser takes seconds to minutes to lay out a text box with a megabyte. The whole text is kept by the view; draws nothing.

import { counted } from "playground/dom";

const MOST_EDITED = 100_000;
const SHOWN_OF_LONG = 10_000;

/** Show a text in a box; a long one cannot be edited there. */
export function showIn(box, value) {
  const isLong = value.length > MOST_EDITED;
  const own = isLong ? `${value.slice(0, SHOWN_OF_LONG).replace(/[\ud800-\udbff]$/, "")}…` : value;
  if (box.value !== own) box.value = own;
  box.readOnly = isLong;
}

/** Give the whole text after a paste that would make it long; then the box does not get it. */
export function longPaste(event, box) {
  const pasted = (event.clipboardData?.getData("text/plain") ?? "").replaceAll(/\r\n?/g, "\n"); // as the box does
  if (box.readOnly || box.value.length + pasted.length <= MOST_EDITED) return null;
  event.preventDefault();
  return box.value.slice(0, box.selectionStart) + pasted + box.value.slice(box.selectionEnd);
}

/** Say that a box shows only the beginning of a text. */
export const noteOfLong = (value) => `The text has ${counted(value.length, "character")}: the box shows only its beginning and cannot be edited. “Clear” empties it.`;
