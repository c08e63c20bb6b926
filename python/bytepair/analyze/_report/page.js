"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];

  // Theme: that of the system, or the reader's choice.
  const themes = ["auto", "light", "dark"];
  const remembered = { get() { try { return localStorage.getItem("bytepair-theme"); } catch { return null; } },
    set(name) { try { localStorage.setItem("bytepair-theme", name); } catch { /* no storage for files */ } } };
  const button = document.getElementById("theme");
  const use = (name) => {
    if (name === "auto") delete root.dataset.theme; else root.dataset.theme = name;
    button.textContent = `Theme: ${name}`;
    button.value = name;
  };
  use(themes.includes(remembered.get()) ? remembered.get() : "auto");
  button.hidden = false;
  button.addEventListener("click", () => {
    use(themes[(themes.indexOf(button.value) + 1) % themes.length]);
    remembered.set(button.value);
  });

  // Tables: a click on a heading sorts, numbers from large to small first.
  const value = (row, place) => {
    const cell = row.cells[place];
    const told = cell.dataset.value;
    return told === undefined ? cell.textContent.trim() : Number(told);
  };
  const sort = (heading) => {
    const table = heading.closest("table"), place = heading.cellIndex;
    const isNumber = heading.classList.contains("num");
    const was = heading.getAttribute("aria-sort");
    const order = was ? (was === "ascending" ? "descending" : "ascending") : isNumber ? "descending" : "ascending";
    all("th[aria-sort]", table).forEach((other) => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row, number) => ({ row, number, value: value(row, place) }));
    const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
    rows.sort((a, b) => sign * compare(a.value, b.value) || a.number - b.number);
    body.append(...rows.map(({ row }) => row));
  };
  all("table.sortable thead th").forEach((heading) => {
    const inside = document.createElement("button");
    inside.type = "button";
    inside.append(...heading.childNodes);
    heading.append(inside);
    inside.addEventListener("click", () => sort(heading));
  });

  // Tokens: show the ids and bytes of the token under the pointer, or reached with the arrow keys.
  const seen = document.getElementById("seen");
  let marked = [];
  const hide = () => {
    marked.forEach((token) => token.classList.remove("on"));
    marked = [];
    seen.hidden = true;
  };
  const show = (token) => {
    hide();
    const alike = all(".bp-t", token.closest(".bp-text")).filter((other) => other.dataset.told === token.dataset.told);
    marked = alike;
    marked.forEach((other) => other.classList.add("on"));
    seen.replaceChildren(...token.dataset.told.split("\n").map((line) => {
      const row = document.createElement("div"), text = document.createElement("bdi");
      text.className = "code";
      text.textContent = line;
      row.append(text);
      return row;
    }));
    if (alike.length > 1) {
      const row = document.createElement("div");
      row.textContent = `${alike.length} times in this text`;
      seen.append(row);
    }
    seen.hidden = false;
  };
  all(".bp-t[title]").forEach((token) => {
    token.dataset.told = token.title;
    token.removeAttribute("title");
  });
  all(".bp-text").forEach((text) => {
    text.tabIndex = 0;
    let current = -1;
    const tokens = all(".bp-t", text);
    text.addEventListener("pointerover", (event) => {
      const token = event.target.closest(".bp-t");
      if (token) { current = tokens.indexOf(token); show(token); }
    });
    text.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") hide(); });
    text.addEventListener("blur", hide);
    text.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (event.key === "Escape") hide();
      if (!step || !tokens.length) return;
      event.preventDefault();
      const along = getComputedStyle(text).direction === "rtl" ? -step : step;
      current = Math.min(Math.max(current + along, 0), tokens.length - 1);
      show(tokens[current]);
      tokens[current].scrollIntoView({ block: "nearest" });
    });
  });
  document.addEventListener("pointerdown", (event) => { if (!event.target.closest(".bp-t")) hide(); });

  // Print: open folded parts, and fold them again afterwards.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details:not([open], .caveat)");
    opened.forEach((part) => { part.open = true; });
  });
  addEventListener("afterprint", () => {
    opened.forEach((part) => { part.open = false; });
    opened = [];
  });
})();
