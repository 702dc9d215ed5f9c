/**
 * Returns a JSON value in which each half of a surrogate pair is replaced with U+FFFD. A well-formed value is returned unchanged.
 * Everything that another program parses goes through here: most parsers refuse a whole message because of one half.
 */
export function wellFormed<T>(value: T): T;
export function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const changed = value.map(wellFormed);
    return changed.every((one, i) => one === value[i]) ? value : changed;
  }
  const entries = Object.entries(value);
  const changed = entries.map(([key, one]) => [wellFormed(key), wellFormed(one)] as const);
  return changed.every(([key, one], i) => key === entries[i]?.[0] && one === entries[i]?.[1])
    ? value
    : Object.fromEntries(changed);
}
