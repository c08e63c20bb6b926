// Five lessons in byte-pair encoding: what each shows, its text, and its settings.
//
// Only data; "Train" runs them.

const counts = (words) => Object.entries(words).map(([word, count]) => `${word}\t${count}`).join("\n");

export const LESSONS = [
  {
    key: "letters-and-digits",
    title: "Letters and digits apart",
    dialect: "letters-digits",
    merges: null,
    text: "Room 12 has 12 chairs, room 120 has 120 chairs.\nThe chairs of room 12 are new; the chairs of room 120 are not.\nIn 2012 there were 12 rooms, in 2020 there were 20.",
    says: [
      "Before any pair is counted, a pattern cuts the text into pieces: letters with letters, digits with digits, and signs alone.",
      "A piece may begin with a space, so most words carry the space before them.",
      "Pairs are counted inside pieces only, so no token has both a letter and a digit.",
      "Training ends when no pair occurs twice.",
    ],
    look: "Step through the merges: “chairs” grows from its letters, and “12” and “20” stay apart from the words beside them.",
    attempt: "12chairs in room120",
  },
  {
    key: "a-stream-of-bytes",
    title: "A stream of bytes",
    dialect: "byte-stream",
    merges: 36,
    text: "Café, naïve, jalapeño: one letter, two bytes. 😀😃😄😁 are four bytes each, and the first three bytes are the same. “€” takes three bytes. The merges see none of this: all that they see is one stream of bytes, in which spaces and signs are like letters.",
    says: [
      "UTF-8 writes a character as one to four bytes, and each of the 256 bytes is a token from the start. So nothing is ever unknown.",
      "Here nothing cuts the text: it is one piece, and a token may go across the end of a word.",
      "The first new token gets id 256.",
      "A token can be a part of a character; it is written as its bytes, such as ‹f0›‹9f›.",
    ],
    look: "See how early “e” and the space after it are joined, and when the bytes that all four faces share become one token.",
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
      "The text is a list of words with the number of times that each occurs.",
      "A mark, written </w>, stands at the end of each word. So “est” at the end of a word is another token than “est” inside one.",
      "The pair e + s occurs nine times: six times in “newest” and three times in “widest”.",
      "s + t and t + </w> occur nine times, too. The pair that is seen first wins the tie.",
    ],
    look: "After three merges “est</w>” is one token. After five, so is “low”.",
    attempt: "lowest newer widest",
  },
  {
    key: "learner-and-segmenter",
    title: "A learner and a segmenter",
    dialect: "jurafsky-martin",
    merges: 8,
    counts: true,
    text: counts({ low: 5, lowest: 2, newer: 6, wider: 3, new: 2 }),
    says: [
      "The learner counts pairs and writes down the merges. The segmenter later applies the same merges, in the same order, to new text. It counts nothing.",
      "The end of a word is written _ here.",
      "The learner joins e + r first, which occurs nine times, then er + _.",
      "The segmenter can cut words that the learner has never seen.",
    ],
    look: "“lower” is in no line of the text. Encode it: it becomes “low” and “er_”.",
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
      "The alphabet is what the text has: b, g, h, n, p, s and u. Any other letter becomes the unknown token, and decoding cannot bring it back.",
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
