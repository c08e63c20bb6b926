// Where tokens of one text begin and end, for several tokenizers: groups, common cuts and pages.
//
// A row is the answer of the core for one tokenizer. All places are bytes. Pure functions.

/** Bytes that are drawn at a time. */
export const PAGE = 4000;

const MOST_TRACED = 40_000; // of a longer text, the lines around a place are looked at

/** Read the payload of an answer: `n_tokens` ids, starts, ends, and the first token of each group. */
export function rowOf({ n_tokens: n, n_groups: m, payload }) {
  const numbers = new Uint32Array(payload.buffer, payload.byteOffset, 3 * n + m);
  return {
    ids: numbers.subarray(0, n),
    starts: numbers.subarray(n, 2 * n),
    ends: numbers.subarray(2 * n, 3 * n),
    groups: numbers.subarray(3 * n, 3 * n + m),
  };
}

/** Give a group `{first, last, start, end}`: its tokens are those from `first` up to `last`, without it. */
export function groupAt(row, number) {
  const first = row.groups[number];
  const last = number + 1 < row.groups.length ? row.groups[number + 1] : row.ids.length;
  let end = row.ends[first];
  for (let token = first + 1; token < last; token++) if (row.ends[token] > end) end = row.ends[token];
  return { number, first, last, start: row.starts[first], end };
}

/**
 * Cut a text where no group of any row goes on. Gives the first group of each row at each cut, and
 * the cuts themselves, from 0 to the end of the text.
 */
export function commonCuts(rows, nBytes) {
  const next = rows.map(() => 0);
  const cuts = [];
  const firsts = rows.map(() => []);
  let place = 0;
  const note = () => {
    cuts.push(place);
    next.forEach((number, row) => firsts[row].push(number));
  };
  for (;;) {
    note();
    const end = stretchEnd(rows, next, place, nBytes);
    if (end === place && place >= nBytes) break;
    place = end;
  }
  return { cuts, firsts };
}

// Take all groups that begin before the end of the stretch; each may move the end on.
function stretchEnd(rows, next, place, nBytes) {
  let end = place;
  let hasMoved = true;
  while (hasMoved) {
    hasMoved = false;
    for (let row = 0; row < rows.length; row++) {
      while (next[row] < rows[row].groups.length) {
        const start = rows[row].starts[rows[row].groups[next[row]]];
        if (start >= end && start > place) break;
        const group = groupAt(rows[row], next[row]);
        next[row] += 1;
        if (group.end > end) {
          end = group.end;
          hasMoved = true;
        }
      }
    }
  }
  if (end > place) return end;
  // No row has a token here: go on to the next one.
  let later = nBytes;
  for (let row = 0; row < rows.length; row++) {
    if (next[row] < rows[row].groups.length) later = Math.min(later, rows[row].starts[rows[row].groups[next[row]]]);
  }
  return Math.max(later, place);
}

/** Give the numbers of the cuts at which pages begin. */
export function pagesOf(cuts) {
  const pages = [0];
  for (let number = 1; number + 1 < cuts.length; number++) {
    if (cuts[number] - cuts[pages[pages.length - 1]] >= PAGE) pages.push(number);
  }
  return pages;
}

/** Give the stretches from one cut up to another: `{start, end, rows: [[group, …], …], isShared}`. */
export function stretchesOf(rows, { cuts, firsts }, from, to) {
  const found = [];
  for (let number = from; number < to; number++) {
    const parts = rows.map((row, place) => {
      const groups = [];
      for (let one = firsts[place][number]; one < firsts[place][number + 1]; one++) groups.push(groupAt(row, one));
      return groups;
    });
    found.push({ number, start: cuts[number], end: cuts[number + 1], rows: parts, isShared: areSame(parts) });
  }
  return found;
}

function areSame(parts) {
  const [first, ...others] = parts;
  return others.every((groups) => groups.length === first.length && groups.every((group, place) => group.start === first[place].start && group.end === first[place].end));
}

/** Find the stretch that holds a byte. */
export function cutBefore(cuts, place) {
  let low = 0;
  let high = cuts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (cuts[middle] <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Cut a long text at the spaces around a place, where hardly any tokenizer joins anything. In writing
 * without spaces, cut between characters.
 */
export function windowOf(bytes, at) {
  if (bytes.length <= MOST_TRACED) return { bytes, start: 0 };
  const isSpace = (place) => bytes[place] === 10 || bytes[place] === 32;
  const isBorder = (place) => (bytes[place] & 0xc0) !== 0x80;
  const start = Math.max(0, at - MOST_TRACED / 2);
  const end = Math.min(bytes.length, at + MOST_TRACED / 2);
  const first = start === 0 ? 0 : placeWhere(isSpace, start, at) ?? placeWhere(isBorder, start, at) ?? at;
  const last = end === bytes.length ? end : placeWhere(isSpace, end, at + 1) ?? placeWhere(isBorder, end, at) ?? bytes.length;
  return { bytes: bytes.subarray(first, last), start: first };
}

/** Give the first place with a property on the way from one place to another, without the other. */
function placeWhere(has, from, to) {
  const step = Math.sign(to - from);
  for (let place = from; place !== to; place += step) if (has(place)) return place;
  return undefined;
}
