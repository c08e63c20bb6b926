// Buttons and a slider that go through steps: first, back, play, next, last.
//
// Knows only how many steps there are. Playing stops at the end, and when the view is left.

import { el } from "playground/dom";

// Where the arrow keys have a meaning of their own.
const TAKES_ARROWS = "input:not([type=range], [type=checkbox], [type=radio], [type=file]), textarea, select, [role=option], .picture.is-cut";
const SPEEDS = [["1600", "slow"], ["800", "normal"], ["300", "fast"]];

/** Make a player. `onstep(step)` is called for each step that is shown, 0 before the first. */
export function player(onstep, noun = "Step") {
  let count = 0;
  let step = 0;
  let timer = null;
  let pause = 800;
  const button = (sign, label, action) => el("button", { type: "button", class: "icon", "aria-label": label, title: label, text: sign, onclick: action });
  const first = button("|◀\ufe0e", "First step (Home)", () => go(0));
  const back = button("◀\ufe0e", "Step back (←)", () => go(step - 1));
  const play = button("▶\ufe0e", "Play (Space)", () => (timer ? stop() : run()));
  const next = button("▶\ufe0e", "Next step (→)", () => go(step + 1));
  const last = button("▶\ufe0e|", "Last step (End)", () => go(count));
  play.classList.add("play");
  const slider = el("input", { type: "range", min: "0", max: "0", value: "0", step: "1", "aria-label": noun, oninput: () => go(Number(slider.value)) });
  const label = el("output", { class: "step", "aria-live": "polite" });
  const speed = el("select", { "aria-label": "Speed", onchange: () => { pause = Number(speed.value); if (timer) { stop(); run(); } } },
    ...SPEEDS.map(([value, text]) => el("option", { value, text, selected: value === "800" })));
  const place = el("div", { class: "player", role: "group", "aria-label": "Steps" }, first, back, play, next, last, slider, label, speed);

  function go(to) {
    step = Math.min(Math.max(to, 0), count);
    draw();
    onstep(step);
  }

  function draw() {
    slider.max = String(count);
    slider.value = String(step);
    label.textContent = step || !count ? `${noun} ${step} of ${count}` : `Before ${noun.toLowerCase()} 1 of ${count}`;
    first.disabled = back.disabled = step === 0;
    next.disabled = last.disabled = step === count;
    play.disabled = count === 0;
    play.textContent = timer ? "❚❚" : "▶\ufe0e";
    play.setAttribute("aria-label", timer ? "Pause (Space)" : "Play (Space)");
  }

  function run() {
    if (step === count) go(0);
    timer = setInterval(() => {
      go(step + 1);
      if (step === count) stop();
    }, pause);
    draw();
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    draw();
  }

  function key(event) {
    if (event.target.closest(TAKES_ARROWS) || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === " " && event.target.closest("button, input, summary")) return;
    const actions = { ArrowLeft: () => go(step - 1), ArrowRight: () => go(step + 1), Home: () => go(0), End: () => go(count), " ": () => (timer ? stop() : run()) };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  draw();
  return {
    place, key, stop, go,
    get step() { return step; },
    reset(steps, at = 0) {
      stop();
      count = steps;
      go(at);
    },
  };
}
