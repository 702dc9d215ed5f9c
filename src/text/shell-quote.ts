/** One word for a POSIX shell, whatever it holds but NUL. */
export function shellQuote(word: string): string {
  if (word.includes("\0")) throw new RangeError("A shell word cannot hold a NUL.");
  return `'${word.replace(/'/g, "'\\''")}'`;
}

/** A word of a command that a person is to copy: quoted where a shell would read it otherwise. */
export function shellWord(text: string): string {
  return /^[\w@%+:,./-][\w@%+=:,./-]*$/.test(text) ? text : shellQuote(text);
}

/** A name as the last words of a command that a person is to copy, never taken for an option. */
export function operand(name: string): string {
  return name.startsWith("-") ? `-- ${shellWord(name)}` : shellWord(name);
}

/** An option and its value in a command that a person is to copy: `--team review`, `--team=-x`. */
export function optionWords(option: string, value: string): string {
  return `${option}${value.startsWith("-") ? "=" : " "}${shellWord(value)}`;
}
