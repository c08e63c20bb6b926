// Characters that cannot be seen, and tokens as text.
//
// Decides what stands for a space, a line end or a control character. Draws nothing.

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const loose = new TextDecoder("utf-8", { ignoreBOM: true });

const ALWAYS = new Map([["\n", "⏎"], ["\r", "␍"], ["\t", "→"], ["\u200b", "␣"]]);
const ON_DEMAND = new Map([[" ", "·"], ["\u00a0", "⍽"], ["\u200d", "⁀"], ["\u200c", "¦"]]);
const EMOJI = /[\p{Extended_Pictographic}\ufe0f\p{Emoji_Modifier}]/u; // before a joiner inside one
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}]/u;
// What writing needs: joiners, soft hyphens, variation selectors and tags are no surprise inside a word.
const QUIET = /[\u200c\u200d\u00ad\u{e0020}-\u{e007f}]/u;

/** Give bytes as text, or nothing if they are not whole characters. */
export function textOf(bytes) {
  try {
    return decoder.decode(bytes instanceof Uint8Array ? bytes : Uint8Array.from(bytes));
  } catch {
    return null;
  }
}

/** Give bytes as text, with U+FFFD for what is none. */
export const looseText = (bytes) => loose.decode(bytes);

/** Give the text of a file, `{text, note}`: of UTF-8, or of UTF-16 if it begins with its mark. */
export function decoded(bytes) {
  const wide = { "255,254": "utf-16le", "254,255": "utf-16be" }[bytes.subarray(0, 2).join()];
  if (wide) return { text: new TextDecoder(wide).decode(bytes), note: "The file is UTF-16; the text is encoded as UTF-8 here." };
  const text = textOf(bytes);
  if (text !== null) return { text, note: "" };
  return { text: looseText(bytes), note: "The file is not UTF-8: invalid bytes were replaced with U+FFFD." };
}

/** Write bytes as hexadecimal numbers. */
export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");

/** Write a text so that each character in it can be seen; spaces only if asked. */
export function visible(text, spaces) {
  let out = "";
  let before = "";
  for (const character of text) {
    const isInEmoji = character === "\u200d" && EMOJI.test(before);
    const sign = ALWAYS.get(character) ?? (spaces && !isInEmoji ? ON_DEMAND.get(character) : undefined);
    before = character;
    if (sign) out += sign;
    else if (UNSEEN.test(character) && !QUIET.test(character)) out += `\u2068‹${codePoint(character)}›\u2069`;
    else out += character;
  }
  return out;
}

const codePoint = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** Name a token `{bytes, name, kind}` in a few characters. */
export function labelOf(token, { spaces = true, most = 40 } = {}) {
  if (!token) return "?";
  if (token.kind === "unknown" || token.kind === "added") return shortened(visible(token.name, false), most);
  const text = textOf(token.bytes);
  if (text === null) return shortened(token.bytes.map((byte) => `‹${byte.toString(16).padStart(2, "0")}›`).join(""), most);
  if (text === "") return shortened(visible(token.name ?? "", false), most) || "∅";
  // A mark that the token has and its bytes have not: </w>, ▁ and the like.
  const named = token.name && token.name !== text && isMarked(token.name, text) ? token.name : text;
  return shortened(visible(named, spaces), most);
}

// A byte-level name is an alphabet of its own, and says no more than the bytes.
const isMarked = (name, text) => name.length > text.length && (name.startsWith(text) || name.endsWith(text.trimStart()) || name.startsWith(text.trimEnd()));

const shortened = (text, most) => (text.length > most ? `${Array.from(text).slice(0, most).join("")}…` : text);

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
const LETTER = /\p{L}/u;

/** Tell whether the first letter of a text is written from right to left. */
export function isRightToLeft(text) {
  for (const character of text.slice(0, 400)) if (LETTER.test(character)) return RIGHT_TO_LEFT.test(character);
  return false;
}

const JOINING = /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Nko}\p{Script=Mongolian}\u200d]/u;

/** Tell whether two neighbouring characters are joined in writing, so that a gap would change them. */
export const areJoined = (left, right) => JOINING.test(left) && JOINING.test(right);

/** Count surrogates that stand alone: they are no characters, and become U+FFFD. */
export function loneSurrogates(text) {
  if (text.isWellFormed?.()) return 0;
  return (text.match(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g) ?? []).length;
}
