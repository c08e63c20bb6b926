// The view "Train": learn merges from a text, and watch each choice.
//
// The core trains and says what each step saw; here steps are drawn, and the result is saved or used.

import { Opened, interrupt } from "playground/client";
import { counted, el, number, ratio, reveal, saveAs, say } from "playground/dom";
import { isRightToLeft, labelOf, looseText, textOf } from "playground/glyphs";
import { LESSONS, lessonOf } from "playground/lessons";
import { longPaste, noteOfLong, showIn } from "playground/long";
import { cutsOf, inOrder } from "playground/order";
import { player } from "playground/player";
import { change, state } from "playground/state";
import { keep, open } from "playground/tokenizers";
import { chip } from "playground/tokens";

const BATCH = 40;
const MOST_BARS = 14;
const MOST_LEARNED = 200;
const encoder = new TextEncoder();

const FORMATS = [
  ["bytepair", "bytepair (.bytepair)"], ["huggingface", "Hugging Face (tokenizer.json)"], ["tiktoken", "tiktoken (.tiktoken)"],
  ["sentencepiece", "SentencePiece (.model)"], ["gpt2", "vocab.json and merges.txt"], ["subword-nmt", "subword-nmt (codes)"], ["fastbpe", "fastBPE (codes)"],
];
const RULES = {
  smallest_ids: "the pair with the smallest ids goes first",
  first_seen: "the pair that comes first in the text goes first",
  largest_text: "the pair whose text sorts last goes first",
};

/** Make the view. `actions.names()` has dialects and patterns, `actions.use(text)` goes to "Encode". */
export function trainView(actions) {
  const lessons = el("ol", { class: "lessons", "aria-label": "Lessons" });
  const about = el("div", { class: "card about-lesson", "aria-live": "polite" });
  const text = el("textarea", { id: "train-text", rows: 7, spellcheck: false, dir: "auto", oninput: own, onpaste: (event) => paste(event), "aria-describedby": "train-text-notes" });
  const textNotes = el("p", { id: "train-text-notes", class: "notes", role: "status" });
  const textLabel = el("label", { class: "title", for: "train-text", text: "Training text" });
  const dialect = el("select", { id: "train-dialect", onchange: () => { own(); drawAbout(); } });
  const pattern = el("select", { id: "train-pattern", onchange: () => { own(); regex.parentElement.hidden = pattern.value !== "custom"; } });
  const regex = el("input", { id: "train-regex", type: "text", spellcheck: false, autocomplete: "off", placeholder: " ?\\p{L}+| ?\\p{N}+|\\s+|.", oninput: own });
  const merges = el("input", { id: "train-merges", type: "number", min: "0", max: "100000", placeholder: "all", oninput: own });
  const special = el("input", { id: "train-special", type: "text", spellcheck: false, autocomplete: "off", placeholder: "<|endoftext|> <|user|>", oninput: own });
  const counts = el("input", { id: "train-counts", type: "checkbox", onchange: own });
  const dialectAbout = el("p", { class: "quiet" });
  const problem = el("p", { class: "problem", role: "alert", hidden: true });
  const button = el("button", { type: "submit", id: "train-form-button", class: "strong", text: "Train" });
  const cancel = el("button", { type: "button", id: "train-cancel", text: "Cancel", hidden: true, onclick: () => stopTraining() });
  const field = (label, input, extra = "") => el("label", { class: `field${extra}`, for: input.id }, el("span", { text: label }), input);
  const regexField = field("Regular expression", regex, " grow");
  regexField.hidden = true;
  const form = el("form", { class: "train-form", onsubmit: (event) => { event.preventDefault(); train(); } },
    el("div", { class: "head" }, textLabel, el("button", { type: "button", text: "Clear", onclick: () => { setText(""); own(); text.focus(); } })),
    text, textNotes,
    el("label", { class: "toggle" }, counts, el("span", { text: "Each line is a word, a tab and a count" })),
    el("div", { class: "fields" }, field("Dialect", dialect), field("Pattern", pattern), regexField, field("Merges", merges), field("Special tokens", special, " grow")),
    dialectAbout, el("p", { class: "buttons" }, button, cancel), problem);

  const figures = el("dl", { class: "figures", "aria-live": "polite" });
  const lead = el("p", { class: "lead", role: "status", "aria-live": "polite" });
  const tie = el("p", { class: "reason" });
  const bars = el("ol", { class: "bars", "aria-label": "Pairs and their counts" });
  const pieces = el("ul", { class: "pieces", "aria-label": "Pieces and their counts" });
  const learned = el("ol", { class: "learned", "aria-label": "Merges so far" });
  const steps = player((step) => drawStep(step), "Merge");
  const format = el("select", { "aria-label": "Format" }, ...FORMATS.map(([value, title]) => el("option", { value, text: title })));
  const saveProblem = el("p", { class: "problem", role: "alert", hidden: true });
  const piecesTitle = el("h3", { text: "Pieces" });
  const result = el("div", { class: "train-result", hidden: true },
    el("div", { class: "card" }, steps.place, lead, tie, figures),
    el("div", { class: "pair" },
      el("section", { class: "card", "aria-label": "Pairs" }, el("h3", { text: "Pairs, most frequent first" }), bars),
      el("section", { class: "card", "aria-label": "Pieces" }, piecesTitle, pieces)),
    el("section", { class: "card", "aria-label": "Merges so far" }, el("h3", { text: "Learned so far" }), learned),
    el("div", { class: "card save" },
      el("button", { type: "button", class: "strong", id: "use", text: "Use in Encode", onclick: use }),
      el("span", { class: "buttons" }, format, el("button", { type: "button", id: "save", text: "Save", onclick: save })), saveProblem));
  const place = el("section", { id: "train", "aria-labelledby": "tab-train" },
    el("div", { class: "train" }, el("div", { class: "lesson" }, el("h2", { class: "title", text: "Lessons" }), lessons, about), result, form));
  const course = { core: null, info: null, steps: [], start: null, known: {}, total: 0, nBytes: 0 };
  let long = null; // the whole text, where the box has its beginning

  const wholeText = () => long ?? text.value;

  function setText(value) {
    showIn(text, value);
    long = text.readOnly ? value : null;
    textNotes.textContent = text.readOnly ? noteOfLong(value) : "";
  }

  function paste(event) {
    const whole = longPaste(event, text);
    if (whole === null) return;
    setText(whole);
    own();
  }

  function own() {
    if (!state.lesson) return;
    change({ lesson: null });
    drawLessons();
  }

  function drawLessons() {
    lessons.replaceChildren(...LESSONS.map((one, place_) => el("li", {}, el("button", {
      type: "button", "aria-pressed": String(state.lesson === one.key), onclick: () => begin(one.key),
    }, el("b", { class: "letter", text: String(place_ + 1) }), el("span", { text: one.title })))));
    const one = lessonOf(state.lesson);
    about.hidden = !one;
    if (!one) return;
    about.replaceChildren(
      el("h3", { text: one.title }),
      ...one.says.map((sentence) => el("p", { text: sentence })),
      el("p", { class: "look" }, el("b", { text: "What to look for: " }), one.look));
  }

  /** Fill in a lesson and train it. */
  function begin(key) {
    const one = lessonOf(key);
    if (!one) return;
    change({ lesson: key });
    setText(one.text);
    dialect.value = one.dialect;
    pattern.value = "";
    regexField.hidden = true;
    merges.value = one.merges ?? "";
    special.value = one.special ?? "";
    counts.checked = Boolean(one.counts);
    drawLessons();
    drawAbout();
    train();
  }

  function drawNames() {
    const { dialects, patterns } = actions.names();
    const chosen = dialect.value || "gpt2";
    dialect.replaceChildren(...dialects.map((one) => el("option", { value: one.name, text: one.name, selected: one.name === chosen })));
    const kept = pattern.value;
    pattern.replaceChildren(
      el("option", { value: "", text: "the dialect’s pattern" }),
      ...patterns.map((one) => el("option", { value: one.name, text: one.name })),
      el("option", { value: "none", text: "no pattern" }), el("option", { value: "custom", text: "custom…" }));
    pattern.value = kept;
    drawAbout();
  }

  function drawAbout() {
    const one = actions.names().dialects.find((some) => some.name === dialect.value);
    if (!one) return;
    const units = one.units === "bytes" ? "Starts from bytes" : "Starts from characters";
    const about_ = one.about ? `${one.about.replace(/\.$/, "")}. ` : "";
    dialectAbout.textContent = `${about_}${units}; among equally frequent pairs, ${RULES[one.ties] ?? one.ties}.`;
  }

  function request() {
    const patterns = { "": undefined, none: "", custom: regex.value };
    const chosen = pattern.value in patterns ? patterns[pattern.value] : pattern.value;
    const made = { op: "train", dialect: dialect.value, payload: encoder.encode(wholeText()) };
    if (chosen !== undefined) made.pattern = chosen;
    if (merges.value !== "") made.merges = Number(merges.value);
    const tokens = special.value.split(/\s+/).filter(Boolean);
    if (tokens.length) made.special_tokens = tokens;
    if (counts.checked) made.counts = true;
    return made;
  }

  let version = 0;
  async function train() {
    steps.stop();
    problem.hidden = true;
    if (!wholeText()) return refuse("There is no text to train on. Enter some text, or choose a lesson.");
    if (pattern.value === "custom" && !regex.value) return refuse("The regular expression is empty. Enter one, or choose “no pattern”.");
    version += 1;
    const own_ = version;
    drawButton(true);
    try {
      const wantsNone = merges.value === "0";
      const core = new Opened(request());
      const answer = await core.open();
      if (own_ !== version) return forget(core);
      if (course.core && !isKept()) forget(course.core);
      Object.assign(course, { core, info: answer.info, total: answer.n_steps, nBytes: answer.n_bytes, steps: [], start: null, known: {}, problem: null, wantsNone });
      await fetchSteps(0).catch((error) => { course.problem = error.message; });
      if (own_ !== version) return;
      result.hidden = false;
      saveProblem.hidden = true;
      steps.reset(course.problem ? 0 : course.total, 0);
    } catch (error) {
      if (own_ === version) refuse(error.message);
    } finally {
      if (own_ === version) drawButton(false);
    }
    return undefined;
  }

  function drawButton(isTraining) {
    button.disabled = isTraining;
    button.textContent = isTraining ? "Training…" : "Train";
    cancel.hidden = !isTraining;
  }

  function stopTraining() {
    version += 1; // what is still to come belongs to nothing
    interrupt();
    drawButton(false);
    button.focus();
    say("Training was cancelled.");
  }

  // Nothing is lost with a tokenizer that nobody uses; its thread may be gone.
  const forget = (core) => void core.close().catch(() => {});
  const isKept = () => open.some((one) => one.core === course.core);

  function refuse(message) {
    problem.textContent = message;
    problem.hidden = false;
  }

  async function fetchSteps(from) {
    const { core } = course;
    const answer = await core.ask({ op: "steps", from, to: Math.min(from + BATCH, Math.max(course.total, 1)) });
    if (core !== course.core) return; // trained anew meanwhile
    if (answer.start) course.start = answer.start;
    for (const [id, token] of Object.entries(answer.known)) course.known[id] = { id: Number(id), ...token };
    answer.steps.forEach((one) => { course.steps[one.number - 1] = one; });
  }

  async function drawStep(step) {
    if (!course.core) return;
    if (course.problem) return drawWithoutSteps();
    const core = course.core;
    for (const needed of [step - 2, step - 1]) {
      if (needed >= 0 && needed < course.total && !course.steps[needed]) {
        await fetchSteps(Math.max(0, needed - 2)).catch((error) => refuse(error.message));
        if (core !== course.core || step !== steps.step) return undefined;
      }
    }
    const merge = course.steps[step - 1];
    const before = step > 1 ? course.steps[step - 2] : course.start;
    drawFigures(step, merge ?? course.start);
    drawLead(step, merge);
    drawBars(merge ?? course.steps[0], Boolean(merge));
    drawPieces(before, merge);
    drawLearned(step);
    return fetchLearned(step);
  }

  // The list of merges is drawn with those that are known, and again with all.
  async function fetchLearned(step) {
    const { core } = course;
    for (let place_ = Math.max(0, step - MOST_LEARNED); place_ < step; place_++) {
      if (course.steps[place_]) continue;
      const isThere = await fetchSteps(place_).then(() => true, () => false);
      if (!isThere || core !== course.core || step !== steps.step) return;
      drawLearned(step);
    }
  }

  function drawWithoutSteps() {
    lead.textContent = `Learned ${counted(course.total, "merge")}. ${course.problem}`;
    tie.textContent = "";
    figures.replaceChildren(...figure("ids", number(course.info.n_vocab)));
    bars.replaceChildren();
    pieces.replaceChildren();
    learned.replaceChildren();
  }

  const figure = (name, value, title) => [el("div", { title }, el("dt", { text: name }), el("dd", { text: value }))];

  function drawFigures(step, at) {
    const tokens = at?.n_tokens ?? 0;
    const first = course.start?.n_tokens || 1;
    figures.replaceChildren(
      ...figure("vocabulary", number(course.info.n_vocab - course.total + step)),
      ...figure("tokens in the text", number(tokens)),
      ...figure("of initial tokens", `${Math.round((100 * tokens) / first)}%`),
      ...figure("bytes per token", ratio(course.nBytes, tokens)));
    figures.append(el("div", { class: "bar", "aria-hidden": "true" }, el("i", { style: { "inline-size": `${(100 * tokens) / first}%` } })));
  }

  function drawLead(step, merge) {
    if (!merge) {
      lead.textContent = course.total ? `Learned ${counted(course.total, "merge")} from ${counted(course.start.n_pieces ?? course.start.pieces.length, "distinct piece")}. Press ▶ to watch them.` : course.wantsNone ? "Merges is set to 0: the vocabulary is only the alphabet." : "No pair occurs often enough, so there is nothing to learn.";
      tie.textContent = "";
      return;
    }
    lead.replaceChildren(`Merge ${step}: `, pairOf(merge.left, merge.right), " → ", name(merge.token), `, id ${merge.token}, counted ${counted(merge.count, "time")}.`);
    const said = [];
    if (merge.n_tied) {
      const some = merge.tied.slice(0, 3).flatMap(([left, right], place_) => [place_ ? ", " : "", pairOf(left, right)]);
      said.push(`Tie: ${counted(merge.n_tied, "other pair is", "other pairs are")} equally frequent (`, ...some, merge.n_tied > 3 ? ", …" : "", `). In this dialect, ${RULES[merge.rule] ?? merge.rule}.`);
    } else said.push("No other pair is as frequent.");
    tie.replaceChildren(...said);
  }

  const name = (id) => el("bdi", { class: "code", text: labelOf(course.known[id]) });
  const isRight = (id) => isRightToLeft(textOf(course.known[id]?.bytes ?? []) ?? "");
  const pairOf = (left, right) => el("span", { class: "pair-of", dir: isRight(left) || isRight(right) ? "rtl" : "ltr" }, name(left), el("span", { class: "plus", text: " + " }), name(right));

  function drawBars(merge, isChosen) {
    if (!merge) return bars.replaceChildren(el("li", { class: "quiet", text: "No pairs left." }));
    const most = Math.max(...merge.pairs.map(([, , count]) => count), 1);
    const tied = new Set(merge.tied.map((pair) => pair.join()));
    const rows = merge.pairs.slice(0, MOST_BARS).map(([left, right, count]) => {
      const isIt = isChosen && left === merge.left && right === merge.right;
      const kind = isIt ? "chosen" : tied.has(`${left},${right}`) && isChosen ? "tied" : "";
      return el("li", { class: kind },
        el("span", { class: "pair-name" }, pairOf(left, right)),
        el("span", { class: "bar", "aria-hidden": "true" }, el("i", { style: { "inline-size": `${(100 * count) / most}%` } })),
        el("span", { class: "number", text: number(count) }),
        el("span", { class: "why", text: isIt ? "chosen" : kind }));
    });
    const rest = merge.n_pairs - rows.length;
    bars.replaceChildren(...rows, ...(rest > 0 ? [el("li", { class: "quiet", text: `and ${counted(rest, "more pair")}` })] : []));
    return undefined;
  }

  function drawPieces(before, merge) {
    if (!before) return pieces.replaceChildren();
    const all = merge?.n_pieces ?? before.n_pieces ?? before.pieces.length;
    piecesTitle.textContent = merge ? "Pieces, with the chosen pair" : "Pieces";
    const ordered = merge ? [...before.pieces].sort((one, other) => hasPair(other.ids, merge) - hasPair(one.ids, merge)) : before.pieces;
    const shown = ordered.slice(0, 60);
    pieces.replaceChildren(...shown.map(({ ids, count }) => el("li", {},
      wordOf(ids.slice(0, 600), merge),
      ids.length > 600 ? el("span", { class: "quiet", text: `… ${number(ids.length - 600)} more` }) : null,
      el("span", { class: "times", text: `× ${number(count)}` }))));
    if (all > shown.length) pieces.append(el("li", { class: "quiet", text: `and ${counted(all - shown.length, "more piece")}` }));
    return undefined;
  }

  // As it is read: the first token of an Arabic word is the one on the right.
  function wordOf(ids, merge) {
    const bytesOf = (id) => course.known[id]?.bytes ?? [];
    const items = [];
    let start = 0;
    for (let place_ = 0; place_ < ids.length; place_++) {
      const isPair = merge && ids[place_] === merge.left && ids[place_ + 1] === merge.right;
      const own = isPair ? [ids[place_], ids[place_ + 1]] : [ids[place_]];
      const end = start + own.reduce((sum, id) => sum + bytesOf(id).length, 0);
      const made = isPair ? el("span", { class: "joined", dir: own.some(isRight) ? "rtl" : "ltr" }, ...own.map((id) => chipOf(id, "chosen"))) : chipOf(own[0], "");
      items.push({ start, end, made });
      start = end;
      if (isPair) place_ += 1;
    }
    const bytes = ids.flatMap(bytesOf);
    const isMirrored = isRightToLeft(looseText(Uint8Array.from(bytes)));
    return el("span", { class: "symbols", dir: isMirrored ? "rtl" : "ltr" }, ...inOrder(items, isMirrored ? cutsOf(bytes, items) : null));
  }

  const chipOf = (id, kind) => chip(id === null ? "?" : labelOf(course.known[id]), id, kind);

  function drawLearned(step) {
    const from = Math.max(0, step - MOST_LEARNED);
    const made = [];
    for (let place_ = from; place_ < step; place_++) {
      const one = course.steps[place_];
      if (!one) continue;
      made.push(el("li", { value: place_ + 1, class: place_ + 1 === step ? "on" : "" }, el("button", { type: "button", "aria-label": `Go to merge ${place_ + 1}`, onclick: () => steps.go(place_ + 1) }, name(one.token), el("span", { class: "times", text: number(one.count) }))));
    }
    learned.replaceChildren(...made);
    reveal(learned, learned.querySelector(".on"));
    if (!made.length) learned.append(el("li", { class: "quiet", text: "Each merge appears here when you step to it." }));
  }

  function use() {
    const one = open.find((some) => some.core === course.core)
      ?? keep(state.lesson ?? "trained-here", course.core, course.info, course.total);
    const lesson = lessonOf(state.lesson);
    actions.use(lesson?.attempt ?? null, one.name);
  }

  async function save() {
    saveProblem.hidden = true;
    try {
      const answer = await course.core.ask({ op: "save", format: format.value });
      let at = 0;
      for (const { name: fileName, length } of answer.files) {
        saveAs(fileName, answer.payload.slice(at, at + length));
        at += length;
      }
      say(`Saved ${answer.files.map((one) => one.name).join(" and ")}.`);
    } catch (error) {
      saveProblem.textContent = error.message;
      saveProblem.hidden = false;
    }
  }

  function refresh() {
    drawNames();
    drawLessons();
    if (!course.core) begin(lessonOf(state.lesson) ? state.lesson : LESSONS[0].key);
  }

  return { place, refresh, begin, leave: () => steps.stop(), key: (event) => steps.key(event), focus: () => text.focus() };
}

const hasPair = (ids, merge) => Number(ids.some((id, place) => id === merge.left && ids[place + 1] === merge.right));
