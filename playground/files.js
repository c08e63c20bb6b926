// Files that a reader drops or chooses, and those that the page was made with.
//
// Says which files belong together; what a file is, the core finds out.

import { addFiles } from "playground/tokenizers";

const MAX_BYTES = 400_000_000;
// Files that make one tokenizer together.
const PAIRS = [["vocab.json", "merges.txt"], ["encoder.json", "vocab.bpe"], ["encoder_bpe_40000.json", "vocab_40000.bpe"]];
const SETTINGS = /^(tokenizer_config|special_tokens_map|added_tokens|config|generation_config|preprocessor_config)\.json$/;

const nameOf = (file) => (file.webkitRelativePath || file.name).split("/").pop();

/** Put files that make one tokenizer together; all others stand alone. */
export function sorted(files) {
  const left = [...files];
  const take = (name) => {
    const place = left.findIndex((file) => file.name === name);
    return place < 0 ? [] : left.splice(place, 1);
  };
  const has = (name) => left.some((file) => file.name === name);
  const found = [];
  for (const [vocabulary, merges] of PAIRS) {
    if (!has(vocabulary) || !has(merges)) continue;
    const settings = vocabulary === "vocab.json" ? left.filter((file) => SETTINGS.test(file.name)) : [];
    found.push([...take(vocabulary), ...take(merges), ...settings.flatMap((file) => take(file.name))]);
  }
  for (const file of [...left]) if (file.name.endsWith(".tiktoken") && has(`${file.name}.json`)) found.push([...take(file.name), ...take(`${file.name}.json`)]);
  return [...found, ...left.map((file) => [file])];
}

/** Tell settings, which are no tokenizer, from tokenizers. */
const isIdle = (together, all) => together.length === 1 && SETTINGS.test(together[0].name) && all.length > 1;

/** Open all files; gives `{opened: [tokenizer], refused: [{name, message, retry}]}`. */
export async function openFiles(list, dialect) {
  const files = [...list].map((file) => ({ name: nameOf(file), file }));
  const opened = [];
  const refused = [];
  const all = sorted(files);
  for (const together of all) {
    const name = together.map((one) => one.name).join(" + ");
    if (isIdle(together, all)) {
      refused.push({ name, message: "skipped: this file contains only settings, and the tokenizers opened with it have their own", files: [] });
      continue;
    }
    try {
      opened.push(await openOne(together, dialect));
    } catch (error) {
      refused.push({ name, message: error.message, files: together.map((one) => one.file) });
    }
  }
  return { opened, refused };
}

async function openOne(together, dialect) {
  const total = together.reduce((sum, { file }) => sum + file.size, 0);
  if (total > MAX_BYTES) throw new Error(`too large for a browser: ${Math.round(total / 1e6)} MB; use the command line`);
  if (!total) throw new Error("the file is empty");
  const read = await Promise.all(together.map(async ({ name, file }) => ({ name, bytes: new Uint8Array(await file.arrayBuffer()) })));
  return addFiles(read[0].name, read, dialect);
}

/** Open the tokenizers that `bytepair playground` wrote into the page. */
export async function openGiven() {
  const block = document.getElementById("given-tokenizers");
  if (!block) return { opened: [], refused: [] };
  const opened = [];
  const refused = [];
  for (const { name, data } of JSON.parse(block.textContent)) {
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    try {
      opened.push(await addFiles(name, [{ name: "given.bytepair", bytes }]));
    } catch (error) {
      refused.push({ name, message: error.message, files: [] });
    }
  }
  return { opened, refused };
}
