/**
 * Quotes any text as one word for a POSIX shell.
 * @throws RangeError if the text contains a NUL
 */
export function shellQuote(word: string): string {
  if (word.includes("\0")) throw new RangeError("A shell word cannot contain a NUL.");
  return `'${word.replace(/'/g, "'\\''")}'`;
}

/** Quotes bytes that need not be UTF-8 as one word for bash and zsh: `$'caf\\xe9'`. */
export function shellBytes(bytes: Uint8Array): string {
  const parts = Array.from(bytes, (byte) => {
    const char = String.fromCharCode(byte);
    if (char === "'" || char === "\\") return `\\${char}`;
    return byte >= 0x20 && byte < 0x7f ? char : `\\x${byte.toString(16).padStart(2, "0")}`;
  });
  return `$'${parts.join("")}'`;
}

/** Returns a word of a command for a person to copy, quoted only if a shell would change it. */
export function shellWord(text: string): string {
  return /^[\w@%+:,./-][\w@%+=:,./-]*$/.test(text) ? text : shellQuote(text);
}

/** Returns a name as the last words of a command for a person to copy; `--` before it if it looks like an option. */
export function operand(name: string): string {
  return name.startsWith("-") ? `-- ${shellWord(name)}` : shellWord(name);
}

/** Returns an option and its value for a command for a person to copy: `--team review`, `--team=-x`. */
export function optionWords(option: string, value: string): string {
  return `${option}${value.startsWith("-") ? "=" : " "}${shellWord(value)}`;
}
