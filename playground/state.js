// Settings and text, and their form in the address's fragment.
//
// The fragment is never part of a request. What a link cannot carry is left out and said: long
// texts, and tokenizers from files. Knows nothing of views.

const MAX_PLAIN = 600;
const MAX_FRAGMENT = 24_000;
const MAX_TEXT = 40 * MAX_FRAGMENT;

const DEFAULTS = {
  view: "encode",
  text: null,
  tokenizers: null, // names; nothing stands for those that come with the page
  layout: "rows",
  spaces: true,
  ids: false,
  special: "text",
  chunk: 0,
  word: null, // of "Trace"; nothing stands for the text
  lesson: null,
};
const CHOICES = { view: ["encode", "trace", "train"], layout: ["rows", "columns"], special: ["text", "tokens"] };

export const state = { ...DEFAULTS };
export const notes = new Set();

const listeners = new Set();
/** Call a function with the name of each setting that changes. */
export const onChange = (listener) => listeners.add(listener);

/** Change settings, tell all views, and write the fragment a little later. */
export function change(changes) {
  const changed = Object.keys(changes).filter((name) => state[name] !== changes[name]);
  if (changed.includes("text") && changes.text !== null) notes.delete("packed");
  Object.assign(state, changes);
  for (const listener of listeners) for (const name of changed) listener(name);
  clearTimeout(change.timer);
  change.timer = setTimeout(writeFragment, 250);
}

async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

function toBase64(bytes) {
  let text = "";
  for (let place = 0; place < bytes.length; place += 8192) text += String.fromCharCode(...bytes.subarray(place, place + 8192));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const fromBase64 = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

/** Write the settings that are not the usual ones. */
export async function fragmentOf(settings) {
  const fields = new URLSearchParams();
  for (const [name, usual] of Object.entries(DEFAULTS)) {
    const value = settings[name];
    if (name === "text" || value === usual || value === null) continue;
    fields.set(name, Array.isArray(value) ? value.join("|") : String(value));
  }
  const text = settings.text;
  if (text === null) return { fragment: fields.toString(), isWhole: true };
  if (text.length <= MAX_PLAIN) {
    fields.set("text", text);
    return { fragment: fields.toString(), isWhole: true };
  }
  if (text.length > MAX_TEXT) return { fragment: fields.toString(), isWhole: false };
  const packed = toBase64(await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text)));
  if (packed.length > MAX_FRAGMENT) return { fragment: fields.toString(), isWhole: false };
  fields.set("packed", packed);
  return { fragment: fields.toString(), isWhole: true };
}

async function writeFragment() {
  const timer = change.timer;
  const { fragment, isWhole } = await fragmentOf(state);
  if (timer !== change.timer) return; // packing takes a while, and there is a later state
  if (isWhole) notes.delete("text");
  else notes.add("text");
  if (`#${fragment}` !== location.hash) history.replaceState(null, "", `#${fragment}`);
  for (const listener of listeners) listener("notes");
}

/** Read settings from a fragment; what it does not say is as usual, and what makes no sense is ignored. */
export async function readFragment(hash) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const found = { ...DEFAULTS };
  for (const [name, usual] of Object.entries(DEFAULTS)) {
    const value = fields.get(name);
    if (value === null) continue;
    if (name === "tokenizers") found[name] = value.split("|").filter(Boolean);
    else if (typeof usual === "boolean") found[name] = value === "true";
    else if (typeof usual === "number") found[name] = Math.min(Math.max(Math.trunc(Number(value)) || 0, 0), 1_000_000);
    else if (!CHOICES[name] || CHOICES[name].includes(value)) found[name] = value;
  }
  const packed = fields.get("packed");
  if (packed) found.text = await unpacked(packed);
  return found;
}

async function unpacked(packed) {
  try {
    const bytes = await unpackedBytes(new Blob([fromBase64(packed)]).stream().pipeThrough(new DecompressionStream("deflate-raw")));
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  } catch {
    notes.add("packed");
    return null;
  }
}

// A few kilobytes can unpack to gigabytes; what a link of this page holds is short.
async function unpackedBytes(stream) {
  const parts = [];
  let length = 0;
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts).arrayBuffer();
    parts.push(value);
    length += value.length;
    if (length > 3 * MAX_TEXT) {
      await reader.cancel();
      throw new Error("the text in the link is too large");
    }
  }
}
