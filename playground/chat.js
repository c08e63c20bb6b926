// Chats: how a tokenizer's special tokens mark the roles of messages, and where messages are in a text.
//
// Only forms that are listed here are known; no template is run. All places are bytes. Pure functions.

const FORMS = [
  { before: "<|im_start|>", after: "\n", end: "<|im_end|>", between: "\n" },
  { before: "<|start_header_id|>", after: "<|end_header_id|>\n\n", end: "<|eot_id|>", between: "" },
  { before: "<|start|>", after: "<|message|>", end: "<|end|>", between: "" },
];
const MESSAGES = [["system", "You answer in one sentence."], ["user", "What is a token?"], ["assistant", "A piece of text that has a number."]];
const MOST_OF_A_ROLE = 80; // with the mark after it
const encoder = new TextEncoder();

/** Find the forms of chats that open tokenizers have the special tokens for. */
function formsOf(tokenizers) {
  const names = new Set(tokenizers.flatMap(({ info }) => info.special.map(([name]) => name)));
  return FORMS.filter(({ before, end }) => names.has(before) && names.has(end));
}

/** Write a short chat with the special tokens of the open tokenizers, or nothing if they have none for it. */
export function sampleChat(tokenizers) {
  const [form] = formsOf(tokenizers);
  return form && MESSAGES.map(([role, text]) => `${form.before}${role}${form.after}${text}${form.end}${form.between}`).join("");
}

/** Find the messages of a text: `{start, end, role}`. */
export function messagesIn(text, tokenizers) {
  return formsOf(tokenizers).flatMap(({ before, after, end }) => {
    const found = [];
    let stop = 0; // the next end, or -1 for none: each is looked for once
    for (let at = text.indexOf(before); at >= 0; at = text.indexOf(before, at + 1)) {
      const from = at + before.length;
      const near = text.slice(from, from + MOST_OF_A_ROLE);
      const head = near.indexOf(after.trim() || after);
      const role = near.slice(0, Math.max(head, 0));
      if (stop >= 0 && stop < from) stop = text.indexOf(end, from);
      if (/^\w+$/.test(role)) found.push({ at, to: stop < 0 ? text.length : stop + end.length, role });
    }
    return inBytes(text, found);
  });
}

function inBytes(text, found) {
  let at = 0;
  let bytes = 0;
  const place = (to) => {
    bytes += encoder.encode(text.slice(at, to)).length;
    at = to;
    return bytes;
  };
  return found.map((one) => ({ start: place(one.at), end: place(Math.max(one.at, one.to)), role: one.role }));
}
