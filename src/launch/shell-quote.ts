/** One word for a POSIX shell, whatever it holds but NUL. */
export function shellQuote(word: string): string {
  if (word.includes("\0")) throw new RangeError("A shell word cannot hold a NUL.");
  return `'${word.replace(/'/g, "'\\''")}'`;
}
