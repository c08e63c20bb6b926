// The tokenizers that are open: those that come with the page, files, and ones trained here.
//
// Each has a name of its own, which links use. Draws nothing.

import { Opened, CoreError } from "playground/client";
import { TRAINING } from "playground/samples";

export const OWN = [
  { name: "small-gpt2", about: "byte-level, split by GPT-2’s pattern", dialect: "gpt2", merges: 1800, special_tokens: ["<|endoftext|>"] },
  { name: "small-o200k", about: "byte-level, split by GPT-4o’s pattern", dialect: "gpt4o", merges: 1800 },
  { name: "small-sentencepiece", about: "characters with ▁ for spaces, bytes for the rest", dialect: "sentencepiece", merges: 1800 },
  { name: "small-end-of-word", about: "characters with an end-of-word mark", dialect: "sennrich", merges: 1200 },
];
/** Those that are shown at first. */
export const SHOWN = ["small-gpt2", "small-sentencepiece"];

export const open = [];
const listeners = new Set();
/** Call a function when a tokenizer comes or goes. */
export const onTokenizers = (listener) => listeners.add(listener);
const tell = () => listeners.forEach((listener) => listener());

/** Find an open tokenizer by its name. */
export const named = (name) => open.find((one) => one.name === name);

function freeName(name) {
  const plain = name.replaceAll("|", "-") || "tokenizer"; // links separate names with |
  let free = plain;
  for (let count = 2; named(free); count++) free = `${plain}-${count}`;
  return free;
}

// Published patterns, by their names in bytepair.
const PATTERNS = { gpt2: "GPT-2’s pattern", cl100k: "GPT-4’s pattern", o200k: "GPT-4o’s pattern", llama3: "Llama 3’s pattern", qwen2: "Qwen 2’s pattern", "letters-digits": "letters and digits" };

/** Say in a few words how a tokenizer cuts: its units and its pattern, of those with names. */
export function aboutOf({ rows, dialect }, { dialects, patterns }) {
  const { normalize, units, split } = Object.fromEntries(rows);
  const begins = units.startsWith("bytes") ? "byte-level" : units.includes("byte fallback") ? "characters, bytes for the rest" : "characters";
  if (split === "one text is one piece") return `${begins}, not split`;
  if (/^" " becomes "▁"/.test(split) || normalize.includes('" " becomes "▁"')) return `${begins}, ▁ for spaces`;
  const own = dialects.find(({ name }) => name === dialect)?.pattern; // the same pattern can be written in several ways
  const found = patterns.find(({ pattern }) => pattern && (pattern === own || pattern.replaceAll("\n", ", then ") === split));
  return `${begins}, split by ${found ? PATTERNS[found.name] ?? `the pattern ${found.name}` : "a pattern of its own"}`;
}

async function add(name, request, extra = {}) {
  const core = new Opened(request);
  const answer = await core.open();
  const one = { name: freeName(name), core, info: answer.info, nSteps: answer.n_steps, known: new Map(), ...extra };
  open.push(one);
  tell();
  return one;
}

/** Train one of those that come with the page, unless it is open. */
export async function addOwn(name) {
  const found = OWN.find((one) => one.name === name);
  if (!found || named(name)) return named(name);
  const { about, name: _name, ...settings } = found;
  return add(name, { op: "train", ...settings, payload: new TextEncoder().encode(TRAINING) }, { about });
}

/** Open files; several make one tokenizer together. */
export function addFiles(name, files, dialect) {
  const total = files.reduce((sum, file) => sum + file.bytes.length, 0);
  const payload = new Uint8Array(total);
  let place = 0;
  for (const file of files) {
    payload.set(file.bytes, place);
    place += file.bytes.length;
  }
  const request = { op: "open", files: files.map((file) => ({ name: file.name, length: file.bytes.length })), payload };
  return add(name, dialect ? { ...request, dialect } : request, { isFile: true });
}

/** Keep a tokenizer that was trained here, under a name. */
export function keep(name, core, info, nSteps) {
  const one = { name: freeName(name), core, info, nSteps, known: new Map(), about: "trained here" };
  open.push(one);
  tell();
  return one;
}

/** Take a tokenizer away. */
export function remove(name) {
  const place = open.findIndex((one) => one.name === name);
  if (place < 0) return;
  const [gone] = open.splice(place, 1);
  gone.core.close().catch(() => {}); // its thread may be gone, too
  tell();
}

/** Learn what ids stand for: `{id, bytes, name, kind}` each, in a table that stays. */
export async function learn(one, ids) {
  const missing = [...new Set(ids)].filter((id) => !one.known.has(id));
  if (missing.length) {
    const { known } = await one.core.ask({ op: "tokens", ids: missing });
    takeKnown(one, known);
  }
  return one.known;
}

/** Take over the `known` table of an answer. */
export function takeKnown(one, known = {}) {
  for (const [id, token] of Object.entries(known)) one.known.set(Number(id), { id: Number(id), ...token });
  return one.known;
}

export { CoreError };
