// Six lessons in byte-pair encoding: what each shows, its text, and its settings.
//
// Only data; "Train" runs them.

const counts = (words) => Object.entries(words).map(([word, count]) => `${word}\t${count}`).join("\n");

export const LESSONS = [
  {
    key: "text-to-pairs",
    title: "From text to bytes to pairs",
    dialect: "byte-stream",
    merges: null,
    counts: true,
    text: counts({ café: 6, née: 4, "€": 3, "😀": 2 }),
    says: [
      "Unicode gives each character a number: a is U+0061, é is U+00E9, € is U+20AC and 😀 is U+1F600.",
      "UTF-8 writes that number as one to four bytes, here as two hexadecimal digits each: a is 61, é is c3 a9, € is e2 82 ac and 😀 is f0 9f 98 80.",
      "There are 256 different bytes. They are the first tokens, so every text has tokens before anything is learned.",
      "Training counts which two tokens stand beside each other, joins the most frequent pair to a new token, and counts again.",
    ],
    look: "The first merge joins c3 and a9, which occur ten times: é is one token now. Then “café” grows from its letters, and at the end 😀 from its four bytes.",
    attempt: "café, cafés and a née 😀",
  },
  {
    key: "letters-and-digits",
    title: "Letters and digits apart",
    dialect: "letters-digits",
    merges: null,
    text: "Room 12 has 12 chairs, room 120 has 120 chairs.\nThe chairs of room 12 are new; the chairs of room 120 are not.\nIn 2012 there were 12 rooms, in 2020 there were 20.",
    says: [
      "Before any pair is counted, a pattern cuts the text into pieces: runs of letters, runs of digits, and other characters one by one.",
      "A piece may begin with a space, so most words include the space before them.",
      "Pairs are counted only inside pieces, so no token has both a letter and a digit.",
      "Training ends when no pair occurs twice.",
    ],
    look: "Step through the merges: “chairs” grows from its letters, and “12” and “20” stay separate from the words next to them.",
    attempt: "12chairs in room120",
  },
  {
    key: "a-stream-of-bytes",
    title: "A stream of bytes",
    dialect: "byte-stream",
    merges: 36,
    text: "Café, naïve, jalapeño: one letter, two bytes. 😀😃😄😁 are four bytes each, and the first three bytes are the same. “€” takes three bytes. The merges see none of this: all that they see is one stream of bytes, in which spaces and signs are like letters.",
    says: [
      "UTF-8 writes a character as one to four bytes, and each of the 256 bytes is a token from the start. So every text can be encoded.",
      "Here, no pattern cuts the text: it is one piece, and a token may cross word boundaries.",
      "The first new token gets id 256.",
      "A token can be part of a character; it is shown as its bytes, such as ‹f0›‹9f›.",
    ],
    look: "See how early “e” and the space after it are joined, and when the bytes that the four faces share become one token.",
    attempt: "The café 😂 sees 5 €",
  },
  {
    key: "end-of-word",
    title: "An end-of-word mark",
    dialect: "sennrich",
    merges: 10,
    counts: true,
    text: counts({ low: 5, lower: 2, newest: 6, widest: 3 }),
    says: [
      "The text is a list of words with their counts.",
      "Each word ends with a mark, written </w>. So “est” at the end of a word is a different token from “est” inside a word.",
      "The pair e + s occurs nine times: six times in “newest” and three times in “widest”.",
      "s + t and t + </w> occur nine times, too. The pair that comes first in the text wins the tie.",
    ],
    look: "After three merges “est</w>” is one token. After five, so is “low”.",
    attempt: "lowest newer widest",
  },
  {
    key: "learner-and-segmenter",
    title: "Learn from one text, encode another",
    dialect: "jurafsky-martin",
    merges: 8,
    counts: true,
    text: counts({ low: 5, lowest: 2, newer: 6, wider: 3, new: 2 }),
    says: [
      "The learner counts pairs and records the merges. To encode new text, the segmenter applies the same merges, in the same order. It does not count anything.",
      "The end of a word is written _ here.",
      "The learner joins e + r first, which occurs nine times, then er + _.",
      "The segmenter can split words that are not in the learner’s text.",
    ],
    look: "“lower” is not in the text. Encode it: it becomes “low” and “er_”.",
    attempt: "lower newer need",
  },
  {
    key: "unknown-and-special",
    title: "Unknown and special tokens",
    dialect: "unknown-token",
    merges: 3,
    counts: true,
    special: "<|endoftext|>",
    text: counts({ hug: 10, pug: 5, pun: 12, bun: 4, hugs: 5 }),
    says: [
      "The alphabet consists of the letters of the text: b, g, h, n, p, s and u. Any other letter becomes the unknown token, and decoding cannot restore it.",
      "Special tokens come last in the vocabulary, and no merge makes them.",
      "The pair u + g occurs twenty times, in “hug”, “pug” and “hugs”.",
      "After u + g, the pair u + n is the most frequent with sixteen, and then h + ug with fifteen.",
    ],
    look: "Encode “bug”, “mug” and “thug” with the three merges: m and t are unknown.",
    attempt: "bug mug thug hugs",
  },
];

/** Find a lesson by its key. */
export const lessonOf = (key) => LESSONS.find((one) => one.key === key);
