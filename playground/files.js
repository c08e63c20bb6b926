// Files that a reader drops or chooses, and those that the page was made with.
//
// Says which files belong together; what a file is, the core finds out.

import { decoded } from "playground/glyphs";
import { addFiles } from "playground/tokenizers";

const MAX_BYTES = 400_000_000;
const MAX_TEXT = 100_000_000;
// Files that make one tokenizer together.
const PAIRS = [["vocab.json", "merges.txt"], ["encoder.json", "vocab.bpe"], ["encoder_bpe_40000.json", "vocab_40000.bpe"]];
// Settings that the core reads beside vocab.json and merges.txt, and others that lie beside tokenizers.
const READ_SETTINGS = /^(tokenizer_config|special_tokens_map|added_tokens|config)\.json$/;
const SETTINGS = /^(tokenizer_config|special_tokens_map|added_tokens|config|generation_config|preprocessor_config)\.json$/;

// Of a folder, these are looked at: it may have gigabytes beside its tokenizer.
const IN_FOLDERS = /^(tokenizer|tekken|vocab|encoder|encoder_bpe_40000)\.json$|^tekken.*\.json$|^merges\.txt$|\.(bpe|model|tiktoken|tiktoken\.json|bytepair|gguf)$/;

const folders = new WeakMap(); // of files, the names of the folders that were dropped

const nameOf = (file) => file.name.split("/").pop();

/** Give what was dropped: files, and promises of the files of a folder. All of it is asked for before the event ends. */
export function dropped(transfer) {
  const items = [...transfer.items].filter((item) => item.kind === "file");
  const files = [...transfer.files];
  return items.flatMap((item, place) => {
    const entry = item.webkitGetAsEntry?.();
    if (entry?.isDirectory) return [item.getAsFileSystemHandle?.().then(filesOf) ?? Promise.reject(noFolder(entry.name))];
    return files[place] ? [files[place]] : [];
  });
}

const noFolder = (name) => new Error(`${name} is a folder: choose the files inside it`);

async function filesOf(folder) {
  const found = [];
  for await (const [name, entry] of folder.entries()) {
    if (entry.kind !== "file" || !(IN_FOLDERS.test(name) || READ_SETTINGS.test(name))) continue;
    const file = await entry.getFile();
    folders.set(file, folder.name);
    found.push(file);
  }
  if (!found.some((file) => IN_FOLDERS.test(file.name))) throw new Error(`${folder.name} is a folder with no tokenizer file in it: choose the files themselves`);
  const hasPair = ["vocab.json", "merges.txt"].every((name) => found.some((file) => file.name === name));
  return hasPair ? found : found.filter((file) => IN_FOLDERS.test(file.name));
}

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
    const settings = vocabulary === "vocab.json" ? left.filter((file) => READ_SETTINGS.test(file.name)) : [];
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
  const all = [...Map.groupBy(files, ({ file }) => folders.get(file)).values()].flatMap(sorted);
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

/** Tell a text from merges, which are texts, too. */
export async function isText(file) {
  if (!/\.(txt|md|csv|log|py|js|rs|html)$/i.test(file.name) || /merges|codes|vocab|bpe/i.test(file.name)) return false;
  const start = await file.slice(0, 8).text().catch(() => "#version"); // a file that is gone is refused as any other
  return !start.startsWith("#version");
}

/** Read a text: `{text, note}`, where the note says what is not as it was in the file. */
export async function readText(file) {
  if (file.size > MAX_TEXT) throw new Error(`too large for a browser: ${Math.round(file.size / 1e6)} MB; use the command line`);
  return decoded(new Uint8Array(await file.arrayBuffer()));
}

async function openOne(together, dialect) {
  const total = together.reduce((sum, { file }) => sum + file.size, 0);
  if (total > MAX_BYTES) throw new Error(`too large for a browser: ${Math.round(total / 1e6)} MB; use the command line`);
  if (!total) throw new Error("the file is empty");
  const read = await Promise.all(together.map(async ({ name, file }) => ({ name, bytes: new Uint8Array(await file.arrayBuffer()) })));
  const folder = folders.get(together[0].file);
  return addFiles(folder ? `${folder}/${read[0].name}` : read[0].name, read, dialect);
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
