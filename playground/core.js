// The core in WebAssembly: one function that takes a request and bytes, and gives an answer and bytes.
//
// Messages are those of crates/bytepair-wasm. Left out: workers, and what an operation means. A call runs to its end in
// this thread. After a trap (an error that is no CoreError) the module is in no known state; open a new one.

/** An error that the core explains in a sentence. */
export class CoreError extends Error {
  name = "CoreError";
}

/**
 * Starts the core.
 *
 * @param {BufferSource} module the bytes of bytepair_wasm.wasm
 * @returns {Promise<{call: (request: object, bytes?: Uint8Array) => object}>} `call` gives the fields of the answer, and
 *   its bytes as `payload`; it throws a CoreError
 */
export async function openCore(module) {
  const { instance } = await WebAssembly.instantiate(module, {});
  const core = instance.exports;
  return { call: (request, bytes = new Uint8Array()) => call(core, request, bytes) };
}

function call(core, request, bytes) {
  const json = new TextEncoder().encode(JSON.stringify(request));
  const length = 4 + json.length + bytes.length;
  const start = core.bytepair_allocate(length) >>> 0;
  write(core.memory.buffer, start, json, bytes);
  const answer = core.bytepair_call(start, length) >>> 0;
  core.bytepair_release(start, length);
  // The memory may have grown and moved, so it is looked up again.
  const { fields, payload, size } = read(core.memory.buffer, answer);
  core.bytepair_release(answer, size);
  if ("error" in fields) throw new CoreError(fields.error);
  return { ...fields.result, payload };
}

function write(memory, start, json, bytes) {
  const message = new Uint8Array(memory);
  new DataView(memory).setUint32(start, json.length, true);
  message.set(json, start + 4);
  message.set(bytes, start + 4 + json.length);
}

/** Copies an answer: what lies in memory is given back. */
function read(memory, start) {
  const view = new DataView(memory);
  const size = view.getUint32(start, true) + 4;
  const jsonLength = view.getUint32(start + 4, true);
  const end = start + 8 + jsonLength;
  const fields = JSON.parse(new TextDecoder().decode(new Uint8Array(memory, start + 8, jsonLength)));
  return { fields, payload: new Uint8Array(memory).slice(end, start + size), size };
}
