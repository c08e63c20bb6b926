// Elements, numbers, copying and saving, for all views.
//
// Text only ever goes in as text: nothing here parses HTML. Knows nothing of tokens.

const SVG = "http://www.w3.org/2000/svg";
const HEAD = 36; // the height of the head of a table, which stays when its rows are scrolled
const NUMBER = new Intl.NumberFormat("en");

/**
 * Make an element. Properties that begin with `on` are listeners, `data` and `style` are tables,
 * names with a dash and `role` are attributes, and all others are properties of the element.
 */
export function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) set(made, name, value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function set(made, name, value) {
  if (value === undefined || value === null) return;
  if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
  else if (name === "data") Object.assign(made.dataset, value);
  else if (name === "style") for (const [key, one] of Object.entries(value)) made.style.setProperty(key, one);
  else if (name === "class") made.className = value;
  else if (name === "text") made.textContent = value;
  else if (name === "for") made.htmlFor = value;
  else if (name.includes("-") || name === "role" || name === "list") made.setAttribute(name, value);
  else made[name] = value;
}

/** Make an element of a drawing; all properties are attributes, except `text`, `style` and listeners. */
export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") made.textContent = value;
    else if (name === "style") for (const [key, one] of Object.entries(value)) made.style.setProperty(key, one); // as an attribute, the policy forbids it
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** Write a number with separators. */
export const number = (value) => NUMBER.format(value);

/** Write a count with its noun: `1 token`, `2 tokens`. */
export const counted = (value, noun, nouns = `${noun}s`) => `${number(value)} ${value === 1 ? noun : nouns}`;

/** Write a ratio with two digits, or a dash if there is none. */
export const ratio = (over, under) => (under ? (over / under).toFixed(2) : "–");

/** Tell whether the reader asked for no motion. */
export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Scroll a box, never the page, until one of its parts can be seen. */
export function reveal(box, part) {
  if (!part) return;
  const outer = box.getBoundingClientRect();
  const inner = part.getBoundingClientRect();
  if (inner.top < outer.top + HEAD || inner.bottom > outer.bottom) box.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
  if (inner.left < outer.left || inner.right > outer.right) box.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2;
}

/** Give what `remember` kept under a name on an earlier visit, or nothing. */
export function recall(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Keep a short text under a name for later visits. */
export function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch { /* the browser keeps nothing for this page */ }
}

/** Say something once, on the screen for a moment and to screen readers. */
export function say(message) {
  const place = document.getElementById("said");
  place.textContent = message;
  place.classList.add("shown");
  clearTimeout(say.timer);
  say.timer = setTimeout(() => place.classList.remove("shown"), 2600);
}

/** Copy a text, also where a page has no clipboard of its own. */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", { value: text, class: "unseen" });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say(`Copied ${what}.`);
}

/** Let the reader save bytes as a file. */
export function saveAs(name, bytes) {
  const url = URL.createObjectURL(new Blob([bytes]));
  const link = el("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Make one choice of several, as radio buttons that look like one control. */
export function choice(name, label, options, value, onchange) {
  const group = el("fieldset", { class: "choice" }, el("legend", { text: label }));
  for (const [key, title] of options) {
    const input = el("input", {
      type: "radio", name, value: key, checked: key === value,
      onchange: () => onchange(key),
    });
    group.append(el("label", {}, input, el("span", { text: title })));
  }
  return group;
}

// What chooses an entry of a list that is closed.
const CHOOSES = /^(Arrow(Up|Down|Left|Right)|Home|End|PageUp|PageDown|[^ ])$/u;

/** Let keys open a list whose entries act at once; they would choose the next entry, unseen. */
export function opensByKey(event) {
  if (!CHOOSES.test(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  event.target.showPicker?.();
}

/** Make a switch: a checkbox with its label. */
export function toggle(label, checked, onchange, title) {
  const input = el("input", { type: "checkbox", checked, onchange: () => onchange(input.checked) });
  return el("label", { class: "toggle", title }, input, el("span", { text: label }));
}
