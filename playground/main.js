// Puts the page together: views, tabs, theme, files that are dropped, and the address.

import { Opened, ask, start } from "playground/client";
import { el, recall, remember, say } from "playground/dom";
import { encodeView, currentText, idsShown, shownText } from "playground/encode";
import { dropped, openGiven } from "playground/files";
import { listen } from "playground/keys";
import { change, fragmentOf, onChange, readFragment, state } from "playground/state";
import { OWN, SHOWN, addOwn, keep, named, onTokenizers, open, remove } from "playground/tokenizers";
import { traceView } from "playground/trace";
import { trainView } from "playground/train";

const THEMES = ["system", "light", "dark"];
const memory = { names: { dialects: [], patterns: [] }, isReady: false };

const views = {
  encode: encodeView({ trace: (one, place) => { views.trace.show(one, place); go("trace"); }, names: () => memory.names, isReady: () => memory.isReady }),
  trace: traceView({ text: currentText }),
  train: trainView({ names: () => memory.names, use: useTrained }),
};

function useTrained(text, name) {
  if (text !== null) change({ text });
  go("encode");
  say(`${name} is open in Encode.`);
}

function go(view) {
  if (state.view !== view) views[state.view].leave?.();
  change({ view });
  draw();
}

function draw() {
  for (const [name, view] of Object.entries(views)) {
    view.place.hidden = state.view !== name;
    const tab = document.getElementById(`tab-${name}`);
    if (state.view === name) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  if (memory.isReady) views[state.view].refresh();
}

function tabs() {
  const list = document.getElementById("tabs");
  for (const [name, title] of [["encode", "Encode"], ["trace", "Trace"], ["train", "Train"]]) {
    list.append(el("button", { type: "button", id: `tab-${name}`, text: title, onclick: () => go(name) }));
    document.getElementById("views").append(views[name].place);
  }
}

function theme() {
  const button = document.getElementById("theme");
  let current = THEMES.includes(recall("theme")) ? recall("theme") : "system";
  const show = () => {
    if (current === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = current;
    button.textContent = { system: "◐", light: "☀\ufe0e", dark: "☾" }[current];
    button.setAttribute("aria-label", `Colours: ${current}`);
    button.title = `Colours: ${current} (t)`;
  };
  const next = () => {
    current = THEMES[(THEMES.indexOf(current) + 1) % THEMES.length];
    remember("theme", current);
    show();
    say(`Colours: ${current}.`);
  };
  button.addEventListener("click", next);
  show();
  return next;
}

function dropping() {
  const sign = document.getElementById("drop");
  let depth = 0;
  const isFiles = (event) => event.dataTransfer?.types.includes("Files");
  const show = (step) => {
    depth = Math.max(0, depth + step);
    sign.hidden = depth === 0;
  };
  addEventListener("dragenter", (event) => isFiles(event) && show(1));
  addEventListener("dragleave", (event) => isFiles(event) && show(-1));
  addEventListener("dragover", (event) => isFiles(event) && event.preventDefault());
  addEventListener("drop", (event) => {
    if (!isFiles(event)) return;
    event.preventDefault();
    depth = 0;
    sign.hidden = true;
    if (state.view !== "encode") go("encode");
    views.encode.take(dropped(event.dataTransfer));
  });
}

async function fromAddress() {
  const found = await readFragment(location.hash);
  change(found);
  const wanted = found.tokenizers ?? SHOWN;
  for (const { name } of OWN) if (named(name) && !wanted.includes(name)) remove(name); // files stay: an address cannot open them again
  for (const name of wanted) await addOwn(name);
}

function fail(error) {
  const place = document.getElementById("failure");
  place.hidden = false;
  place.textContent = `The core cannot start: ${error.message.replace(/[.]$/, "")}. This page needs a browser from 2024 or later, with WebAssembly.`;
}

async function begin() {
  tabs();
  dropping();
  const nextTheme = theme();
  const keys = listen({
    view: go, theme: nextTheme,
    focus: () => views[state.view].focus(),
    open: () => { go("encode"); views.encode.openChooser(); },
    key: (event) => views[state.view].key?.(event),
  });
  document.getElementById("keys").addEventListener("click", keys.show);
  Object.assign(state, await readFragment(location.hash));
  draw();
  performance.mark("page");
  await start();
  performance.mark("core");
  memory.names = await ask({ op: "names" });
  const given = await openGiven();
  const wanted = state.tokenizers ?? (given.opened.length ? [] : SHOWN);
  for (const name of wanted) await addOwn(name);
  performance.mark("tokenizers");
  await views.encode.tell({ opened: [], refused: given.refused });
  memory.isReady = true;
  onTokenizers(() => {
    const names = open.map((one) => one.name);
    const isUsual = names.join() === SHOWN.join();
    change({ tokenizers: isUsual ? null : names });
    if (state.view === "encode") views.encode.refresh();
  });
  draw();
  addEventListener("hashchange", async () => {
    await fromAddress();
    draw();
  });
}

begin().catch(fail);
onChange((name) => name === "view" && memory.isReady && document.getElementById("views").scrollTo?.(0, 0));

async function trainAs(name, request) {
  const core = new Opened(request);
  const { info, n_steps: nSteps } = await core.open();
  return keep(name, core, info, nSteps).name;
}

/** What tests ask for; nothing else uses it. */
globalThis.playground = { isReady: () => memory.isReady, idsShown, shownText, named, open, remove, train: trainAs, state, fragmentOf };
