/**
 * Escapes text for an argument that tmux expands as a format (a window's name, a directory): `#` is doubled, so that the text
 * contains no variable and no command.
 */
export function literal(text: string): string {
  return text.replace(/#/g, "##");
}

/**
 * Escapes text for a user option that a border or status line draws through `#{@option}`: tmux does not expand the value again,
 * but would read `#[…]` in it as a style. Control characters become blanks.
 */
export function drawable(text: string): string {
  return text.replace(/[\x00-\x1f\x7f]/g, " ").replace(/#+(?=\[)/g, "$&$&");
}

/** The condition that all given conditions hold. */
export function all(...conditions: readonly string[]): string {
  return conditions.reduceRight((rest, condition) => `#{&&:${condition},${rest}}`);
}

/** The condition that at least one of the given conditions holds. */
export function any(...conditions: readonly string[]): string {
  return conditions.reduceRight((rest, condition) => `#{||:${condition},${rest}}`);
}

/**
 * The condition that a format variable has this value.
 * @param value word characters, `%`, `@`, `-` only; another character could end the format
 * @throws RangeError for other characters
 */
export function equals(variable: string, value: string): string {
  if (!/^[\w%@-]+$/.test(value)) throw new RangeError(`Not a plain value for a format: ${value}`);
  return `#{==:#{${variable}},${value}}`;
}
