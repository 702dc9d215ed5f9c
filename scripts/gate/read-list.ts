import { readFileSync } from "node:fs";
import { messageOf } from "../../src/errors.ts";

/**
 * Reads a JSON list that a gate check uses.
 * @param form describes an entry, for the error
 * @throws Error if the file cannot be read or is not such a list
 */
export function readList<T>(
  path: string,
  isEntry: (entry: unknown) => entry is T,
  form: string,
): readonly T[] {
  let entries: unknown;
  try {
    entries = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Error(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  if (!Array.isArray(entries) || !entries.every(isEntry))
    throw new Error(`${path} must be a list of ${form}.`);
  return entries;
}
