// The view "Encode": a text in the tokens of several tokenizers, with counts, ids and bytes.
//
// Counts and copies cover the whole text; a page of it is drawn at a time. Encoding runs in the
// thread of the core, and answers to an older text are dropped.

import { PAGE, commonCuts, groupAt, pagesOf, rowOf, stretchesOf } from "playground/align";
import { messagesIn, sampleChat } from "playground/chat";
import { newestOnly } from "playground/client";
import { choice, copy, counted, el, number, opensByKey, ratio, recall, remember, say, toggle } from "playground/dom";
import { isText, openFiles, readText } from "playground/files";
import { isRightToLeft, loneSurrogates, looseText } from "playground/glyphs";
import { inspector } from "playground/inspect";
import { longPaste, noteOfLong, showIn } from "playground/long";
import { FIRST, SAMPLES, SURPRISES } from "playground/samples";
import { change, fragmentOf, notes, onChange, state } from "playground/state";
import { drawGutters, drawTokens, letterOf, neighbour, tint } from "playground/tokens";
import { OWN, aboutOf, addOwn, learn, named, open, remove } from "playground/tokenizers";
import { undoer } from "playground/undo";

const encoder = new TextEncoder();

const MOST_SPECIAL = 40;

// There, the description of a token lies over the page and waits for one to be pointed at, and the list of tokenizers is folded.
const isNarrow = matchMedia("(max-width: 620px)");

/** What is on the screen: the text's bytes, an answer for each tokenizer, and where cuts are. */
const shown = { bytes: new Uint8Array(), drawn: new Uint8Array(), text: null, special: null, all: [], views: [], cuts: null, pages: [0], page: 0, found: new Map() };

export const currentText = () => state.text ?? FIRST;

/** Make the view. `actions.trace(tokenizer, place)` goes to the merges at a byte of the text. */
export function encodeView(actions) {
  const text = el("textarea", {
    id: "text", spellcheck: false, dir: "auto", rows: 4, "aria-describedby": "text-notes",
    placeholder: "Type or paste a text, or drop a text file here.",
    oninput: () => { change({ text: text.value }); later(); },
    onpaste: (event) => paste(event),
  });
  const textNotes = el("p", { id: "text-notes", class: "notes", role: "status" });
  const samples = el("select", {
    "aria-label": "Use a sample text",
    onkeydown: opensByKey,
    onchange: () => { useSample(samples.value); samples.value = ""; },
  }, el("option", { value: "", text: "Sample texts…" }), ...SAMPLES.map(([name], place) => el("option", { value: String(place), text: name })));
  const chat = el("option", { value: "chat", text: "A chat with roles" }); // offered where a tokenizer has tokens for it
  const list = el("ul", { class: "tokenizers", "aria-label": "Tokenizers" });
  const summary = el("p", { class: "unseen", role: "status", "aria-live": "polite" });
  const refusals = el("div", { class: "refusals", role: "alert" });
  const settings = el("div", { class: "settings" });
  const tokens = el("div", { class: "tokens", role: "listbox", "aria-label": "Tokens of the text", "aria-orientation": "horizontal" });
  const slider = el("input", { type: "range", min: "0", "aria-label": "Part of the text", oninput: () => goTo(Number(slider.value)) });
  const [back, next] = [["← Back", -1], ["Next →", 1]].map(([label, step]) => el("button", { type: "button", text: label, onclick: () => goTo(shown.page + step) }));
  const part = el("output");
  const pager = el("nav", { class: "pager", "aria-label": "Parts of the text", hidden: true }, back, slider, next, part);
  const undo = undoer();
  const panel = inspector({ trace: (tokenizer, place) => actions.trace(tokenizer, place), point: (group) => point(active, group) }, undo);
  const counts = el("div", { class: "counts", role: "group", "aria-label": "Tokens of each tokenizer" });
  const legend = el("div", { class: "legend", role: "group", "aria-label": "What the signs mean" });
  const chooser = el("input", { type: "file", multiple: true, class: "unseen", tabIndex: -1, "aria-label": "Tokenizer files", onchange: () => { const chosen = [...chooser.files]; chooser.value = ""; take(chosen); } }); // emptying it empties its list, too
  const fold = el("button", { type: "button", class: "fold", text: "Tokenizers", "aria-controls": "manage", onclick: () => unfold(manage.hidden) });
  const manage = el("div", { id: "manage" }, list, settings);
  const fromFile = { text: null, note: "" }; // the text that was read last
  const described = new WeakSet(); // tokenizers whose description is open
  let active = 0;
  let pointed = null;
  let apart = null; // the token whose merges are undone

  const place = el("section", { id: "encode", "aria-labelledby": "tab-encode" },
    introduction(),
    el("div", { class: "head" },
      el("label", { class: "title", for: "text", text: "Text" }), samples,
      el("button", { type: "button", text: "Copy link", title: "Copy the address of this page with the text and the settings", onclick: copyLink }),
      el("button", { type: "button", text: "Clear", onclick: () => { setText(""); text.focus(); } })),
    text, textNotes,
    el("p", { class: "try" }, el("span", { class: "quiet", text: "Try" }), ...SURPRISES.map(([name, value]) => el("button", { type: "button", text: name, onclick: () => setText(value) }))),
    el("div", { class: "head" }, el("h2", { class: "title" }, fold), adder(),
      el("button", { type: "button", class: "strong", id: "open-files", text: "Open files…", title: "tokenizer.json, .model, .tiktoken, tekken.json, .gguf, .bytepair, codes; vocab.json and merges.txt together", onclick: () => chooser.click() }), chooser),
    refusals, manage, summary,
    el("div", { class: "split" }, el("div", { class: "main" }, counts, legend, tokens, pager), panel.place));

  // The list and the settings; on a phone they are folded, so that the tokens are on the first screen.
  function unfold(isOpen) {
    manage.hidden = !isOpen;
    fold.setAttribute("aria-expanded", String(isOpen));
  }
  unfold(!isNarrow.matches);

  async function copyLink() {
    const { fragment, isWhole } = await fragmentOf(state);
    await copy(`${location.href.replace(/#.*$/, "")}#${fragment}`, isWhole ? "the link" : "the link without the text, which is too long for it");
  }

  function setText(value) {
    change({ text: value });
    showText();
    later();
  }

  function useSample(name) {
    if (name === "chat") change({ special: "tokens" });
    setText(name === "chat" ? sampleChat(open) : SAMPLES[name][1]);
    drawSettings();
  }

  function showText() {
    showIn(text, currentText());
    drawNotes();
  }

  function paste(event) {
    const whole = longPaste(event, text);
    if (whole !== null) setText(whole);
  }

  function adder() {
    const select = el("select", { "aria-label": "Add a built-in tokenizer", onkeydown: opensByKey, onchange: async () => {
      const name = select.value;
      select.value = "";
      if (name) await addOwn(name);
    } });
    adder.draw = () => {
      const missing = OWN.filter((one) => !named(one.name));
      select.replaceChildren(el("option", { value: "", text: "Add a small tokenizer…" }), ...missing.map((one) => el("option", { value: one.name, text: `${one.name}: ${one.about}` })));
      select.hidden = !missing.length;
    };
    adder.draw();
    return select;
  }

  /** Open files, and promises of the files of a folder; of texts, the first is shown. */
  async function take(given) {
    const found = await Promise.allSettled(given);
    const refused = found.filter((one) => one.reason).map(({ reason }) => ({ name: "", message: reason.message, files: [] }));
    const files = found.flatMap((one) => one.value ?? []);
    const areTexts = await Promise.all(files.map(isText));
    const [first, ...texts] = files.filter((_file, place) => areTexts[place]);
    for (const { name } of texts) refused.push({ name, message: `skipped: only one text can be shown at a time, and ${first.name} was opened first`, files: [] });
    const before = [...refusals.children];
    await tell({ opened: [], refused });
    if (first) await takeText(first, before);
    await tell(await openFiles(files.filter((_file, place) => !areTexts[place])), before);
  }

  async function takeText(file, before) {
    try {
      Object.assign(fromFile, await readText(file));
    } catch (error) {
      return tell({ opened: [], refused: [{ name: file.name, message: error.message, files: [] }] });
    }
    setText(fromFile.text);
    return tell({ opened: [{ name: `${file.name} as the text` }], refused: [] }, before);
  }

  /** Say what was opened and what was refused. If a file was opened, the messages from before it go away. */
  async function tell({ opened, refused }, before = [...refusals.children]) {
    if (opened.length) say(`Opened ${opened.map((one) => one.name).join(", ")}.`);
    if (opened.length) for (const old of before) old.remove();
    for (const one of refused) {
      for (const old of [...refusals.children]) if (old.dataset.name === one.name && one.name) old.remove();
      refusals.append(refusal(one));
    }
  }

  function refusal({ name, message, files }) {
    // Most messages of the core begin with the name, or with the usual name of the format.
    const usual = message.match(/^(tokenizer|tekken|vocab)\.json: |^merges\.txt: /)?.[0] ?? "";
    const said = message.startsWith(`${name} `) || message.startsWith(`${name}: `) ? message.slice(name.length).replace(/^:? /, "") : message.slice(usual.length);
    const made = el("div", { class: "refusal", data: { name } }, el("strong", {}, el("bdi", { text: name })), el("span", { text: said }));
    if (/dialect/.test(message) && files.length) made.append(dialectChooser(files, made));
    if (/not a known tokenizer format/.test(message) && files.length === 1) made.append(el("button", { type: "button", text: "Open as text", onclick: () => { dismiss(made); takeText(files[0], []); } }));
    made.append(el("button", { type: "button", class: "icon", text: "✕", "aria-label": `Dismiss the message about ${name}`, onclick: () => dismiss(made) }));
    return made;
  }

  // The focus goes to the next message.
  function dismiss(made) {
    const next = made.nextElementSibling ?? made.previousElementSibling;
    made.remove();
    (next?.querySelector(".icon") ?? document.getElementById("open-files")).focus();
  }

  function dialectChooser(files, made) {
    const select = el("select", { "aria-label": "Dialect", onkeydown: opensByKey, onchange: async () => {
      made.remove();
      await tell(await openFiles(files, select.value));
    } }, el("option", { value: "", text: "Choose a dialect…" }), ...actions.names().dialects.map((one) => el("option", { value: one.name, text: one.name })));
    return select;
  }

  function drawSettings() {
    const chunk = el("input", { type: "number", id: "chunk", min: "0", max: "1000000", value: state.chunk || "", placeholder: "–", oninput: () => change({ chunk: Math.min(Math.max(0, Math.trunc(Number(chunk.value)) || 0), Number(chunk.max)) }) });
    settings.replaceChildren(
      choice("layout", "Layout", [["rows", "Rows"], ["columns", "Columns"]], state.layout, (value) => change({ layout: value })),
      choice("special", "Special tokens", [["text", "As text"], ["tokens", "As tokens"]], state.special, (value) => change({ special: value })),
      toggle("Show spaces", state.spaces, (value) => change({ spaces: value }), "Draw spaces as ·, joiners as ⁀ and non-joiners as ¦"),
      toggle("Show ids", state.ids, (value) => change({ ids: value })),
      el("label", { class: "field", for: "chunk" }, el("span", { text: "Chunks of" }), chunk, el("span", { text: "tokens" })));
  }

  async function encoded(tokenizer, bytes, special) {
    try {
      return { tokenizer, row: rowOf(await tokenizer.core.ask({ op: "encode", special, payload: bytes.slice() })) };
    } catch (error) {
      return { tokenizer, error: error.message };
    }
  }

  // Encoding: the newest text for all tokenizers. What is known of the same text stays.
  const encode = newestOnly(async (_nothing, isNewest) => {
    const value = currentText();
    const bytes = encoder.encode(value);
    const special = state.special;
    const isSameText = shown.text === value;
    const isSame = isSameText && shown.special === special;
    const answered = await Promise.all(open.map((tokenizer) => (isSame && shown.all.find((one) => one.tokenizer === tokenizer && one.row)) || encoded(tokenizer, bytes, special)));
    if (!isNewest()) return;
    const all = answered.filter((one) => open.includes(one.tokenizer)); // one can be removed meanwhile
    Object.assign(shown, { bytes, text: value, special, all, views: all.filter((one) => one.row) });
    shown.cuts = shown.views.length ? commonCuts(shown.views.map((one) => one.row), bytes.length) : null;
    shown.pages = shown.cuts ? pagesOf(shown.cuts.cuts) : [0];
    shown.page = isSameText ? Math.min(shown.page, shown.pages.length - 1) : 0;
    if (active >= shown.views.length) active = 0;
    drawList();
    await drawPage();
    if (!globalThis.firstTokens) globalThis.firstTokens = performance.now();
  });

  function later() {
    clearTimeout(later.timer);
    later.timer = setTimeout(encode, currentText().length > 200_000 ? 250 : 30);
    drawNotes();
  }

  function drawNotes() {
    const value = currentText();
    const lone = loneSurrogates(value);
    const said = [
      value === fromFile.text ? fromFile.note : "",
      text.readOnly ? noteOfLong(value) : "",
      value.includes("\r") ? "Some lines end with CR, as in the file; editing in the text box changes all line ends to LF." : "",
      SURPRISES.find(([, one]) => one === value)?.[2],
      lone ? `${counted(lone, "lone surrogate is", "lone surrogates are")} encoded as U+FFFD.` : "",
      notes.has("text") ? "The text is too long for the link and is not part of it." : "",
      notes.has("packed") ? "The text in the link is damaged; the sample is shown instead." : "",
      ...missingNames(),
    ].filter(Boolean).join(" ");
    if (textNotes.textContent !== said) textNotes.textContent = said;
  }

  const missingNames = () => (actions.isReady() ? (state.tokenizers ?? []).filter((name) => !named(name)).map((name) => `The link also refers to ${name}: open that file to see it here.`) : []);

  function drawList() {
    const { bytes, all } = shown;
    const focused = list.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    list.replaceChildren(...all.map((view) => item(view, bytes.length)));
    if (!all.length) unfold(true);
    if (!sampleChat(open)) chat.remove();
    else if (!chat.isConnected) samples.append(chat);
    counts.replaceChildren(...all.map(countOf), el("span", { class: "quiet", text: spread() }));
    if (!all.length) list.append(el("li", { class: "empty-state" }, el("strong", { text: "No tokenizer is open." }), el("span", { text: "Drop a file anywhere on this page, open one, or add one of the small built-in tokenizers." })));
    const least = Math.min(...shown.views.map((one) => one.row.ids.length));
    clearTimeout(drawList.timer);
    drawList.timer = setTimeout(summarise, 1200);
    for (const entry of list.querySelectorAll("[data-tokens]")) entry.classList.toggle("least", shown.views.length > 1 && Number(entry.dataset.tokens) === least && bytes.length > 0);
    drawActive();
    if (!focused) return;
    const again = [...list.querySelectorAll("[data-key]")].find((one) => one.dataset.key === focused);
    (again ?? list.querySelector(".name") ?? document.getElementById("open-files")).focus(); // of one that was removed
  }

  const countOf = ({ tokenizer, row }) => el("span", { class: "count-of" }, el("b", { class: "letter", text: row ? letterOf(shown.views.findIndex((one) => one.row === row)) : "–" }), el("bdi", { text: tokenizer.name }), el("b", { text: row ? number(row.ids.length) : "refused" }));

  /** Compare the most tokens with the fewest. */
  function spread() {
    const ordered = [...shown.views].sort((one, other) => one.row.ids.length - other.row.ids.length);
    const [least, most] = [ordered[0], ordered.at(-1)].map((one) => one?.row.ids.length);
    if (ordered.length < 2 || !least) return "";
    if (least === most) return "equally many tokens";
    return `${ordered.at(-1).tokenizer.name} needs ${number(Math.round(100 * (most / least - 1)))}% more tokens than ${ordered[0].tokenizer.name}`;
  }

  function legendOf() {
    const sample = (kind, ...inside) => el("span", { class: `sign ${kind}`, style: tint(7) }, ...inside);
    const entries = shown.views.length > 1 ? [[sample("", "ab"), "the tokenizers cut differently"], [sample("pale", "ab"), "all cut alike"]] : [[sample("", "ab"), "a token"]];
    entries.push([sample("", "é", el("sub", { class: "n", text: "2" })), "two tokens share a character"]);
    if (state.spaces) entries.push([sample("", "·"), "a space"]);
    const bar = el("span", { class: "key-of-bars" }, el("span", { class: "bar" }, el("i", { style: { "inline-size": "60%" } })), " share of the highest count");
    return [...entries.map(([sign, words]) => el("span", {}, sign, ` ${words}`)), el("span", { text: "an id has the same colour everywhere" }), ...(shown.views.length > 1 ? [bar] : [])];
  }

  // A screen reader hears of counts when the writer pauses, and of the same counts once.
  function summarise() {
    const said = shown.views.map((one) => `${one.tokenizer.name}: ${counted(one.row.ids.length, "token")}, ${ratio(shown.bytes.length, one.row.ids.length)} bytes per token`).join("; ");
    if (summary.textContent !== said) summary.textContent = said;
  }

  function item(view, nBytes) {
    const { tokenizer, row, error } = view;
    const info = tokenizer.info;
    const about = [counted(info.n_vocab, "id"), tokenizer.about ?? aboutOf(info, actions.names()), info.lossless === false ? "not lossless" : null].filter(Boolean).join(" · ");
    const rowNumber = shown.views.indexOf(view);
    const key = (what) => ({ key: `${what} ${tokenizer.name}` }); // the focus stays where it was when the list is drawn anew
    const made = el("li", { class: "tokenizer", data: row ? { tokens: row.ids.length, row: rowNumber } : {} },
      el("button", { type: "button", class: "name", "aria-pressed": String(row !== undefined && rowNumber === active), title: "Show the ids and bytes of this tokenizer", disabled: !row, data: key("show"), onclick: () => activate(rowNumber) },
        el("b", { class: "letter", text: row ? letterOf(rowNumber) : "–" }), el("bdi", { text: tokenizer.name })),
      el("span", { class: "about", text: about }));
    if (error) made.append(el("span", { class: "problem", role: "alert", text: error }));
    else made.append(
      el("span", { class: "figure" }, el("b", { class: "count", text: number(row.ids.length) }), " tokens"),
      el("span", { class: "figure" }, el("b", { class: "rate", text: ratio(nBytes, row.ids.length) }), " bytes per token"),
      el("span", { class: "bar", "aria-hidden": "true", title: "Compared with the highest count" }, el("i", { style: { "inline-size": `${share(row.ids.length)}%` } })));
    const chunks = row && state.chunk ? Math.ceil(row.ids.length / state.chunk) : 0;
    if (chunks) made.append(el("span", { class: "figure chunks", text: `${counted(chunks, "chunk")}; the last has ${counted(row.ids.length - (chunks - 1) * state.chunk, "token")}` }));
    made.append(el("span", { class: "buttons" },
      el("button", { type: "button", text: "Copy ids", "aria-label": `Copy ids of ${tokenizer.name}`, data: key("ids"), disabled: !row, onclick: () => copy(idsText(row), `${counted(row.ids.length, "id")}`) }),
      el("button", { type: "button", text: "Copy JSON", "aria-label": `Copy JSON of ${tokenizer.name}`, data: key("json"), disabled: !row, onclick: () => copy(JSON.stringify(asObject(view)), `${counted(row.ids.length, "token")} as JSON`) }),
      el("button", { type: "button", text: "About", "aria-label": `About ${tokenizer.name}`, data: key("about"), "aria-expanded": String(described.has(tokenizer)), onclick: ({ target }) => toggleAbout(made, target, tokenizer) }),
      el("button", { type: "button", class: "icon", text: "✕", data: key("remove"), title: "Remove", "aria-label": `Remove ${tokenizer.name}`, onclick: () => remove(tokenizer.name) })));
    if (described.has(tokenizer)) made.append(description(info));
    return made;
  }

  function toggleAbout(made, button, tokenizer) {
    const old = made.querySelector("dl");
    button.setAttribute("aria-expanded", String(!old));
    if (old) described.delete(tokenizer);
    else described.add(tokenizer);
    if (old) old.remove();
    else made.append(description(tokenizer.info));
  }

  function description(info) {
    const special = info.special.slice(0, MOST_SPECIAL).map(([name, id]) => `${name} ${id}`).join("  ");
    const rest = info.special.length - MOST_SPECIAL;
    const rows = [["format", info.format ?? "trained here"], ...info.rows, ["special tokens", rest > 0 ? `${special}  and ${number(rest)} more` : special || "none"]];
    return el("dl", {}, ...rows.flatMap(([label, value]) => [el("dt", { text: label }), el("dd", {}, el("bdi", { text: String(value) }))]));
  }

  const share = (count) => {
    const most = Math.max(...shown.views.map((one) => one.row.ids.length), 1);
    return Math.round((100 * count) / most);
  };

  function activate(row) {
    if (!shown.views[row]) return;
    active = row;
    for (const entry of list.querySelectorAll("[data-row]")) entry.querySelector(".name").setAttribute("aria-pressed", String(Number(entry.dataset.row) === row));
    drawActive();
  }

  const idsIn = (stretches, { row: { ids } }, row) => stretches.flatMap((one) => one.rows[row].flatMap((group) => Array.from(ids.subarray(group.first, Math.min(group.last, group.first + 64)))));

  function pageStretches() {
    if (!shown.cuts) return [];
    const from = shown.pages[shown.page];
    const to = shown.pages[shown.page + 1] ?? shown.cuts.cuts.length - 1;
    return stretchesOf(shown.views.map((one) => one.row), shown.cuts, from, to).map(bounded);
  }

  // One stretch can be as long as the text; what is drawn of it is not.
  const bounded = (stretch) => ({ ...stretch, isCut: stretch.rows.some((groups) => groups.length > 2 * PAGE), rows: stretch.rows.map((groups) => groups.slice(0, 2 * PAGE)) });

  // Tokens can be known already, so that a later call would draw before an earlier one.
  let pageVersion = 0;
  async function drawPage() {
    pageVersion += 1;
    const own = pageVersion;
    const stretches = pageStretches();
    const views = shown.views;
    const tables = await Promise.all(views.map((view, row) => learn(view.tokenizer, idsIn(stretches, view, row)).catch((error) => error)));
    if (own !== pageVersion || views.some((view) => !open.includes(view.tokenizer))) return; // drawn anew soon
    const fault = tables.find((one) => one instanceof Error);
    if (fault) throw fault;
    const made = document.createDocumentFragment();
    const messages = messagesIn(looseText(shown.bytes), open);
    shown.found = drawTokens(made, stretches, shown.views, shown.bytes, { ...state, breaks: new Set(messages.flatMap(({ start, end }) => [start, end])) });
    markRoles(made, messages);
    shown.stretches = stretches;
    tokens.replaceChildren(made);
    tokens.hidden = !shown.views.length;
    if (shown.views.length && !shown.bytes.length) tokens.append(el("p", { class: "quiet", text: "Enter a text to see its tokens." }));
    const first = shown.found.values().next().value;
    if (first) first.tabIndex = 0;
    drawGutters(tokens, state.layout === "rows" ? shown.views.length : 0);
    legend.replaceChildren(...legendOf());
    drawPager();
    pointed = null;
    panel.clear();
    undo.clear();
    drawActive();
    if (shown.views[active]?.row.groups.length && !isNarrow.matches) panel.show(shown.views[active], groupAt(shown.views[active].row, shown.stretches[0]?.rows[active][0]?.number ?? 0));
    tokens.dataset.version = String(Number(tokens.dataset.version ?? 0) + 1);
    shown.drawn = shown.bytes;
  }

  /** Mark the lines of each message of a chat, the first one with the role. */
  function markRoles(made, messages) {
    const begun = new Set();
    for (const line of messages.length ? made.querySelectorAll(".line") : []) {
      const { row, group } = line.querySelector(".t")?.dataset ?? {};
      const start = row === undefined ? -1 : groupAt(shown.views[row].row, Number(group)).start;
      const message = messages.find((one) => one.start <= start && start < one.end);
      if (!message) continue;
      line.dataset.role = message.role;
      line.classList.toggle("begins", start === message.start && !begun.has(`${row} ${start}`));
      begun.add(`${row} ${start}`);
    }
  }

  function drawActive() {
    panel.place.hidden = !shown.views.length;
    if (shown.views[active] && shown.stretches) panel.showRow(shown.views[active], shown.stretches.flatMap((one) => one.rows[active] ?? []));
  }

  // Its elements stay: one that is dragged, or has the focus, would be lost.
  function drawPager() {
    const count = shown.pages.length;
    pager.hidden = count < 2;
    if (pager.hidden) return;
    const { cuts } = shown.cuts;
    const from = cuts[shown.pages[shown.page]];
    const to = cuts[shown.pages[shown.page + 1] ?? cuts.length - 1];
    slider.max = String(count - 1);
    slider.value = String(shown.page);
    back.disabled = shown.page === 0;
    next.disabled = shown.page === count - 1;
    part.textContent = `bytes ${number(from)}–${number(to)} of ${number(shown.bytes.length)}; counts and copies always cover the whole text`;
    slider.setAttribute("aria-valuetext", `bytes ${number(from)} to ${number(to)}`);
  }

  function goTo(page) {
    shown.page = page;
    return drawPage();
  }

  function point(row, group) {
    const view = shown.views[row];
    if (!view || !(group < view.row.groups.length)) return;
    if (row !== active) activate(row);
    const one = groupAt(view.row, group);
    pointed?.classList.remove("on");
    pointed = shown.found.get(`${row}:${group}`) ?? null;
    pointed?.classList.add("on");
    panel.show(view, one);
  }

  const tokenOf = (event) => event.target.closest?.(".t");
  const follow = (event) => {
    const one = tokenOf(event);
    if (one && one !== pointed) point(Number(one.dataset.row), Number(one.dataset.group));
  };
  tokens.addEventListener("mouseover", follow);
  tokens.addEventListener("focusin", follow);
  tokens.addEventListener("click", (event) => {
    const one = tokenOf(event);
    if (one) takeApart(one);
  });
  tokens.addEventListener("keydown", (event) => {
    const one = tokenOf(event);
    if (!one || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter") return traceFrom(one);
    if (event.key === " ") {
      event.preventDefault();
      return takeApart(one);
    }
    const to = neighbour(one, event.key, shown.found, shown.views, isRightToLeft(one.closest(".line").textContent));
    if (!to) return;
    event.preventDefault();
    select(to);
  });

  function select(one) {
    for (const old of tokens.querySelectorAll("[aria-selected=true]")) old.setAttribute("aria-selected", "false");
    for (const old of tokens.querySelectorAll("[tabindex='0']")) old.tabIndex = -1;
    one.setAttribute("aria-selected", "true");
    one.tabIndex = 0;
    one.focus();
  }

  /** Show the merges of a token; of one that is shown already, undo one more. */
  async function takeApart(one) {
    const isShown = apart === one && !undo.place.hidden;
    apart = one;
    select(one);
    if (isShown) return undo.undo();
    const view = shown.views[Number(one.dataset.row)];
    await undo.show(view, groupAt(view.row, Number(one.dataset.group)), shown.bytes);
    if (isNarrow.matches) one.scrollIntoView({ block: "nearest" }); // above the description
    return undefined;
  }

  function traceFrom(one) {
    const view = shown.views[Number(one.dataset.row)];
    actions.trace(view.tokenizer, groupAt(view.row, Number(one.dataset.group)).start);
  }

  new ResizeObserver(() => drawGutters(tokens, state.layout === "rows" ? shown.views.length : 0)).observe(tokens);
  onChange((name) => {
    if (name === "special") later();
    if (["spaces", "ids", "layout", "chunk"].includes(name)) drawPage();
    if (name === "chunk") drawList();
    if (name === "notes") drawNotes();
  });

  /** Show the settings and the text as they are now. */
  function refresh() {
    showText();
    drawSettings();
    adder.draw();
    later();
  }

  return { place, refresh, take, tell, encode: later, openChooser: () => chooser.click(), focus: () => text.focus() };
}

/** Say what this page is, until a reader closes it. */
function introduction() {
  const place = el("div", { class: "intro", role: "note", hidden: recall("introduced") !== null },
    el("p", { text: "A token is a piece of text that has a number, its id; language models read ids, not letters. This page cuts your text into tokens, shows the merges that made them, and trains tokenizers of your own. Everything runs in your browser, so nothing leaves your machine." }),
    el("button", { type: "button", class: "icon", text: "✕", "aria-label": "Close the introduction", onclick: () => { remember("introduced", "yes"); place.hidden = true; document.getElementById("text").focus(); } }));
  return place;
}

/** Write ids as a list, or, in chunks, as a list of lists. */
function idsText(row) {
  return JSON.stringify(chunked(Array.from(row.ids))).replaceAll(",", ", ");
}

function chunked(ids) {
  if (!state.chunk) return ids;
  const chunks = [];
  for (let place = 0; place < ids.length; place += state.chunk) chunks.push(ids.slice(place, place + state.chunk));
  return chunks;
}

function asObject({ tokenizer, row }) {
  const { bytes } = shown;
  const spans = Array.from(row.starts, (start, place) => [start, row.ends[place]]);
  return { tokenizer: tokenizer.name, special_tokens: state.special, n_tokens: row.ids.length, n_bytes: bytes.length, ids: chunked(Array.from(row.ids)), spans };
}

/** For tests: the text whose tokens are on the screen. */
export const shownText = () => looseText(shown.drawn);

/** For tests: the ids on the screen, of the whole text. */
export const idsShown = () => Object.fromEntries(shown.views.map((one) => [one.tokenizer.name, Array.from(one.row.ids)]));
