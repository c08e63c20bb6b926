// Talks to the thread of the core: requests, answers, and a new thread after a fault.
//
// A tokenizer is known here by how it was opened, so that a new thread can open it again. Draws nothing.

/** What the core refused, in its words. */
export class CoreError extends Error {}

let worker = null;
let generation = 0;
let isUp = false; // one that never came up would not come up again
let numbers = 0;
const waiting = new Map();

const block = (id) => document.getElementById(id)?.textContent;

async function script() {
  const built = block("worker-source");
  if (built) return built;
  const texts = await Promise.all(["core.js", "worker.js"].map(async (name) => (await fetch(name)).text()));
  return texts.join("\n").replaceAll(/^export /gm, "");
}

async function program() {
  const base64 = block("core");
  if (base64) return { base64: base64.trim() };
  return { payload: new Uint8Array(await (await fetch("bytepair.wasm")).arrayBuffer()) };
}

// The only address that a script is made from is the worker's own text.
const policy = globalThis.trustedTypes?.createPolicy("bytepair-worker", { createScriptURL: (url) => url });

/** Begin a thread. All requests wait for it. */
export function start() {
  generation += 1;
  isUp = false;
  const own = generation;
  start.ready = (async () => {
    const url = URL.createObjectURL(new Blob([await script()], { type: "text/javascript" }));
    const made = new Worker(policy ? policy.createScriptURL(url) : url);
    if (own !== generation) {
      made.terminate();
      throw new CoreError("The core was stopped.");
    }
    made.onmessage = ({ data }) => settle(data);
    made.onerror = (event) => fault(own, event.message ?? "the thread of the core cannot start");
    worker = made;
    await send({ op: "start", ...(await program()) });
    isUp = true;
  })();
  return start.ready;
}

function send(request, transfer = []) {
  numbers += 1;
  const number = numbers;
  const answer = new Promise((resolve, reject) => waiting.set(number, { resolve, reject }));
  worker.postMessage({ number, request }, transfer);
  return answer;
}

function settle({ number, answer, error }) {
  const one = waiting.get(number);
  waiting.delete(number);
  if (!one) return;
  if (!error) one.resolve(answer);
  else if (error.isRefusal) one.reject(new CoreError(error.message));
  else if (!isUp) one.reject(new CoreError(error.message));
  else {
    one.reject(new CoreError(`The core crashed: ${error.message}. It was restarted, and nothing was lost.`));
    fault(generation, error.message);
  }
}

/** Stop the core and start it again. Waiting requests are refused; tokenizers are reopened when they are needed. */
export function interrupt() {
  refuseAll("The core was restarted because training was cancelled.");
  start().catch(() => {}); // each request tells of it
}

function fault(own, message) {
  if (own !== generation) return;
  refuseAll(isUp ? `The core was restarted: ${message}` : message);
  if (isUp) start().catch(() => {});
}

function refuseAll(message) {
  worker?.terminate();
  for (const { reject } of waiting.values()) reject(new CoreError(message));
  waiting.clear();
}

/** Ask the core for something that needs no tokenizer. */
export async function ask(request) {
  await start.ready;
  return send(request);
}

/** A tokenizer of the core, opened again in each new thread. */
export class Opened {
  constructor(request) {
    this.request = request; // `open` or `train`, with its payload
    this.generation = 0;
  }

  async open() {
    await start.ready;
    if (this.generation === generation) return this.opening;
    this.generation = generation;
    this.opening = send(this.request);
    return this.opening;
  }

  async ask(request) {
    const { tokenizer } = await this.open();
    return send({ ...request, tokenizer });
  }

  async close() {
    if (this.generation !== generation) return;
    const { tokenizer } = await this.open();
    this.generation = 0; // who still asks it, opens it again
    await send({ op: "close", tokenizer });
  }
}

/**
 * Make a function that runs `work` for the newest argument only: while one runs, later ones
 * replace each other, and the answers of replaced ones are dropped.
 */
export function newestOnly(work) {
  let running = false;
  let next = null;
  let version = 0;
  return async function run(argument) {
    version += 1;
    if (running) {
      next = argument;
      return;
    }
    running = true;
    const own = version;
    try {
      await work(argument, () => own === version);
    } finally {
      running = false;
      const later = next;
      next = null;
      if (later !== null) run(later);
    }
  };
}
