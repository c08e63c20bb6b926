// The thread that the core runs in. core.js stands before this text, in one script without imports.
//
// Answers each message with one message. Keeps nothing but the core; the page knows what is open.

let core = null;

async function unzipped(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let place = 0; place < text.length; place++) bytes[place] = text.charCodeAt(place);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function answered({ op, payload, ...rest }) {
  if (op === "start") {
    core = await openCore(rest.base64 ? await unzipped(rest.base64) : payload);
    return {};
  }
  return core.call({ op, ...rest }, payload ?? new Uint8Array());
}

self.onmessage = async ({ data: { number, request } }) => {
  try {
    const answer = await answered(request);
    const payload = answer.payload;
    if (payload) answer.payload = payload.slice(); // its memory may be the core's
    self.postMessage({ number, answer }, answer.payload ? [answer.payload.buffer] : []);
  } catch (error) {
    self.postMessage({ number, error: { message: String(error.message ?? error), isRefusal: error.name === "CoreError" } });
  }
};
