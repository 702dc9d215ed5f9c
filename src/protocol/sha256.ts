/** Bytes of a block. */
const BLOCK = 64;

/**
 * Returns the SHA-256 of a text in UTF-8 as hexadecimal digits. It is for the short texts that every command hashes at its
 * start: this takes 0.1 ms, but loading `node:crypto` takes 3 ms, 5 % of the work of a cold `teams send`. Code that runs
 * later uses `node:crypto`.
 */
export function sha256(text: string): string {
  const constants = Uint32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)));
  const state = Uint32Array.from(PRIMES.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));
  const message = padded(text);
  for (let at = 0; at < message.byteLength; at += BLOCK) mix(state, scheduled(message, at), constants);
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
}

/** The first 64 primes; the constants of the algorithm are parts of their roots. */
const PRIMES = primes(64);

function primes(count: number): readonly number[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; n += 1) if (found.every((prime) => n % prime !== 0)) found.push(n);
  return found;
}

/** Returns the first 32 bits of the fractional part. */
function fraction(root: number): number {
  return Math.floor((root % 1) * 2 ** 32);
}

/** Returns whole blocks: the text, a one bit, zeros, and the number of bits of the text. */
function padded(text: string): DataView {
  const bytes = Buffer.from(text, "utf8");
  const view = new DataView(new ArrayBuffer(Math.ceil((bytes.length + 9) / BLOCK) * BLOCK));
  bytes.forEach((byte, at) => {
    view.setUint8(at, byte);
  });
  view.setUint8(bytes.length, 0x80);
  view.setBigUint64(view.byteLength - 8, BigInt(bytes.length) * 8n);
  return view;
}

/** Expands a block to 64 words. */
function scheduled(message: DataView, at: number): Uint32Array {
  const words = new Uint32Array(64);
  for (let i = 0; i < 16; i += 1) words[i] = message.getUint32(at + i * 4);
  for (let i = 16; i < 64; i += 1) {
    const [early, late] = [words[i - 15] ?? 0, words[i - 2] ?? 0];
    const s0 = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3);
    const s1 = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10);
    words[i] = (words[i - 16] ?? 0) + s0 + (words[i - 7] ?? 0) + s1;
  }
  return words;
}

function mix(state: Uint32Array, words: Uint32Array, constants: Uint32Array): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  words.forEach((word, i) => {
    const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const one = h + s1 + ((e & f) ^ (~e & g)) + (constants[i] ?? 0) + word;
    const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const two = s0 + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) >>> 0, c, b, a, (one + two) >>> 0];
  });
  [a, b, c, d, e, f, g, h].forEach((word, i) => {
    state[i] = (state[i] ?? 0) + word;
  });
}

/** Rotates the bits of a word to the right. */
function rotated(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}
