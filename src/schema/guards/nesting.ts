/** Maximum levels of objects and lists in a tool's input. Programs of hooks read it too: jq 1.6 fails at 256 levels. */
export const MAX_NESTING = 200;

/** Returns whether a JSON value has more than {@link MAX_NESTING} levels. It does not recurse, so no value overflows the stack. */
export function isNestedTooDeeply(value: unknown): boolean {
  let level = [value].filter(isContainer);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > MAX_NESTING) return true;
    level = level.flatMap((one) => Object.values(one).filter(isContainer));
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
