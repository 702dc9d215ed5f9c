/**
 * Text for an argument that tmux expands as a format (a window's name, a directory): `#` is doubled, so that nothing
 * in it is a variable or a command.
 */
export function literal(text: string): string {
  return text.replace(/#/g, "##");
}

/**
 * Text for a user option that a border or status line draws through `#{@option}`: the value is not expanded again, but
 * `#[…]` in it would still be a style. Control characters have no place on a border.
 */
export function drawable(text: string): string {
  return text.replace(/[\x00-\x1f\x7f]/g, " ").replace(/#+(?=\[)/g, "$&$&");
}

/** A condition: all of these hold. */
export function all(...conditions: readonly string[]): string {
  return conditions.reduceRight((rest, condition) => `#{&&:${condition},${rest}}`);
}

export function any(...conditions: readonly string[]): string {
  return conditions.reduceRight((rest, condition) => `#{||:${condition},${rest}}`);
}

/**
 * A condition: a format variable has this value.
 * @param value of word characters, `%`, `@`, `-` only; anything else could end the format
 */
export function equals(variable: string, value: string): string {
  if (!/^[\w%@-]+$/.test(value)) throw new RangeError(`Not a plain value for a format: ${value}`);
  return `#{==:#{${variable}},${value}}`;
}
